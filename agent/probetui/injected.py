"""What `probetui inject` has a process run: a script, which no module imports.

It is run in a namespace of its own, in the main thread between two
instructions of its own, or in a thread that Python does not know yet.

The program may fork at any moment, in any thread. A lock that another thread
has then is never released in the child: that of an import (importlib's
_ModuleLock), and every other. os.fork() takes the global import lock
(PyOS_BeforeFork), and so does all that is begun here: what has to be loaded is
loaded, and the agent listens, before that lock is released. Nothing is
imported without it, not even by this text; nor with it where another thread
has the lock of a module that may be wanted, as that thread waits for the
global one.

The package is one file beside this one, and is compiled in memory; a package
that the program has already is taken instead.
"""
import _imp
import _thread
import sys

_imp.acquire_lock()
try:
    import os
    import time
finally:
    _imp.release_lock()

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, List, Optional, Tuple

    PROCESS: int
    SECONDS: float

HERE = os.path.dirname(__file__)
# Where its modules are said to lie. The same each time, as Python keeps the
# names of files for ever, and where nobody can put another file.
PLACE = "/proc/self/probetui"
# This one, and what only a stop by IPDB_DEBUG needs: pdb, as of 3.13, has
# readline set up a terminal and catch SIGWINCH.
LEFT_OUT = ("injected.py", "prompt.py")
READ_BYTES = 1 << 24
# A thread may import for ever, as one does that runs a program by an import:
# after so many looks it is enough that it imports nothing of Python's own.
STRICT_LOOKS = 50
LOOK_SECONDS = 0.01
# The switch interval while the modules are loaded: a thread that has read a
# file waits that long for the GIL when another thread holds it.
SWITCH_SECONDS = 0.005
# What the package, and traceback since 3.13, import only when it is wanted.
LATER = ("urllib.parse", "encodings.utf_16_le", "_suggestions", "codeop")


def read(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, READ_BYTES)
    finally:
        os.close(fd)


def unpack(data: bytes) -> "Iterator[Tuple[str, bytes]]":
    """The modules' files: a line with name and size, and so many bytes."""
    begin = 0
    while begin < len(data):
        end = data.index(b"\n", begin)
        name, size = data[begin:end].split(b" ")
        begin = end + 1 + int(size)
        yield name.decode(), data[end + 1:begin]


class Finder:
    """Of the package's modules, while it is loaded."""

    def __init__(self, data: bytes) -> None:
        # By name: the code, the file, and whether it is a package.
        self.found: "Dict[str, Tuple[Any, str, bool]]" = {}
        for path, source in unpack(data):
            if path in LEFT_OUT:
                continue
            words = ["probetui"] + path[:-len(".py")].split("/")
            is_package = words[-1] == "__init__"
            path = PLACE + "/" + path
            self.found[".".join(words[:-1] if is_package else words)] = (
                compile(source, path, "exec", dont_inherit=True), path,
                is_package)

    def find_spec(self, name: str, path: "Any" = None,
                  target: "Any" = None) -> "Any":
        if name not in self.found:
            return None
        _, file, is_package = self.found[name]
        spec = sys.modules["_frozen_importlib"].ModuleSpec(
            name, Loader(self.found[name][0]), origin=file,
            is_package=is_package)
        if is_package:
            spec.submodule_search_locations[:] = [os.path.dirname(file)]
        spec.has_location = True
        return spec


class Loader:
    """Of one module, once."""

    def __init__(self, code: "Any") -> None:
        self.code = code

    def create_module(self, spec: "Any") -> None:
        pass

    def exec_module(self, module: "Any") -> None:
        code, self.code = self.code, None
        exec(code, module.__dict__)


def forget_modules() -> None:
    forks = sys.modules.get("probetui.forks")
    if forks is not None:
        forks.leave()
    for name in [name for name in sys.modules
                 if name.split(".")[0] == "probetui"]:
        del sys.modules[name]


def load(finder: Finder) -> "Any":
    """The package, with all its modules, and what they import later."""
    if "probetui" in sys.modules:
        import probetui.agent
        return probetui
    sys.meta_path.insert(0, finder)
    try:
        # The process does not end before the gate is open: that would have
        # this thread wait for ever, with the import lock.
        forks = __import__("probetui.forks").forks
        gate = _thread.allocate_lock()
        gate.acquire()
        forks.at_end(gate.acquire)
        try:
            import_all(finder)
        finally:
            forks.at_end(None)
            gate.release()
    except BaseException:
        forget_modules()
        raise
    finally:
        sys.meta_path.remove(finder)
    # No other module has imported it, so eject can remove it.
    package = sys.modules["probetui"]
    package.__dict__["is_injected"] = True
    return package


def import_all(finder: Finder) -> None:
    for name in sorted(finder.found):
        __import__(name)
    for name in LATER:
        try:
            __import__(name)
        except ImportError:
            pass


