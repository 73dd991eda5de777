"""calls_target.py SECONDS [NAME... | main NAME]: each system call of a table in a thread
of its own, with that time-out, for tests that a debugger ends none of them.

It prints "PID 0", then a line "NAME TID BEGAN" for each call (BEGAN by
CLOCK_MONOTONIC, just before the call), then "ready". Each line of standard
input is an order: "go" makes what each call waits for happen. At the end it
prints "NAME RESULT ERRNO" for each call, in the table's order.

The calls are made through ctypes, as C code makes them: Python itself would
begin an interrupted call again (PEP 475), C code may not.
"""
import ctypes
import fcntl
import os
import select
import signal
import socket
import struct
import sys
import tempfile
import threading
import time

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
Number = ctypes.c_long
# What other calls are made by: the numbers of x86-64.
SYSCALL = {"epoll_pwait2": 441, "io_setup": 206, "io_getevents": 208,
           "io_uring_setup": 425, "io_uring_enter": 426, "futex": 202,
           "rt_sigtimedwait": 128, "semtimedop": 220, "pselect6": 270,
           "ppoll": 271, "waitid": 247, "semop": 65, "recvmmsg": 299,
           "wait4": 61, "msgrcv": 70, "msgsnd": 69, "flock": 73,
           "poll": 7, "select": 23, "nanosleep": 35, "read": 0,
           "clock_nanosleep": 230, "fcntl": 72, "epoll_wait": 232,
           "epoll_pwait": 281, "recvfrom": 45, "recvmsg": 47, "accept4": 288,
           "sendto": 44, "pause": 34, "connect": 42}
SIGNAL_WAITED = signal.SIGRTMIN + 1
SIGNAL_READ = signal.SIGRTMIN + 2
SIGNAL_FIRST = signal.SIGRTMIN + 3
IPC_PRIVATE, IPC_CREAT, IPC_RMID, SETVAL = 0, 0o1000, 0, 16
FUTEX_WAIT, FUTEX_WAKE = 0, 1
cleanups = []


class Timespec(ctypes.Structure):
    _fields_ = [("sec", Number), ("nsec", Number)]


class Iovec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class Message(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("namelen", ctypes.c_uint32),
                ("iov", ctypes.POINTER(Iovec)), ("iovlen", ctypes.c_size_t),
                ("control", ctypes.c_void_p), ("controllen", ctypes.c_size_t),
                ("flags", ctypes.c_int), ("count", ctypes.c_uint)]


def call(name, *arguments):
    """The arguments of syscall(2), as objects that live as long as it."""
    given = [Number(SYSCALL[name])]
    for argument in arguments:
        given.append(Number(argument) if isinstance(argument, int)
                     else argument)
    return given


def after(seconds):
    return Timespec(int(seconds), int(seconds % 1 * 1e9))


def eventfd():
    return libc.eventfd(0, 0)


def notify(fd):
    return lambda: os.write(fd, struct.pack("q", 1))


def epoll():
    fd = eventfd()
    poll = select.epoll()
    poll.register(fd, select.EPOLLIN)
    cleanups.append(poll.close)
    return poll.fileno(), notify(fd)


def epoll_wait(seconds):
    poll, end = epoll()
    return call("epoll_wait", poll, ctypes.create_string_buffer(64), 4,
                int(seconds * 1000)), end


def epoll_pwait(seconds):
    poll, end = epoll()
    return call("epoll_pwait", poll, ctypes.create_string_buffer(64), 4,
                int(seconds * 1000), 0, 8), end


def epoll_pwait2(seconds):
    poll, end = epoll()
    return call("epoll_pwait2", poll, ctypes.create_string_buffer(64), 4,
                ctypes.byref(after(seconds)), 0, 8), end


def limited(one, option, seconds):
    one.setsockopt(socket.SOL_SOCKET, option,
                   struct.pack("ll", int(seconds), int(seconds % 1 * 1e6)))
    cleanups.append(one.close)


def receiver(seconds):
    one, other = socket.socketpair()
    limited(one, socket.SO_RCVTIMEO, seconds)
    cleanups.append(other.close)
    return one.fileno(), lambda: other.send(b"data")


def recv(seconds):
    fd, end = receiver(seconds)
    return call("recvfrom", fd, ctypes.create_string_buffer(8), 8, 0, 0,
                0), end


