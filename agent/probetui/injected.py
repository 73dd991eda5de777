"""The script that `probetui inject` runs in a process; no module imports it.

The script runs in a namespace of its own: in the main thread, between two
bytecode instructions, or in a thread that Python does not know yet.

The program may fork at any moment, in any thread. A lock that another thread
holds at that moment is never released in the child: the lock of an import
(importlib's _ModuleLock), or any other. os.fork() acquires the global import
lock (PyOS_BeforeFork), so this script holds that lock while it imports modules
and starts the agent: no fork can happen meanwhile. Even this script's own
imports are made under the lock. Conversely, it must not import while another
thread holds the _ModuleLock of a module that may be needed: that thread may be
waiting for the global lock.

The package is one file in the folder of this script and is compiled in memory.
If the program has already imported probetui, that package is used instead.
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
# Folder in the file names of the compiled modules. Always the same, because
# Python keeps interned file names forever; in /proc, because nobody can create
# files there.
PLACE = "/proc/self/probetui"
# Modules not loaded: this script, and prompt.py, which only a stop by
# IPDB_DEBUG needs. It imports pdb, which since 3.13 imports readline, and that
# changes terminal settings and the SIGWINCH handler.
LEFT_OUT = ("injected.py", "prompt.py")
READ_BYTES = 1 << 24
# A thread may be in an import forever, if its import runs the whole program:
# after this many checks, only imports of the standard library delay the
# injection.
STRICT_LOOKS = 50
LOOK_SECONDS = 0.01
# Switch interval in seconds while the modules are loaded: a thread that has
# read a file waits that long for the GIL if another thread holds it.
SWITCH_SECONDS = 0.005
# Modules that the package, and since 3.13 the module traceback, would import
# later, when they are first needed.
LATER = ("urllib.parse", "encodings.utf_16_le", "_suggestions", "codeop")


def read(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, READ_BYTES)
    finally:
        os.close(fd)


def unpack(data: bytes) -> "Iterator[Tuple[str, bytes]]":
    """Yields (path, source) of each module. File format: a line "name size",
    then that many bytes."""
    begin = 0
    while begin < len(data):
        end = data.index(b"\n", begin)
        name, size = data[begin:end].split(b" ")
        begin = end + 1 + int(size)
        yield name.decode(), data[end + 1:begin]


class Finder:
    """A meta path finder for the package's modules; installed while they are
    loaded."""

    def __init__(self, data: bytes) -> None:
        # Keys are module names; values are (code, file name, is a package).
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
    """Loads one module, once."""

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
    """Returns the package after loading all its modules and the modules that
    they import later."""
    if "probetui" in sys.modules:
        import probetui.agent
        return probetui
    sys.meta_path.insert(0, finder)
    try:
        # Block the exit of the process until the modules are loaded: otherwise
        # this thread would wait for the GIL forever, with the import lock
        # held.
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
    # No other module has imported the package, so eject can remove it.
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
    """Loads the package and starts the agent. Called with the import lock
    held. Returns the addresses of the agent."""
    interval = sys.getswitchinterval()
    lower = min(interval, SWITCH_SECONDS)
    sys.setswitchinterval(lower)
    try:
        return [str(name) for name in load(finder).listen()]
    finally:
        # Restore the interval only if the program has not changed it
        # meanwhile.
        if abs(sys.getswitchinterval() - lower) < 1e-5:
            sys.setswitchinterval(interval)


def is_pythons(name: str) -> bool:
    """True if the module belongs, or may belong, to the standard library."""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    origin = getattr(spec, "origin", None)
    if not isinstance(origin, str) or not origin.startswith("/"):
        return True
    return origin.startswith(os.path.dirname(os.__file__) + "/") and \
        "/site-packages/" not in origin and "/dist-packages/" not in origin


def imported(is_strict: bool) -> "Optional[str]":
    """Returns the name of a module that a thread is importing, or None. Called
    with the import lock held, so that no other thread can begin an import."""
    locks = getattr(sys.modules["_frozen_importlib"], "_module_locks", {})
    for name, lock in dict(locks).items():
        if lock() is not None and (is_strict or is_pythons(name)):
            return str(name)
    return None


def acquire(until: float) -> "Optional[str]":
    """Acquires the import lock when no other thread is importing a module that
    the agent may need. Returns None, or, if a thread is still importing at the
    time `until`, the name of its module: the lock is then not held."""
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
    """Writes the answer file that probetui waits for. If probetui has exited
    and removed the folder, the error is ignored; nothing is printed to the
    program's stderr."""
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
    """Loads the package and starts the agent, in a thread of its own."""
    names: "List[str]" = []
    problem = ""
    try:
        finder = Finder(read(HERE + "/package"))
        name = acquire(until)
        if name is not None:
            problem = "a thread of the program is still importing %s" % name
        else:
            try:
                # Raises FileNotFoundError if probetui has given up and removed
                # the package.
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
    """Before 3.13, `threading` takes the thread that first imports it for the
    main thread. Returns False if it could not be imported here: a new thread
    then answers wants_main, and probetui runs this script again, in the main
    thread."""
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
    """Returns a sentence if gevent or eventlet has replaced the modules by
    which the agent's threads run and wait: the agent's threads would be
    greenlets of the program's event loop, and block it. None: neither has."""
    saved = getattr(sys.modules.get("gevent.monkey"), "saved", {})
    by_gevent = [name for name in ("_thread", "threading", "socket", "select")
                 if name in saved]
    patcher = sys.modules.get("eventlet.patcher")
    by_eventlet = sorted(getattr(patcher, "already_patched", {}))
    for package, names in (("gevent", by_gevent), ("eventlet", by_eventlet)):
        if names:
            return "%s has replaced %s, so threads of the agent would be " \
                "greenlets and block the program: use probetui stacks, " \
                "which needs no agent" % (package, ", ".join(names))
    return None


def begin() -> None:
    # A child that was forked while the script was about to run runs it, too.
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
