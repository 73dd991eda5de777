"""effects_program.py KIND FILE: programs with a known result, each of which
would notice what is done to it.

A program prints "ready", works until a line comes on standard input, and then
says on standard output and standard error what came of its work, which does
not depend on how long it worked, and ends with a status of its own. What only
a test that measures wants to know (modules, descriptors) goes to FILE.
"""
import array
import asyncio
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, "backend"))
MODULUS = (1 << 61) - 1
wrong = []
samples = array.array("d", range(1000))


def is_over():
    return bool(select.select([0], [], [], 0)[0])


def pulse(count):
    count += 1  # hit
    return count


def never(count):
    return count  # never hit


def until_over(work=lambda: time.sleep(0.005)):
    """The main thread of each program: Python that runs line by line."""
    count = 0
    while not is_over():
        count = pulse(count)
        work()
    return os.read(0, 100) or never(count)


def checksum(rounds=2000):
    total = 1
    for i in range(rounds):
        total = (total * 6364136223846793005 + i) % MODULUS
    return total


def note(condition, what):
    if not condition and what not in wrong:
        wrong.append(what)


def quiet():
    until_over()
    return 0


def compute():
    expected = checksum()
    until_over(lambda: note(checksum() == expected, "checksum"))
    print("checksum", expected)
    return 1


def threads():
    """Each adds under a lock, sleeps, and waits on conditions and events."""
    lock = threading.Lock()
    end = threading.Event()
    totals = {"shared": 0}
    own = [0] * 4

    def work(i):
        while not end.is_set():
            began = time.monotonic()
            time.sleep(0.003)
            note(time.monotonic() - began >= 0.003, "a sleep was cut short")
            with lock:
                totals["shared"] += 1
            own[i] += 1
            end.wait(0.001)

    workers = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for worker in workers:
        worker.start()
    until_over()
    end.set()
    for worker in workers:
        worker.join()
    note(totals["shared"] == sum(own), "a count is lost")
    print("threads", len(workers))
    return 2


def processes():
    """Forks and waits, and starts programs whose output it reads."""
    def once():
        pid = os.fork()
        if pid == 0:
            os._exit(checksum(10) % 100)
        _, status = os.waitpid(pid, 0)
        note(os.WEXITSTATUS(status) == checksum(10) % 100, "a child's status")
        done = subprocess.run(["sh", "-c", "echo out; echo err >&2; exit 5"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        note((done.stdout, done.stderr, done.returncode) ==
             (b"out\n", b"err\n", 5), "a program's output")
        # What a child would inherit of a debugger.
        done = subprocess.run(["grep", "SigIgn", "/proc/self/status"],
                              stdout=subprocess.PIPE)
        ignored = int(done.stdout.split()[1], 16)
        note(not ignored >> signal.SIGTRAP - 1 & 1, "a child ignores SIGTRAP")
    until_over(once)
    print("processes")
    return 3


def tasks():
    async def worker(queue):
        while True:
            number, future = await queue.get()
            await asyncio.sleep(0)
            future.set_result(number * number)

    async def main():
        queue = asyncio.Queue()
        workers = [asyncio.ensure_future(worker(queue)) for _ in range(3)]
        loop = asyncio.get_running_loop()
        count = 0
        while not is_over():
            count = pulse(count)
            futures = [loop.create_future() for _ in range(5)]
            for i, future in enumerate(futures):
                queue.put_nowait((i, future))
            note(await asyncio.gather(*futures) == [0, 1, 4, 9, 16], "tasks")
            await asyncio.sleep(0.003)
        for task in workers:
            task.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    asyncio.run(main())
    print("tasks")
    return 4


def signals():
    """A handler for each signal that can have one but SIGTRAP; those that it
    sends arrive once, and no other does."""
    seen = {}

    def handle(number, _):
        seen[number] = seen.get(number, 0) + 1

    sent = [signal.SIGUSR1, signal.SIGUSR2, signal.SIGCHLD, signal.SIGURG,
            signal.SIGWINCH, signal.SIGCONT]
    for number in set(signal.Signals) - {
            signal.SIGKILL, signal.SIGSTOP, signal.SIGTRAP, signal.SIGSEGV,
            signal.SIGBUS, signal.SIGFPE, signal.SIGILL}:
        signal.signal(number, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    rounds = []

    def once():
        for number in sent:
            os.kill(os.getpid(), number)
        rounds.append(1)
        time.sleep(0.003)
    until_over(once)
    signal.setitimer(signal.ITIMER_REAL, 0)
    alarms = seen.pop(signal.SIGALRM, 0)
    note(alarms > 0, "no alarm")
    note(seen == {number: len(rounds) for number in sent},
         "signals %r" % sorted(int(number) for number in seen))
    print("signals", len(sent))
    return 5


def calls():
    """See calls_target.py: system calls as C code makes them."""
    import calls_target
    calls_target.main(1000, [], until_over)


KINDS = {"quiet": quiet, "compute": compute, "threads": threads,
         "processes": processes, "tasks": tasks, "signals": signals,
         "calls": calls}


def main():
    kind, path = sys.argv[1:]
    before = set(sys.modules)
    if kind != "calls":
        print("ready", flush=True)
    status = KINDS[kind]()
    with open(path, "w") as file:
        json.dump(sorted(set(sys.modules) - before), file)
    print("wrong:", wrong)
    print("the end of", kind, file=sys.stderr)
    sys.exit(status)


main()
