"""Code that clients have run in the process.

It runs in the thread that serves the client, beside the program. What that
thread prints meanwhile is the client's, what others print goes where it
always did. Past its time it gets the exception TimeIsUp (deadline.py); one
that cannot notice that (it waits in C) is given up: it runs on, and its
client is told.
"""
from __future__ import annotations

import _signal  # signal's makes objects of all 62, every time
import ast
import builtins
import contextlib
import signal
import sys
import threading
import time
import traceback
from typing import Any, Callable, Dict, Iterator, List, Optional, Set, Union

from . import deadline, representation, streams
from .deadline import PACKAGE, TimeIsUp
from .http1 import Refusal
from .values import cut, type_name, without_guesses

__all__ = ["PACKAGE", "TimeIsUp"]

EVALUATIONS_MAXIMUM = 8
TIMEOUT_SECONDS = 30.0
TIMEOUT_MAXIMUM = 86400.0
# To notice that time is up.
GRACE_SECONDS = 1.0
LOOK_SECONDS = 3600.0
AGAIN_SECONDS = 0.02
# A thread that slept for so long, and was not woken, waits in C.
STILL_SECONDS = 0.05
# What statements have for a value.
NOTHING = object()


def _tell_error(error: BaseException) -> Dict[str, str]:
    try:
        shown = representation.readable(error, streams.TEXT_MAXIMUM // 16)
        told = traceback.TracebackException(type(shown), shown,
                                            shown.__traceback__)
        without_guesses(told)
        told.stack[:] = [frame for frame in told.stack
                         if not frame.filename.startswith(PACKAGE)]
        lines = "".join(told.format())
        message = "".join(told.format_exception_only())
    except Exception:
        lines = message = "(its text cannot be had)"
    name = type_name(error)
    message = message.strip()
    short = name.rpartition(".")[2]
    for prefix in (name + ": ", short + ": "):
        if message.startswith(prefix):
            message = message[len(prefix):]
            break
    else:
        message = "" if message in (name, short) else message
    return {"type": name, "message": cut(message, streams.TEXT_MAXIMUM // 16),
            "traceback": cut(lines, streams.TEXT_MAXIMUM // 4)}


class Evaluation:
    """One piece of code, in one thread."""

    def __init__(self, timeout: float,
                 give_up: Callable[[Refusal], None]) -> None:
        self.ident = threading.get_ident()
        self.native_id = getattr(threading, "get_native_id", int)()
        self.timeout = timeout
        self.until = time.monotonic() + timeout
        self.give_up = give_up
        self._looks = False
        self.is_armed = False
        self.give_up_at = 0.0   # once it is interrupted
        self.is_over = False
        self.is_interrupted = False
        self.is_cancelled = False
        self.is_given_up = False
        self._deadline = deadline.Deadline()

    def run(self, function: Callable[[], Any], is_standing: bool) -> None:
        """Runs a client's code. representation.py, which is the agent's own
        code, calls deadline.check() while it makes a text of the value."""
        deadline.begin_look(lambda: self.is_interrupted)
        try:
            self._deadline.run(function, is_standing)
        finally:
            deadline.end_look()
            self.is_over = True

    def look(self, function: Callable[[], Any]) -> None:
        """Code of ours, which asks for the time itself."""
        self._looks = True
        deadline.begin_look(lambda: self.is_interrupted)
        try:
            function()
        finally:
            deadline.end_look()
            self.is_over = True

    def interrupt(self) -> None:
        """And again, soon, as long as there is nothing yet to interrupt."""
        now = time.monotonic()
        if not self.is_interrupted:
            self.give_up_at = now + GRACE_SECONDS
        self.is_interrupted = True
        self.until = self.give_up_at
        self.is_armed = self._looks or self._deadline.expire()
        if not self.is_armed:
            self.until = min(now + AGAIN_SECONDS, self.give_up_at)

    def schedule(self) -> str:
        """Whether its thread sleeps, and how often it was given the
        processor: one that wants the GIL is all the time. "": it runs, or
        that is not known."""
        try:
            with open("/proc/self/task/%d/status" % self.native_id) as file:
                told = [line for line in file if line.startswith(
                    ("State:", "voluntary_", "nonvoluntary_"))]
        except OSError:
            return ""
        return "" if any("R (" in line for line in told) else "".join(told)


class Evaluator:
    """`wake` has look() called soon."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._running: Set[Evaluation] = set()
        self._lock = threading.Lock()
        self._next_look = 0.0
        self._is_ending = False
        self._capture = streams.Capture()
        # What the evaluated starts is not to inherit our threads' own.
        self.signals = _signal.pthread_sigmask(signal.SIG_BLOCK, ())

    def look(self) -> float:
        """Ends what takes too long. In how many seconds to look again."""
        now = time.monotonic()
        with self._lock:
            late = [job for job in self._running
                    if job.until <= now and not job.is_over]
        for job in late:
            if not job.is_interrupted or now < job.give_up_at:
                job.interrupt()
                continue
            if not job.is_armed:
                job.interrupt()
            job.until = now + (LOOK_SECONDS if job.is_armed
                               else GRACE_SECONDS)
            if job.is_given_up:
                continue
            job.is_given_up = True
            job.give_up(Refusal(
                504, "the code did not end in %g s and still runs: it "
                "cannot be interrupted in C, on one long line, or in a "
                "finalizer" % job.timeout))
        with self._lock:
            self._next_look = min([now + LOOK_SECONDS] + [
                job.until for job in self._running])
        return max(0.0, self._next_look - now)

    def hurry(self) -> None:
        """Interrupts all evaluations but this thread's, and refuses new ones:
        once the agent has left, no thread calls look(), which interrupts."""
        with self._lock:
            self._is_ending = True
        for job in self._others():
            job.until = 0.0
        self.look()

    def end(self, seconds: float) -> None:
        """At the end of the process. A thread of C++ that comes back only
        then, as torch's, would abort it; those that wait in C are not waited
        for."""
        until = time.monotonic() + seconds
        self.hurry()
        before: Dict[Evaluation, Any] = {}
        while time.monotonic() < until:
            busy = [job for job in self._others()
                    if not _is_still(job, before)]
            if not busy:
                break
            time.sleep(0.001)
            self.look()

    def _others(self) -> List[Evaluation]:
        with self._lock:
            return [job for job in self._running
                    if job.ident != threading.get_ident()]

    def cancel(self, job: Evaluation) -> None:
        """Its client does not want it any more."""
        with self._lock:
            if job not in self._running or job.is_interrupted:
                return
            job.is_cancelled = True
            job.until = 0.0
        self._wake()

    def lends_streams(self) -> bool:
        return self._capture.is_used()

    def leave(self) -> None:
        self._capture.leave()

    def forget(self) -> None:
        """In a fork: the streams are the program's again."""
        self._capture.restore()

    @contextlib.contextmanager
    def _job(self, timeout: float, give_up: Callable[[Refusal], None],
             is_ours: bool) -> Iterator[Evaluation]:
        job = Evaluation(timeout, give_up)
        with self._lock:
            if self._is_ending:
                raise Refusal(503, "the agent is about to leave")
            if len(self._running) >= EVALUATIONS_MAXIMUM:
                raise Refusal(503, "%d evaluations run already"
                              % EVALUATIONS_MAXIMUM)
            self._running.add(job)
        if job.until < self._next_look:
            self._wake()
        previous = _signal.pthread_sigmask(
            signal.SIG_SETMASK, self.signals) if is_ours else None
        try:
            yield job
        finally:
            if previous is not None:
                _signal.pthread_sigmask(signal.SIG_SETMASK, previous)
            with self._lock:
                self._running.discard(job)

    def run(self, function: Callable[[], Any], timeout: float,
            give_up: Callable[[Refusal], None],
            is_ours: bool = True,
            begun: Callable[[Evaluation], None] = lambda job: None,
            catches: bool = True) -> Dict[str, Any]:
        """What function() gives or raises, and what is printed meanwhile, if
        it `catches` that. `is_ours`: the thread that this is called in.
        `begun` is told what can be cancelled."""
        output = streams.Output()
        told: Dict[str, Any] = {"value": None, "type": None, "output": "",
                                "error": None}
        with self._job(timeout, give_up, is_ours) as job:
            begun(job)
            with self._capture.catching(output) if catches \
                    else contextlib.nullcontext():
                if catches:
                    job.run(lambda: _fill(told, function), not is_ours)
                else:
                    job.look(lambda: _fill(told, function))
            if job.is_interrupted:
                told.update(value=None, type=None)
                told["error"] = told["error"] or {
                    "type": "TimeIsUp", "message": "", "traceback": ""}
                told["error"]["message"] = "it was cancelled" \
                    if job.is_cancelled else "it took longer than %g s" \
                    % timeout
        told["output"] = output.text()
        return told


def _fill(told: Dict[str, Any], function: Callable[[], Any]) -> None:
    try:
        value = function()
        if value is not NOTHING:
            told["value"] = representation.of(value, streams.TEXT_MAXIMUM)
            told["type"] = type_name(value)
    except BaseException as error:
        told["value"] = told["type"] = None
        told["error"] = _tell_error(error)


def _is_still(job: Evaluation, before: Dict[Evaluation, Any]) -> bool:
    """It waits in C: nothing became of its thread for a while."""
    now, schedule = time.monotonic(), job.schedule()
    since, known = before.setdefault(job, (now, schedule))
    if not schedule or schedule != known:
        before[job] = (now, schedule)
        return False
    return now - since > STILL_SECONDS


def read_timeout(value: Any) -> float:
    if value is None:
        return TIMEOUT_SECONDS
    if type(value) not in (int, float) or not 0 < value <= TIMEOUT_MAXIMUM:
        raise Refusal(400, "timeout is a number of seconds, %g at most"
                      % TIMEOUT_MAXIMUM)
    return float(value)


def run_tree(tree: ast.Module, name: str, names: Dict[str, Any]) -> Any:
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    if tree.body:
        exec(compile(tree, name, "exec", dont_inherit=True), names)
    if last is not None:
        return eval(compile(last, name, "eval", dont_inherit=True), names)
    return NOTHING


def in_main(code: str) -> Any:
    """The value of the last line where that is an expression."""
    names = sys.modules["__main__"].__dict__
    return run_tree(ast.parse(code, "<eval>"), "<eval>", names)


def in_its_own(code: Union[str, bytes], path: Optional[str]) -> Any:
    """As a module of its own, which leaves nothing in the program's."""
    name = path or "<execute>"
    return run_tree(ast.parse(code, name), name, {
        "__name__": "__probetui__", "__file__": path,
        "__builtins__": builtins})
