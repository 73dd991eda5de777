"""The DAP server of the agent: sessions, events, and the engine, which is made
when the first request needs it."""
from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional

from .. import interruption, snapshots
from ..http1 import Refusal
from ..settings import describe, tell
from . import (
    breakpoints,
    changing,
    engine_events,
    handles,
    holding,
    stopped,
    table,
)
from .call import Call
from .events import Ring
from .messages import Failure, failed, read_request, response
from .sessions import Session, Sessions

if TYPE_CHECKING:
    from ..debugging.engine import Engine
    from ..debugging.specs import Bound
    from ..debugging.stop import Stop
    from ..routes import Context
    from ..server import Connection, Server

LEAVES = "the agent is shutting down"
POLL_SECONDS = 30
UNMARK_SECONDS = 1.0
# Delay of a sweep, in seconds: resumed threads have left the debugger by then.
SWEEP_SECONDS = 0.5
# Seconds until a failed look() is tried again.
AGAIN_SECONDS = 60.0


def _place_of(problem: BaseException) -> str:
    """Returns "table.py:70", where the exception was raised."""
    trace, place = problem.__traceback__, "?"
    while trace is not None:
        place = "%s:%d" % (os.path.basename(
            trace.tb_frame.f_code.co_filename), trace.tb_lineno)
        trace = trace.tb_next
    return place


def _apart(part: Callable[[], Any], otherwise: Any = None) -> Any:
    """Calls part(). An exception is printed, and `otherwise` is returned: the
    following clean-up must still happen."""
    try:
        return part()
    except Exception as problem:
        tell("a debug session could not be ended completely: %s (%s)"
             % (describe(problem), _place_of(problem)))
        return otherwise