def message_of():
    vector = Iovec(ctypes.cast(ctypes.create_string_buffer(8),
                               ctypes.c_void_p), 8)
    return Message(None, 0, ctypes.pointer(vector), 1, None, 0, 0, 0)


def recvmsg(seconds):
    fd, end = receiver(seconds)
    return call("recvmsg", fd, ctypes.byref(message_of()), 0), end


def recvmmsg(seconds):
    fd, end = receiver(seconds)
    return call("recvmmsg", fd, ctypes.byref(message_of()), 1, 0, 0), end


def read_socket(seconds):
    fd, end = receiver(seconds)
    return call("read", fd, ctypes.create_string_buffer(8), 8), end


def accept(seconds):
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen(1)
    limited(server, socket.SO_RCVTIMEO, seconds)

    def end():
        client = socket.create_connection(server.getsockname())
        cleanups.append(client.close)
    return call("accept4", server.fileno(), 0, 0, 0), end


def send(seconds):
    one, other = socket.socketpair()
    one.setblocking(False)
    try:
        while True:
            one.send(b"x" * 4096)
    except BlockingIOError:
        pass
    one.setblocking(True)
    limited(one, socket.SO_SNDTIMEO, seconds)
    cleanups.append(other.close)
    other.setblocking(False)

    def end():
        try:
            while other.recv(65536):
                pass
        except BlockingIOError:
            pass
    return call("sendto", one.fileno(), ctypes.create_string_buffer(8), 4, 0,
                0, 0), end


def signals(*numbers):
    return ctypes.c_uint64(sum(1 << number - 1 for number in numbers))


def sigtimedwait(seconds):
    return call("rt_sigtimedwait", ctypes.byref(signals(SIGNAL_WAITED)), 0,
                ctypes.byref(after(seconds)), 8), \
        lambda: os.kill(os.getpid(), SIGNAL_WAITED)


def sigwaitinfo(_):
    return call("rt_sigtimedwait", ctypes.byref(signals(SIGNAL_FIRST)), 0, 0,
                8), lambda: os.kill(os.getpid(), SIGNAL_FIRST)


class Operation(ctypes.Structure):
    _fields_ = [("number", ctypes.c_ushort), ("change", ctypes.c_short),
                ("flags", ctypes.c_short)]


def semaphore():
    identifier = libc.semget(IPC_PRIVATE, 1, IPC_CREAT | 0o600)
    cleanups.append(lambda: libc.semctl(identifier, 0, IPC_RMID))
    return identifier, lambda: libc.semctl(identifier, 0, SETVAL, 1)


def semop(_):
    identifier, end = semaphore()
    return call("semop", identifier, ctypes.byref(Operation(0, -1, 0)),
                1), end


def semtimedop(seconds):
    identifier, end = semaphore()
    return call("semtimedop", identifier, ctypes.byref(Operation(0, -1, 0)),
                1, ctypes.byref(after(seconds))), end


def io_getevents(seconds):
    context = ctypes.c_ulong()
    libc.syscall(Number(SYSCALL["io_setup"]), Number(4), ctypes.byref(context))
    return call("io_getevents", ctypes.c_ulong(context.value), 1, 1,
                ctypes.create_string_buffer(64),
                ctypes.byref(after(seconds))), None


def io_uring_enter(_):
    parameters = ctypes.create_string_buffer(256)
    fd = libc.syscall(Number(SYSCALL["io_uring_setup"]), Number(4), parameters)
    if fd < 0:
        return None, None
    # A completion that never comes: the ring is told of nothing.
    return call("io_uring_enter", fd, 0, 1, 1, 0, 0), None


def poll(seconds):
    fd = eventfd()
    return call("poll", ctypes.create_string_buffer(
        struct.pack("ihh", fd, select.POLLIN, 0), 8), 1,
        int(seconds * 1000)), notify(fd)


def ppoll(seconds):
    fd = eventfd()
    return call("ppoll", ctypes.create_string_buffer(
        struct.pack("ihh", fd, select.POLLIN, 0), 8), 1,
        ctypes.byref(after(seconds)), 0, 8), notify(fd)


