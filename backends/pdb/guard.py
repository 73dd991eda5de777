"""A client that is gone does not end the program.

pdb takes the end of its input as `quit`, which raises in the program, and
what it writes to nobody raises as well. From when we are the client of a
socket on, for as long as its streams live, their end lets the program go on
instead. The Pdb instance and the two streams get attributes for that, which
change nothing while the client lives and keep nothing alive.

values.py, guard.py and inspector.py are sent together and run as one.
"""
import os
import stat
import sys
import weakref

GUARDED = (("stdin", "readline"), ("stdout", "write"), ("stdout", "flush"))


def is_connection(stream) -> bool:
    """Whether the end of its input is the end of it; a terminal's is not. A
    socket's file that is read and written does not say its descriptor."""
    file = getattr(stream.fileno, "__self__", stream)  # what is wrapped
    if type(getattr(file, "buffer", None)).__name__ == "BufferedRWPair":
        return True
    try:
        return stat.S_ISSOCK(os.fstat(file.fileno()).st_mode)
    except Exception:
        return False


class End:
    """Whether the client is gone, as the streams have seen."""

    def __init__(self) -> None:
        self.is_here = False


def close_dead(stream) -> None:
    """What is not written yet would be told of as an error when the stream
    goes away."""
    try:
        stream.close()
    except Exception:
        pass


def guard_reader(pdb, end: End) -> None:
    """Another instance may read the same stream: each stop's own, say."""
    if isinstance(pdb, sys.modules["pdb"].Pdb) and \
            "do_EOF" not in pdb.__dict__:
        pdb.__dict__["do_EOF"] = make_do_eof(weakref.ref(pdb), end)


def make_guarded(stream, name: str, end: End):
    """The method, which takes the end of the connection as the end of input,
    or writes nothing. Holds nothing that holds it."""
    before = getattr(stream, name)
    there = weakref.ref(stream)
    if getattr(before, "__self__", None) is stream:
        plain = getattr(type(stream), name)

        def before(*given):
            return plain(there(), *given)

    is_input = name == "readline"

    def guarded(*given):
        nothing = "" if is_input else len(given[0]) if given else None
        if is_input:
            guard_reader(sys._getframe(1).f_locals.get("self"), end)
        if end.is_here or there() is None:  # it is being taken away
            return nothing
        try:
            result = before(*given)
            if is_input and result == "":
                end.is_here = True
            return result
        except ConnectionError:
            end.is_here = True
            close_dead(there())
        return nothing

    guarded.probetui_before = stream.__dict__.get(name)
    return guarded


def make_do_eof(debugger, end: End):
    def do_eof(line: str):
        pdb = debugger()
        if end.is_here:
            restore_streams(pdb)
        if not end.is_here or Place(pdb).is_post_mortem:
            return type(pdb).do_EOF(pdb, line)
        take_away(pdb)
        return go_on(pdb)

    # `commands`, which reads on for ever at the end, ends by this name.
    do_eof.__name__ = "do_continue"
    do_eof.probetui_before = None
    return do_eof


def go_on(pdb) -> int:
    """As `continue`; nobody is there, so ^C is the program's."""
    pdb.nosigint = True
    try:
        pdb.do_continue("")
    except Exception:
        pdb.set_continue()
    return 1


def restore_streams(pdb) -> None:
    """Those of the program, where remote-pdb has taken them."""
    backup = getattr(pdb, "backup", None)
    for each in backup if type(backup) is list else []:
        if type(each) is tuple and len(each) == 2 and \
                getattr(sys, str(each[0]), None) is pdb.stdout:
            setattr(sys, *each)


def is_guarded(pdb) -> bool:
    return hasattr(pdb.__dict__.get("do_EOF"), "probetui_before")


def guard(pdb) -> None:
    """Our own agent serves many clients."""
    if "do_EOF" in pdb.__dict__ or dialect_of(pdb) == "probetui":
        return
    end = End()
    try:
        if not is_connection(pdb.stdin):
            return
        made = [(stream.__dict__, name, make_guarded(stream, name, end))
                for stream, name in ((getattr(pdb, each), name)
                                     for each, name in GUARDED)]
    except Exception:  # of a class that has no attributes, say
        return
    for names, name, method in made:
        names[name] = method
    guard_reader(pdb, end)


def unguard(pdb) -> None:
    if not is_guarded(pdb):
        return
    del pdb.__dict__["do_EOF"]
    for each, name in GUARDED:
        names = getattr(getattr(pdb, each), "__dict__", {})
        method = names.get(name)
        if not hasattr(method, "probetui_before"):
            continue
        if method.probetui_before is None:
            del names[name]
        else:
            names[name] = method.probetui_before
