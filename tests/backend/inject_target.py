"""Python code at work of some kind, until its input ends; then it says in
JSON what went wrong with its work."""
import json
import sys
import time

# Whose main thread waits for the end itself.
ALONE = ("alone", "naps", "spawn", "gevent", "gevent_patched",
         "eventlet_patched")
if sys.argv[1] not in ALONE or sys.argv[1] == "spawn":
    import threading
    ended = threading.Event()
wrong = []


def ready():
    print("ready", flush=True)


def wait_for_the_end():
    sys.stdin.readline()
    ended.set()


def sleep():
    ready()
    while not ended.is_set():
        began = time.monotonic()
        time.sleep(0.2)
        if time.monotonic() - began < 0.2:
            wrong.append("a sleep was cut short")


def wait():
    ready()
    ended.wait()


def wait_unasked():
    """Busy, then asleep, and from where it says that it is ready on nothing
    that the interpreter looks at."""
    import functools
    import os
    lock = threading.Lock()
    lock.acquire()
    threading.Thread(target=lambda: (ended.wait(), lock.release())).start()
    list(map(functools.partial.__call__,
             (functools.partial(os.write, 1, b"ready\n"),
              functools.partial(sum, range(20000000)),
              functools.partial(lock.acquire))))


def poll():
    import select
    ready()
    while not ended.is_set():
        began = time.monotonic()
        select.select([], [], [], 0.2)
        if time.monotonic() - began < 0.2:
            wrong.append("a wait was cut short")


def nap():
    """One long wait whose end the kernel counts down to."""
    import ctypes
    library = ctypes.CDLL(None)
    ready()
    library.poll(None, 0, 1000000)


def busy():
    ready()
    while not ended.is_set():
        if sum(i * i for i in range(100)) != 328350:
            wrong.append("a sum")


def interval():
    """Several threads that keep the GIL for half a second each."""
    sys.setswitchinterval(0.5)

    def run():
        while not ended.is_set():
            sum(range(1000))

    others = [threading.Thread(target=run) for _ in range(2)]
    for other in others:
        other.start()
    ready()
    run()
    for other in others:
        other.join()
    if sys.getswitchinterval() != 0.5:
        wrong.append("the switch interval")


def restricted():
    """Its frames have no __import__, as those that make a class of
    collections.namedtuple() have none."""
    names = {"__builtins__": {}, "has_ended": ended.is_set}
    code = compile("while not has_ended(): [n for n in (1, 2, 3)]",
                   "<restricted>", "exec")
    ready()
    exec(code, names)


def greenlets():
    """What gevent.monkey leaves, for those who look whether it was there."""
    import types
    monkey = types.ModuleType("gevent.monkey")
    monkey.saved = {"threading": {}, "socket": {}, "os": {}}
    sys.modules["gevent.monkey"] = monkey
    busy()


def in_greenlets(sleep, spawn):
    """Until there is a line to read, which is looked for here."""
    import select
    ticks = []

    def tick():
        while True:
            ticks.append(len(ticks))
            sleep(0.001)

    spawn(tick)
    ready()
    while not select.select([sys.stdin], [], [], 0)[0]:
        sleep(0.01)
    if not ticks:
        wrong.append("the greenlets")


def gevent():
    import gevent
    in_greenlets(gevent.sleep, gevent.spawn)


def gevent_patched():
    import gevent.monkey
    gevent.monkey.patch_all()
    in_greenlets(gevent.sleep, gevent.spawn)


def eventlet_patched():
    import eventlet
    eventlet.monkey_patch()
    in_greenlets(eventlet.sleep, eventlet.spawn)


def urgent():
    """Has a handler for one of the signals, and keeps another for later."""
    import signal
    signal.signal(signal.SIGURG, lambda *_: wrong.append("a signal"))
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGWINCH])
    signal.raise_signal(signal.SIGWINCH)
    poll()
    if signal.sigpending() != {signal.SIGWINCH}:
        wrong.append("a signal is lost")


def malloc():
    import ctypes
    library = ctypes.CDLL(None)
    library.malloc.restype = ctypes.c_void_p
    library.free.argtypes = [ctypes.c_void_p]

    def storm():
        while not ended.is_set():
            kept = [library.malloc(24 << i % 9) for i in range(100)]
            for address in kept:
                library.free(address)

    other = threading.Thread(target=storm)
    other.start()
    ready()
    storm()
    other.join()


def dlopen():
    import _ctypes
    for name in ("libanl.so.1", "libnss_files.so.2", "libm.so.6"):
        try:
            _ctypes.dlclose(_ctypes.dlopen(name, 2))
            break
        except OSError:
            pass
    ready()
    while not ended.is_set():
        _ctypes.dlclose(_ctypes.dlopen(name, 2))


def numpy():
    import numpy
    values = numpy.arange(40000, dtype=numpy.float64).reshape(200, 200)
    total = (values * 1.5 + values @ values).sum()
    ready()
    while not ended.is_set():
        if (values * 1.5 + values @ values).sum() != total:
            wrong.append("a product")


def keeps():
    """Holds the GIL, in C, for ever, from before it says so."""
    import collections
    import itertools
    import os
    collections.deque(itertools.chain(map(os.write, [1], [b"ready\n"]),
                                      itertools.repeat(None)), 0)


def hangs():
    """The same, and sleeps there a little later."""
    import ctypes
    library = ctypes.PyDLL(None)
    ready()
    library.sleep(1000)


def spawn():
    """Waits where nobody wakes it, until the first line; then for the end."""
    import ctypes
    import os
    import tempfile
    folder = tempfile.mkdtemp()
    pipe = os.path.join(folder, "pipe")
    os.mkfifo(pipe)

    def open_it():
        sys.stdin.readline()
        open(pipe, "w").close()
        wait_for_the_end()

    threading.Thread(target=open_it, daemon=True).start()
    ready()
    # So long as the child has not become the program, which opens that first.
    library = ctypes.CDLL(None)
    actions, pid = ctypes.create_string_buffer(1024), ctypes.c_int()
    library.posix_spawn_file_actions_init(actions)
    library.posix_spawn_file_actions_addopen(actions, 0, pipe.encode(), 0, 0)
    library.posix_spawn(ctypes.byref(pid), b"/bin/true", actions, None,
                        (ctypes.c_char_p * 2)(b"true", None), None)
    os.waitpid(pid.value, 0)
    os.unlink(pipe)
    os.rmdir(folder)
    ended.wait()


def alone():
    """Waits, and has no thread but this one."""
    ready()
    sys.stdin.readline()


def naps():
    """The same, and wakes up now and then."""
    import select
    ready()
    while not select.select([sys.stdin], [], [], 0)[0]:
        began = time.monotonic()
        time.sleep(0.2)
        if time.monotonic() - began < 0.2:
            wrong.append("a sleep was cut short")
    import threading
    if threading.main_thread() is not threading.current_thread():
        wrong.append("the main thread")


if sys.argv[1] not in ALONE:
    threading.Thread(target=wait_for_the_end, daemon=True).start()
globals()[sys.argv[1]]()
print(json.dumps(wrong))
