"""The HTTP endpoints of the agent: one row per endpoint, one function each."""
from __future__ import annotations

import os
import sys
from typing import Any, Callable, Dict, NamedTuple, Optional

from . import (
    __version__,
    audit,
    evaluation,
    files,
    greenlets,
    identity,
    inspection,
    objects,
)
from .http1 import BODY_MAXIMUM, Head, Refusal
from .server import Connection

OBJECTS_DEFAULT = 100
OBJECTS_MAXIMUM = 1000


class Context(NamedTuple):
    """The argument of each endpoint function."""

    query: Dict[str, str]
    body: Dict[str, Any]
    evaluator: evaluation.Evaluator
    connection: Connection
    is_read_only: bool
    # returns the dap.debugger.Debugger; the first call makes it
    debugger: Callable[[], Any]


class Route(NamedTuple):
    method: str
    path: str
    runs_code: bool
    answer: Callable[[Context], Any]
    # keys allowed in the JSON body of a POST; None: the function checks them
    fields: Optional[tuple]
    query: tuple  # names allowed in the query string


def _number(context: Context, name: str) -> Any:
    text = context.query.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise Refusal(400, "%s must be a number" % name)
    return int(text)


def _text(context: Context, name: str) -> Any:
    value = context.body.get(name)
    if value is not None and not isinstance(value, str):
        raise Refusal(400, "%s must be a string" % name)
    return value


def _index(context: Context) -> Any:
    found = identity.find()
    return {
        "name": "probetui", "version": __version__, "pid": os.getpid(),
        "uid": os.geteuid(), "host": os.uname().nodename,
        "rank": found.rank, "world_size": found.size,
        "local_rank": found.local_rank,
        "python": "%d.%d.%d" % sys.version_info[:3],
        "executable": sys.executable, "argv": list(
            getattr(sys, "argv", []))[:100],
        "read_only": context.is_read_only,
        "can": [route.method + " " + route.path for route in ROUTES
                if not (route.runs_code and context.is_read_only)]}


def _threads(_: Context) -> Any:
    return greenlets.add_to(inspection.threads())


def _stacks(_: Context) -> Any:
    return {"threads": inspection.stacks()}


def _backtrace(context: Context) -> Any:
    tid, ident = _number(context, "tid"), _number(context, "greenlet")
    if ident is None:
        frame = inspection.find(tid)
    elif tid is None:
        frame = greenlets.frame_of(ident)
    else:
        raise Refusal(400, "give either tid or greenlet, not both")
    if frame is None:
        raise Refusal(404, "no such thread" if ident is None else
                      "no such greenlet, or the greenlet's thread is unknown")
    return inspection.backtrace(frame)


def _evaluate(context: Context, what: str, code: str,
              function: Callable[[], Any]) -> Any:
    timeout = evaluation.read_timeout(context.body.get("timeout"))
    audit.log.record(what, code)
    return context.evaluator.run(function, timeout,
                                 context.connection.give_up)


def _eval(context: Context) -> Any:
    code = _text(context, "code")
    if code is None:
        raise Refusal(400, "code is missing")
    return _evaluate(context, "eval", code,
                     lambda: evaluation.in_main(code))


def _read_program(path: str) -> bytes:
    try:
        return files.read_whole(path, BODY_MAXIMUM, False)
    except (OSError, ValueError) as error:
        raise Refusal(400, "the file cannot be read: %s" % error) from None
    except files.FileError as error:
        raise Refusal(400, str(error)) from None


def _execute(context: Context) -> Any:
    code, path = _text(context, "code"), _text(context, "path")
    if (code is None) == (path is None):
        raise Refusal(400, "give either code or path")
    program = code if path is None else _read_program(path)
    return _evaluate(context, "execute", path or code,
                     lambda: evaluation.in_its_own(program, path))


def _objects(context: Context) -> Any:
    name = context.query.get("type")
    limit = _number(context, "limit")
    if not name:
        raise Refusal(400, "type is missing (expected a class name)")
    if name in ("tuple", "frozenset"):
        raise Refusal(400, "objects of type %s are not listed: they may be "
                      "incomplete" % name)
    return objects.of_type(name, min(OBJECTS_MAXIMUM, OBJECTS_DEFAULT
                                     if limit is None else limit))


def _modules(_: Context) -> Any:
    return objects.modules()


def _evals(_: Context) -> Any:
    return audit.log.told()


def _dap(context: Context) -> Any:
    _number(context, "once")
    return context.debugger().answer(context)


def _events(context: Context) -> Any:
    return context.debugger().events(
        context, _number(context, "after"), _number(context, "timeout"))


def _eject(_: Context) -> Any:
    from . import agent

    audit.log.record("eject", "")
    return {"left": agent.unlisten()}


def _watchdogs(_: Context) -> Any:
    from .debugging import watchdogs

    return watchdogs.get().state()


ROUTES = (
    Route("GET", "/", False, _index, (), ()),
    Route("GET", "/threads", False, _threads, (), ()),
    Route("GET", "/backtrace", False, _backtrace, (),
          ("tid", "greenlet")),
    Route("GET", "/stacks", False, _stacks, (), ()),
    Route("GET", "/objects", False, _objects, (), ("type", "limit")),
    Route("GET", "/watchdogs", False, _watchdogs, (), ()),
    Route("GET", "/modules", False, _modules, (), ()),
    Route("GET", "/evals", False, _evals, (), ()),
    Route("GET", "/events", False, _events, (),
          ("session", "after", "timeout")),
    Route("POST", "/eval", True, _eval, ("code", "timeout"), ()),
    Route("POST", "/execute", True, _execute, ("code", "path", "timeout"),
          ()),
    Route("POST", "/dap", False, _dap, None, ("session", "once")),
    Route("POST", "/eject", True, _eject, (), ()),
)


def _find(head: Head) -> Route:
    there = [route for route in ROUTES if route.path == head.path]
    if not there:
        raise Refusal(404, "unknown path: GET / lists the requests")
    for route in there:
        if route.method == head.method:
            return route
    raise Refusal(405, "wrong method: use %s" % there[0].method,
                  ("Allow: " + there[0].method,))


def find(head: Head, body: Any, is_read_only: bool) -> Route:
    """Returns the row for a request. Raises Refusal if no row matches, or the
    body or names are wrong."""
    route = _find(head)
    if route.runs_code and is_read_only:
        raise Refusal(403, "the agent is read-only (read_only=True)")
    if route.method == "POST" and not isinstance(body, dict):
        raise Refusal(400, "the body must be a JSON object")
    _check_names(head.query, route.query)
    if route.method == "POST" and route.fields is not None:
        _check_names(body, route.fields)
    return route


def _check_names(given: Dict[str, Any], known: tuple) -> None:
    for name in given:
        if name not in known:
            raise Refusal(400, "unknown name %s (known: %s)" % (
                ascii(name)[:40], ", ".join(known) or "none"))