class Debugger:
    """The debugger of this process."""

    def __init__(self, server: Server, is_read_only: bool) -> None:
        self.server = server
        self.is_read_only = is_read_only
        self.ring = Ring()
        self.sessions = Sessions(self._end)
        self.numbers = breakpoints.Numbers()
        # Functions for further fields of the response to `state`, by field
        # name.
        self.states: Dict[str, Callable[[Call], Any]] = dict(
            holding.STATES, dataBreakpoints=changing.state)
        self._engine: Any = None
        self._seat = threading.RLock()
        # Functions that the listening thread calls repeatedly. Each returns
        # the seconds until its next call, or None.
        self.lookers: List[Callable[[], Optional[float]]] = [
            self._unmark, self._sweep]
        self._sweep_at: Optional[float] = None
        # Functions that undo changes to the program; called when the agent
        # ends.
        self.endings: List[Callable[[], None]] = []
        # Functions that receive the engine's events before the sessions do.
        self.hearers: List[Callable[[str, Dict[str, Any]], None]] = []
        self.parts: Dict[str, Any] = {}  # objects of other modules, by name
        self._is_closed = False
        self._next_look = 0.0
        server.look = self._look
        server.on_gone = self._leave

    def engine(self) -> Engine:
        """Returns the engine; the first call makes it. Raises Failure after
        close(): a new engine would never be closed."""
        with self._seat:
            if self._is_closed:
                raise Failure(LEAVES)
            if self._engine is None:
                from ..debugging import engine

                found = engine.get()
                found.on_event = self._on_event
                self._engine = found
                holding.begin(self)
        return self._engine  # type: ignore[no-any-return]

    def stops(self) -> List[Stop]:
        if self._engine is None:
            return []
        return [stop for stop in self._engine.stops() if not stop.is_over]

    def stop_of(self, thread_id: int) -> Optional[Stop]:
        """Returns the stop of a thread; None: the thread is running."""
        for stop in self.stops():
            if stop.thread_id == thread_id:
                return stop
        return None

    def breakpoints(self) -> Dict[str, List[Bound]]:
        """Returns all breakpoints; keys are session ids."""
        return self._engine.breakpoints() if self._engine is not None else {}

    def holds_all(self) -> bool:
        return self._engine is not None and self._engine.mode == "all"

    def drop(self, stop: Stop) -> None:
        """Drops the frames and values that sessions keep of a stop, when its
        thread resumes."""
        for session in self.sessions.all():
            for kept in list(session.kept.values()):
                kept.drop(stop)

    def _on_event(self, name: str, body: Dict[str, Any]) -> None:
        for hear in self.hearers:
            try:
                hear(name, body)
            except Exception as problem:
                tell("%s: %s" % (name, describe(problem)))
        engine_events.pass_on(self, name, body)
        if name == "continued" and snapshots.has_left:
            self._sweep_soon()

    def part(self, name: str, make: Callable[[], Any]) -> Any:
        with self._seat:
            if name not in self.parts:
                self.parts[name] = make()
            return self.parts[name]

    def _leave(self, connection: Connection) -> None:
        self.sessions.leave(connection)
        self.ring.wake()
        self.server.wake()

    def _look(self) -> float:
        seconds = _apart(self.sessions.look, AGAIN_SECONDS)
        now = time.monotonic()
        for session in self.sessions.all():
            for kept in list(session.kept.values()):
                end = _apart(kept.look, now + AGAIN_SECONDS)
                if end is not None:
                    seconds = min(seconds, max(0.0, end - now))
        for look in list(self.lookers):
            again = _apart(look, AGAIN_SECONDS)
            if again is not None:
                seconds = min(seconds, max(0.0, again))
        self._next_look = now + seconds
        return float(seconds)

    def _unmark(self) -> Optional[float]:
        """Python 3.11: the program may itself raise exceptions in its threads;
        see interruption.py. Clears the flag regularly, so that traced threads
        proceed."""
        if not interruption.IS_MARKED or not self.sessions.debugging():
            return None
        interruption.unmark()
        return UNMARK_SECONDS

    def _sweep_soon(self) -> None:
        self._sweep_at = time.monotonic() + SWEEP_SECONDS
        self.server.wake()

    def _sweep(self) -> Optional[float]:
        """Clears the copies of local variables in frames (snapshots.py), when
        a sweep is due."""
        if self._sweep_at is None:
            return None
        left = self._sweep_at - time.monotonic()
        if left > 0:
            return left
        self._sweep_at = None
        snapshots.let_all_go()
        return None

    def _settle(self, session: Session) -> None:
        """Called after each request of a session."""
        if session.is_over:
            # The session ended while the request ran: remove what the request
            # added.
            self._end(session)
            return
        until = time.monotonic() + handles.UNUSED_SECONDS
        if until < self._next_look and any(
                kept.is_aging for kept in list(session.kept.values())):
            self.server.wake()

    def _end(self, session: Session) -> None:
        for kept in list(session.kept.values()):
            _apart(lambda kept=kept: kept.end(self))  # type: ignore[misc]
        session.kept.clear()
        self.ring.wake()
        if self._engine is not None:
            _apart(lambda: self._engine.leave(session.id))
            if not self.sessions.debugging():
                _apart(lambda: self._engine.set_threads("one"))
                _apart(self._engine.end_steps)
                stopped.let_go(self)
                self._sweep_soon()

    def close(self) -> None:
        """Called when the process or the agent ends. Runs all clean-up
        functions, then raises the first of their exceptions."""
        with self._seat:
            self._is_closed = True
        parts = list(self.endings)
        if self._engine is not None:
            parts.append(self._engine.close)
        failed_parts: List[Exception] = []
        for part in parts:
            try:
                part()
            except Exception as problem:
                failed_parts.append(problem)
        self.ring.emit("terminated", {})
        self._let_go()
        if failed_parts:
            raise failed_parts[0]

    def _let_go(self) -> None:
        """Drops what sessions keep: it refers to objects of the program, and
        the engine (with its callback to this object) may live longer."""
        for session in self.sessions.all():
            for kept in list(session.kept.values()):
                _apart(lambda kept=kept: kept.end(self))  # type: ignore[misc]
            session.kept.clear()
        if self._engine is not None:
            self._engine.on_event = lambda name, body: None

    def tighten(self) -> None:
        """Makes the agent read-only: ends all sessions, and so removes their
        breakpoints and resumes their threads."""
        self.is_read_only = True
        for session in self.sessions.all():
            self.sessions.remove(session)

    def forget(self) -> None:
        """Called in a forked child: requests fail from now on. The engine has
        a fork hook of its own."""
        self._is_closed = True

    def answer(self, context: Context) -> Dict[str, Any]:
        """Answers POST /dap."""
        try:
            number, command, arguments = read_request(context.body)
        except Failure as failure:
            raise Refusal(400, str(failure)) from None
        name = context.query.get("session")
        if name is None:
            if command != "initialize":
                raise Refusal(404, "the query parameter session is missing: "
                              "the request initialize creates a session")
            session = self.sessions.make(context.connection, self.ring.last)
        else:
            session = self.sessions.find(name)
            self.sessions.take(session, context.query.get("once"))
        self.server.watch(context.connection)
        # The process may end before this answer is sent: close() then waits
        # for it.
        context.connection.awaits_end = True
        call = Call(self, session, context, number, arguments)
        with self.sessions.serving(session, context.connection):
            told = self._respond(call, command)
        self._settle(session)
        if name is None and not told["success"]:
            self.sessions.remove(session)
        return told

    def _respond(self, call: Call, command: str) -> Dict[str, Any]:
        # No local variable keeps an exception after its `except` clause: its
        # traceback refers to this frame, and the program may have disabled the
        # garbage collector, which would have to free that reference cycle.
        try:
            body = self._do(call, command)
            return response(call.session.number(), call.number, command, body)
        except Failure as failure:
            return failed(call.session.number(), call.number, command,
                          failure)
        except Refusal:
            raise
        except Exception as error:
            return failed(call.session.number(), call.number, command,
                          Failure("%s failed: %s" % (command,
                                                     describe(error))))

    def _do(self, call: Call, command: str) -> Optional[Dict[str, Any]]:
        if self._is_closed:
            raise Failure(LEAVES)
        row = table.find(command)
        if row is None:
            raise Failure("unknown request %s" % ascii(command))
        if self.is_read_only and not row.looks:
            raise Failure("the agent is read-only (read_only=True): requests "
                          "that stop the program, change it or run code are "
                          "refused")
        if row.debugs and not call.session.is_debugging:
            call.session.is_debugging = True
            self.server.wake()
        return row.answer(call)

    def events(self, context: Context, after: Optional[int],
               seconds: Optional[int]) -> Dict[str, Any]:
        """Answers GET /events."""
        session = self.sessions.find(context.query.get("session", ""))
        connection = context.connection
        self.server.watch(connection)
        connection.awaits_end = True
        with self.sessions.serving(session, connection):
            return self.ring.wait(
                max(session.first, after or 0), session.id,
                POLL_SECONDS if seconds is None
                else min(seconds, POLL_SECONDS),
                lambda: not (connection.is_gone or session.is_over
                             or self._is_closed))
