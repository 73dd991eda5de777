"""A program that forks all the time, in one of several ways, until a line
comes in; then it says in JSON what went wrong with its work. Nothing but what
its way of forking needs is imported before the program is ready: the agent is
to bring the rest."""
import os
import select
import sys
import time

wrong = []
rounds = [0]


def ready():
    os.write(1, b"ready\n")


def has_ended():
    return bool(select.select([0], [], [], 0)[0])


def fork_once():
    pid = os.fork()
    if not pid:
        status = 1
        try:
            import json
            import string
            status = 7 if json.dumps([string.digits[3]]) == '["3"]' else 2
        finally:
            os._exit(status)
    status = os.waitpid(pid, 0)[1]
    rounds[0] += 1
    if status != 7 << 8:
        wrong.append("a child ended with %d" % status)


def forks():
    ready()
    while not has_ended():
        fork_once()


def lazily():
    """Forks, and is asleep most of the time."""
    ready()
    while not has_ended():
        fork_once()
        time.sleep(0.002)


def slowly():
    """Forks, and is at work without bytecode before a fork and, in the parent,
    behind it: what waits for the main thread at the fork waits for that of the
    child, too, which comes to it first."""
    work = (b" " * (4 * 10 ** 7)).isspace
    os.register_at_fork(before=work, after_in_parent=work)
    forks()


def thread():
    """Another thread forks, and imports, while the main one waits."""
    import threading
    ended = threading.Event()

    def run():
        while not ended.is_set():
            fork_once()
            sys.modules.pop("colorsys", None)
            import colorsys
            if colorsys.rgb_to_hsv(0, 0, 0) != (0, 0, 0):
                wrong.append("a colour")

    other = threading.Thread(target=run)
    other.start()
    ready()
    sys.stdin.readline()
    ended.set()
    other.join()


def importing():
    """The same, below the import of a module that never ends."""
    folder = sys.argv[2]
    with open(folder + "/endless.py", "w") as file:
        file.write("import __main__\n__main__.forks()\n")
    sys.path.insert(0, folder)
    import endless  # noqa: F401


def subprocesses():
    import subprocess
    code = "import sys; sys.exit(7)"
    ready()
    while not has_ended():
        # preexec_fn: by fork(2), with Python's hooks.
        if subprocess.call([sys.executable, "-S", "-E", "-c", code],
                           preexec_fn=lambda: __import__("json")) != 7:
            wrong.append("a process")
        rounds[0] += 1


def double(number):
    import json
    import string
    return 2 * json.loads(json.dumps(number)) + len(string.digits) - 10


def pools(method):
    import multiprocessing
    context = multiprocessing.get_context(method)
    ready()
    while not has_ended():
        with context.Pool(2) as pool:
            if pool.map(double, range(5)) != [0, 2, 4, 6, 8]:
                wrong.append("a pool")
            pool.close()
            pool.join()
        rounds[0] += 1


def pool():
    pools("fork")


def forkserver():
    pools("forkserver")


def loader():
    """Workers that are started anew each epoch."""
    import warnings
    warnings.simplefilter("ignore")
    import torch
    data = torch.utils.data.TensorDataset(torch.arange(12.0))
    batches = torch.utils.data.DataLoader(
        data, batch_size=3, num_workers=2, multiprocessing_context="fork")
    ready()
    while not has_ended():
        if sum(float(batch[0].sum()) for batch in batches) != 66:
            wrong.append("an epoch")
        rounds[0] += 1


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    if not rounds[0]:
        wrong.append("it has done nothing")
    import json
    print(json.dumps(wrong))
