"""scheduler.py slurm|kubernetes FOLDER COUNT PID...: ends a job as that does.

slurm: SIGTERM to all processes, then SIGCONT and SIGTERM, as scancel and the
time limit do; SIGKILL after KillWait. kubernetes: SIGTERM to the first alone,
pid 1 of its container; SIGKILL after the grace period. The SIGKILL comes when
COUNT checkpoints are in FOLDER, and at the latest after LIMIT seconds. Prints
how many there were when it was sent.
"""
import glob
import os
import signal
import sys
import time

LIMIT = 120


def send(number, pids):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def slurm(pids):
    send(signal.SIGTERM, pids)
    send(signal.SIGCONT, pids)
    send(signal.SIGTERM, pids)


def kubernetes(pids):
    send(signal.SIGTERM, pids[:1])


def main():
    how, folder, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    pids = [int(word) for word in sys.argv[4:]]
    {"slurm": slurm, "kubernetes": kubernetes}[how](pids)
    end = time.monotonic() + LIMIT
    saved = []
    while len(saved) < count and time.monotonic() < end:
        saved = glob.glob(os.path.join(folder, "checkpoint.[0-9]"))
        time.sleep(0.01)
    print(len(saved), flush=True)
    send(signal.SIGKILL, pids)


if __name__ == "__main__":
    main()
