"""What the jobs of the zoo share."""
import os
import threading


def ready():
    """This process is about to do what the job shows. The file has the port
    of its job, if it has one."""
    path = os.path.join(os.environ["ZOO_READY"], str(os.getpid()))
    with open(path + ".new", "w") as file:
        file.write(os.environ.get("MASTER_PORT", ""))
    os.rename(path + ".new", path)


def pipe():
    """A FIFO without a writer or a reader: a mount that went away."""
    path = os.path.join(os.environ["ZOO_READY"], "..", "shard-%d" % os.getpid())
    os.mkfifo(path)
    return os.path.realpath(path)


def forever():
    """For threads and children of which the main thread's place is the point."""
    threading.Event().wait()