def fd_set(fd):
    bits = (ctypes.c_uint64 * 16)()
    bits[fd // 64] |= 1 << fd % 64
    return bits


def select_(seconds):
    fd = eventfd()
    limit = Timespec(int(seconds), int(seconds % 1 * 1e6))
    return call("select", fd + 1, fd_set(fd), 0, 0,
                ctypes.byref(limit)), notify(fd)


def pselect6(seconds):
    fd = eventfd()
    return call("pselect6", fd + 1, fd_set(fd), 0, 0,
                ctypes.byref(after(seconds)), 0), notify(fd)


def nanosleep(seconds):
    return call("nanosleep", ctypes.byref(after(seconds)), 0), None


def clock_nanosleep(seconds):
    return call("clock_nanosleep", time.CLOCK_MONOTONIC, 0,
                ctypes.byref(after(seconds)), 0), None


def futex(seconds):
    word = ctypes.c_uint32(0)

    def end():
        libc.syscall(Number(SYSCALL["futex"]), ctypes.byref(word),
                     Number(FUTEX_WAKE), Number(1))
    return call("futex", ctypes.byref(word), FUTEX_WAIT, 0,
                ctypes.byref(after(seconds))), end


def reading(fd, end):
    return call("read", fd, ctypes.create_string_buffer(256), 256), end


def read_pipe(_):
    read_end, write_end = os.pipe()
    return reading(read_end, lambda: os.write(write_end, b"data"))


def read_eventfd(_):
    fd = eventfd()
    return reading(fd, notify(fd))


def read_timerfd(_):
    fd = libc.timerfd_create(time.CLOCK_MONOTONIC, 0)

    def end():
        libc.timerfd_settime(fd, 0, struct.pack("qqqq", 0, 0, 0, 1), 0)
    return reading(fd, end)


def read_signalfd(_):
    fd = libc.signalfd(-1, ctypes.byref(signals(SIGNAL_READ)), 0)
    return reading(fd, lambda: os.kill(os.getpid(), SIGNAL_READ))


def read_inotify(_):
    fd = libc.inotify_init()
    folder = tempfile.mkdtemp()
    libc.inotify_add_watch(fd, folder.encode(), 0x200)
    cleanups.append(lambda: os.rmdir(folder))

    def end():
        path = os.path.join(folder, "f")
        os.close(os.open(path, os.O_CREAT))
        os.unlink(path)
    return reading(fd, end)


def queue():
    identifier = libc.msgget(IPC_PRIVATE, IPC_CREAT | 0o600)
    cleanups.append(lambda: libc.msgctl(identifier, IPC_RMID, 0))
    return identifier


def msgrcv(_):
    identifier = queue()
    return call("msgrcv", identifier, ctypes.create_string_buffer(64), 8, 0,
                0), lambda: libc.msgsnd(identifier,
                                        struct.pack("l8s", 1, b"data"), 8, 0)


def msgsnd(_):
    identifier = queue()
    text = struct.pack("l4096s", 1, b"data")
    while libc.msgsnd(identifier, text, 4096, 0o4000) == 0:
        pass
    return call("msgsnd", identifier, ctypes.create_string_buffer(text), 4096,
                0), lambda: libc.msgrcv(
                    identifier, ctypes.create_string_buffer(8192), 4096, 0, 0)


def locked():
    """Two open files, the first locked, and what unlocks it."""
    one = tempfile.TemporaryFile()
    path = "/proc/self/fd/%d" % one.fileno()
    return one, os.open(path, os.O_RDWR)


def flock(_):
    one, other = locked()
    fcntl.flock(one, fcntl.LOCK_EX)
    return call("flock", other, fcntl.LOCK_EX), \
        lambda: fcntl.flock(one, fcntl.LOCK_UN)


def fcntl_lock(_):
    # Of the open file (F_OFD_SETLKW): the process has both.
    one, other = locked()
    lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
    unlock = struct.pack("hhqqi4x", fcntl.F_UNLCK, 0, 0, 0, 0)
    fcntl.fcntl(one, 37, lock)
    return call("fcntl", other, 38, ctypes.create_string_buffer(lock)), \
        lambda: fcntl.fcntl(one, 37, unlock)


def child():
    """A process that ends when a byte comes."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(write_end)
        os.read(read_end, 1)
        os._exit(7)
    os.close(read_end)
    return pid, lambda: os.write(write_end, b"x")


def wait4(_):
    pid, end = child()
    return call("wait4", pid, ctypes.create_string_buffer(8), 0, 0), end


def waitid(_):
    pid, end = child()
    return call("waitid", 1, pid, ctypes.create_string_buffer(128), 4,
                0), end


TABLE = {
    "epoll_wait": epoll_wait, "epoll_pwait": epoll_pwait,
    "epoll_pwait2": epoll_pwait2, "recv": recv, "recvmsg": recvmsg,
    "recvmmsg": recvmmsg, "read-socket": read_socket, "accept": accept,
    "send": send, "sigtimedwait": sigtimedwait, "sigwaitinfo": sigwaitinfo,
    "semop": semop, "semtimedop": semtimedop, "io_getevents": io_getevents,
    "io_uring_enter": io_uring_enter,
    "poll": poll, "ppoll": ppoll, "select": select_, "pselect6": pselect6,
    "nanosleep": nanosleep, "clock_nanosleep": clock_nanosleep,
    "futex": futex, "read-pipe": read_pipe, "read-eventfd": read_eventfd,
    "read-timerfd": read_timerfd, "read-signalfd": read_signalfd,
    "read-inotify": read_inotify, "msgrcv": msgrcv, "msgsnd": msgsnd,
    "flock": flock, "fcntl": fcntl_lock, "wait4": wait4, "waitid": waitid,
}
# While a process is traced the kernel wakes one thread for an ignored SIGCHLD,
# and another may dequeue it: the first one's call fails with EINTR. So these
# calls, which have children, run only where they are named.
CHILDREN = {"wait4", "waitid"}
# These give back a process or a descriptor.
NUMBERS = {"wait4", "accept"}
results = {}
begun = {}
LONG = 60


def run(name, arguments, is_here):
    begun[name] = (threading.get_native_id(), time.monotonic())
    is_here.set()
    ctypes.set_errno(0)
    result = libc.syscall(*arguments)
    number = ctypes.get_errno()
    if name in NUMBERS and result > 0:
        result = 1  # a number that another program has otherwise
    results[name] = (result, number)


def tick(count):
    count += 1
    time.sleep(0.005)
    return count


def never(count):
    return count  # a breakpoint that is never hit


def serve():
    """Until it is told to go, Python runs, line by line."""
    count = 0
    while not select.select([0], [], [], 0)[0]:
        count = tick(count)
    line = os.read(0, 100)
    return line or never(count)


def main(seconds, names, serve):
    """serve() returns the order that it is given."""
    names = names or [name for name in TABLE if name not in CHILDREN]
    signal.pthread_sigmask(signal.SIG_BLOCK, {SIGNAL_WAITED, SIGNAL_READ,
                                              SIGNAL_FIRST})
    prepared = {name: TABLE[name](seconds) for name in names}
    names = [name for name in names if prepared[name][0]]
    # What nothing ends but a long time-out is left behind.
    endless = {name for name in names if prepared[name][1] is None and
               (seconds > LONG or name == "io_uring_enter")}
    threads = []
    print(os.getpid(), 0)
    for name in names:
        is_here = threading.Event()
        thread = threading.Thread(target=run, args=(
            name, prepared[name][0], is_here), daemon=name in endless)
        thread.start()
        threads.append((name, thread))
        is_here.wait()
        print(name, *begun[name])
    print("ready", flush=True)
    is_waiting = serve().startswith(b"wait")
    for name in names:
        end = prepared[name][1]
        is_limited = TABLE[name].__code__.co_varnames[0] == "seconds"
        if end and not (is_waiting and is_limited):
            end()
    for name, thread in threads:
        if name not in endless:
            thread.join()
    for name in names:
        print(name, *results.get(name, ("waits", 0)), flush=True)
    for cleanup in cleanups:
        cleanup()
    sys.stdout.flush()
    os._exit(0)


def main_thread(seconds, name):
    """The call is the main thread's; another one waits for the order."""
    arguments, end = TABLE[name](seconds)

    def wait():
        os.read(0, 100)
        end()
    signal.pthread_sigmask(signal.SIG_BLOCK, {SIGNAL_WAITED})
    threading.Thread(target=wait, daemon=True).start()
    print(os.getpid(), 0)
    print(name, threading.get_native_id(), time.monotonic())
    print("ready", flush=True)
    run(name, arguments, threading.Event())
    print(name, *results[name], flush=True)
    os._exit(0)


if __name__ == "__main__" and sys.argv[2:3] == ["main"]:
    main_thread(float(sys.argv[1]), sys.argv[3])
elif __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2:], serve)
