"""What `probetui inject` has a process run: a script, which no module imports.

It is run in a namespace of its own, in the main thread between two
instructions of its own, or in a thread that Python does not know yet. All that
takes time is done in another thread.

The package is loaded from the folder it was put into, all of it, since the
folder goes; one that the program has already is taken instead.
"""
from __future__ import annotations

import _thread
import os
import sys
from typing import Any, List

HERE = os.path.dirname(__file__)
# This one, and what only a stop by IPDB_DEBUG needs: pdb, as of 3.13, has
# readline set up a terminal and catch SIGWINCH.
LEFT_OUT = ("__init__.py", "injected.py", "prompt.py")


def modules(folder: str, package: str) -> List[str]:
    """The names of those that lie in it."""
    found = []
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            found.append("%s.%s" % (package, name))
            found += modules(path, found[-1])
        elif name.endswith(".py") and name not in LEFT_OUT:
            found.append("%s.%s" % (package, name[:-len(".py")]))
    return found


def remove(folder: str) -> None:
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            remove(path)
        else:
            os.unlink(path)
    os.rmdir(folder)


def load(folder: str) -> Any:
    """The package, with its modules."""
    import importlib.util
    if "probetui" in sys.modules:
        return sys.modules["probetui"]
    spec = importlib.util.spec_from_file_location(
        "probetui", os.path.join(folder, "__init__.py"),
        submodule_search_locations=[folder])
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["probetui"] = package
    try:
        spec.loader.exec_module(package)
        # Nobody but us knows of it: it can go again.
        package.__dict__["is_injected"] = True
        for name in modules(folder, "probetui"):
            importlib.import_module(name)
    except BaseException:
        for name in [name for name in sys.modules
                     if name.split(".")[0] == "probetui"]:
            del sys.modules[name]
        raise
    return package


def load_without_traces(folder: str) -> Any:
    """The same; nothing is written beside it, and it goes."""
    writes_none = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        return load(folder)
    finally:
        sys.dont_write_bytecode = writes_none
        # Who has put it there may have taken it away meanwhile.
        try:
            remove(folder)
        except OSError:
            pass


def answer(folder: str, **told: Any) -> None:
    """What probetui waits for; where it has gone, and the folder with it,
    nobody is told, least of all on the program's standard error."""
    import json
    path = os.path.join(folder, "answer")
    try:
        with open(path + ".new", "w", encoding="ascii") as file:
            json.dump(told, file)
        os.rename(path + ".new", path)
    except OSError:
        pass


def listen(folder: str) -> None:
    """In its own thread."""
    names: List[str] = []
    problem = ""
    try:
        names = [str(name) for name in load_without_traces(folder).listen()]
    except BaseException as error:
        problem = "%s: %s" % (type(error).__name__, error)
    answer(os.path.dirname(folder), names=names, error=problem)


def begin() -> None:
    """`threading` takes the thread that imports it for the main one: where the
    program has not imported it, we are to be run there."""
    is_main = _thread.get_native_id() == os.getpid()
    if not is_main and "threading" not in sys.modules:
        answer(os.path.dirname(HERE), wants_main=True)
        return
    import threading  # noqa: F401
    _thread.start_new_thread(listen, (HERE,))


if __name__ == "__probetui__":
    begin()