def listen(finder: Finder) -> "List[str]":
    """With the import lock."""
    interval = sys.getswitchinterval()
    lower = min(interval, SWITCH_SECONDS)
    sys.setswitchinterval(lower)
    try:
        return [str(name) for name in load(finder).listen()]
    finally:
        # The program may have set it.
        if abs(sys.getswitchinterval() - lower) < 1e-5:
            sys.setswitchinterval(interval)


def is_pythons(name: str) -> bool:
    """The module is of the standard library, or may be."""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    origin = getattr(spec, "origin", None)
    if not isinstance(origin, str) or not origin.startswith("/"):
        return True
    return origin.startswith(os.path.dirname(os.__file__) + "/") and \
        "/site-packages/" not in origin and "/dist-packages/" not in origin


def imported(is_strict: bool) -> "Optional[str]":
    """A module that a thread imports just now. With the import lock, without
    which no other thread begins to."""
    locks = getattr(sys.modules["_frozen_importlib"], "_module_locks", {})
    for name, lock in list(locks.items()):
        if lock() is not None and (is_strict or is_pythons(name)):
            return str(name)
    return None


def acquire(until: float) -> "Optional[str]":
    """The import lock, when no other thread wants what we do. The name of the
    module that one imports all the time: it is not acquired."""
    looks = 0
    while True:
        _imp.acquire_lock()
        name = imported(looks < STRICT_LOOKS)
        if name is None:
            return None
        _imp.release_lock()
        if time.monotonic() > until:
            return name
        looks += 1
        time.sleep(LOOK_SECONDS)


def quote(text: str) -> str:
    return '"%s"' % "".join(
        c if " " <= c <= "~" and c not in '"\\' else
        "\\u%04x" % ord(c) if c <= "\uffff" else "?" for c in text)


def answer(names: "List[str]", problem: str, wants_main: bool) -> None:
    """What probetui waits for; where it has gone, and the folder with it,
    nobody is told, least of all on the program's standard error."""
    text = '{"names": [%s], "error": %s, "wants_main": %s}' % (
        ", ".join(map(quote, names)), quote(problem),
        "true" if wants_main else "false")
    path = HERE + "/answer"
    try:
        fd = os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_EXCL |
                     os.O_CLOEXEC, 0o600)
        try:
            os.write(fd, text.encode())
        finally:
            os.close(fd)
        os.rename(path + ".new", path)
    except OSError:
        pass


def remove(*names: str) -> None:
    for name in names:
        try:
            os.unlink(HERE + "/" + name)
        except OSError:
            pass


def work(until: float) -> None:
    """In its own thread."""
    names: "List[str]" = []
    problem = ""
    try:
        finder = Finder(read(HERE + "/package"))
        name = acquire(until)
        if name is not None:
            problem = "a thread of the program imports %s all the time" % name
        else:
            try:
                # Who has put it there has given up, and taken it away.
                os.stat(HERE + "/package")
                names = listen(finder)
            finally:
                _imp.release_lock()
    except BaseException as error:
        problem = "%s: %s" % (type(error).__name__, error)
    remove("package", "start.py")
    answer(names, problem, False)


def await_imports(until: float) -> None:
    if acquire(until) is None:
        _imp.release_lock()
    answer([], "", True)


def import_threading(until: float) -> bool:
    """Before 3.13 `threading` takes the thread that imports it for the main
    one. False: it is to be tried again, in that."""
    if "threading" in sys.modules or sys.version_info >= (3, 13):
        return True
    if _thread.get_native_id() == os.getpid():
        _imp.acquire_lock()
        try:
            if imported(False) is None:
                import threading  # noqa: F401
                return True
        finally:
            _imp.release_lock()
    _thread.start_new_thread(await_imports, (until,))
    return False


def replaced() -> "Optional[str]":
    """Says whether gevent or eventlet has replaced the modules by which the
    agent's threads run and wait: the agent's threads would be greenlets of the
    program's own loop, and block that loop. None: neither has."""
    saved = getattr(sys.modules.get("gevent.monkey"), "saved", {})
    by_gevent = [name for name in ("_thread", "threading", "socket", "select")
                 if name in saved]
    patcher = sys.modules.get("eventlet.patcher")
    by_eventlet = sorted(getattr(patcher, "already_patched", {}))
    for package, names in (("gevent", by_gevent), ("eventlet", by_eventlet)):
        if names:
            return "%s has replaced %s: the agent's threads would be " \
                "greenlets, and block the program's; probetui stacks reads " \
                "the process from outside" % (package, ", ".join(names))
    return None


def begin() -> None:
    # A child that was forked when this was about to be run runs it, too.
    if os.getpid() != PROCESS:
        return
    problem = replaced()
    if problem is not None:
        remove("package", "start.py")
        answer([], problem, False)
        return
    until = time.monotonic() + SECONDS
    if import_threading(until):
        _thread.start_new_thread(work, (until,))


if __name__ == "__probetui__":
    begin()
