"""signals_target.py THREADS: a rank that handles each signal of NAMES by a
checkpoint: the handler runs, and says so after, the line that the loop runs,
too. SIGQUIT is as it was at the start, SIGUSR2 is blocked when the word
"block" is said, SIGALRM ignored at "ignore"; "send" has a thread send SIGUSR1
to the main thread alone. At the end of its input it ends with status 7.
"""
import os
import signal
import sys
import threading
import time

NAMES = ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGXCPU",
         "SIGALRM", "SIGCHLD"]
state = {"done": False, "handled": 0}


def save(number):
    saved = number + 1
    return saved


def handle(number, _frame):
    state["handled"] += 1
    total = 0
    for i in range(3):
        total = save(total)
    # print() within one that this interrupts would raise.
    os.write(1, b"handled %s %d %d\n" % (
        signal.Signals(number).name.encode(), state["handled"], total))


def work(number):
    first = number + 1
    second = save(first)
    time.sleep(0.001)
    return second


def listen():
    main = threading.main_thread().ident
    for line in iter(sys.stdin.readline, ""):
        if line == "block\n":
            state["block"] = True
            continue
        if line == "ignore\n":
            state["ignore"] = True
            continue
        if line == "send\n":
            signal.pthread_kill(main, signal.SIGUSR1)
        print("said", flush=True)
    state["done"] = True


def obey():
    """What only the main thread may do."""
    if state.pop("block", False):
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
        print("blocked", flush=True)
    if state.pop("ignore", False):
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        print("ignored", flush=True)


def count():
    while True:
        save(1)
        time.sleep(0.01)


def main():
    for name in NAMES:
        signal.signal(getattr(signal, name), handle)
    # Its threads block SIGUSR2 as long as they live.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
    threading.Thread(target=listen, daemon=True).start()
    for _ in range(int(sys.argv[1])):
        threading.Thread(target=count, daemon=True).start()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR2])
    print("ready", os.getpid(), flush=True)
    number = 0
    while not state["done"]:
        number = work(number)
        obey()
    sys.exit(7)


if __name__ == "__main__":
    main()
