"""Keeps the program running when the client of its debugger disconnects.

pdb takes the end of its input as `quit`, which raises an exception in the
program, and a write to a closed connection raises, too. Once probetui is the
client of a socket, the end of the connection resumes the program instead, as
long as the socket's streams exist. To do that, the Pdb instance and its two
streams get attributes, which change nothing while the client is connected,
and keep no object alive.

values.py, guard.py and inspector.py are sent together and run as one module.
"""
import os
import stat
import sys
import weakref

GUARDED = (("stdin", "readline"), ("stdout", "write"), ("stdout", "flush"))


def is_connection(stream) -> bool:
    """True if the stream is a connection, which has ended when its input has
    ended; a terminal has not. The file of a socket that is both read and
    written has no fileno() and is recognised by its type."""
    file = getattr(stream.fileno, "__self__", stream)  # the wrapped file
    if type(getattr(file, "buffer", None)).__name__ == "BufferedRWPair":
        return True
    try:
        return stat.S_ISSOCK(os.fstat(file.fileno()).st_mode)
    except Exception:
        return False


class End:
    """State shared by the streams: is_here is True when the connection has
    ended."""

    def __init__(self) -> None:
        self.is_here = False


def close_dead(stream) -> None:
    """Closes the stream and ignores errors: otherwise its unwritten data
    would cause an error message when the stream is deleted."""
    try:
        stream.close()
    except Exception:
        pass


def guard_reader(pdb, end: End) -> None:
    """Gives do_EOF to a Pdb instance that reads the stream. There may be
    several such instances, for example one for each stop."""
    if isinstance(pdb, sys.modules["pdb"].Pdb) and \
            "do_EOF" not in pdb.__dict__:
        pdb.__dict__["do_EOF"] = make_do_eof(weakref.ref(pdb), end)


def make_guarded(stream, name: str, end: End):
    """Returns a method that replaces stream.NAME: when the connection has
    ended, it returns the end of the input, or writes nothing. It refers to
    the stream weakly, to avoid a reference cycle."""
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
        if end.is_here or there() is None:  # the stream is being deleted
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

    # `commands` would read for ever at the end of the input; this name makes
    # it stop.
    do_eof.__name__ = "do_continue"
    do_eof.probetui_before = None
    return do_eof


def go_on(pdb) -> int:
    """Does what `continue` does. No client is left, so ^C is handled by the
    program."""
    pdb.nosigint = True
    try:
        pdb.do_continue("")
    except Exception:
        pdb.set_continue()
    return 1


def restore_streams(pdb) -> None:
    """Restores the standard streams of the program that remote-pdb has
    replaced."""
    backup = getattr(pdb, "backup", None)
    for each in backup if type(backup) is list else []:
        if type(each) is tuple and len(each) == 2 and \
                getattr(sys, str(each[0]), None) is pdb.stdout:
            setattr(sys, *each)


def is_guarded(pdb) -> bool:
    return hasattr(pdb.__dict__.get("do_EOF"), "probetui_before")


def guard(pdb) -> None:
    """Guards the streams, except those of probetui's agent, which serves
    many clients."""
    if "do_EOF" in pdb.__dict__ or dialect_of(pdb) == "probetui":
        return
    end = End()
    try:
        if not is_connection(pdb.stdin):
            return
        made = [(stream.__dict__, name, make_guarded(stream, name, end))
                for stream, name in ((getattr(pdb, each), name)
                                     for each, name in GUARDED)]
    except Exception:  # for example, a class without a __dict__
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
