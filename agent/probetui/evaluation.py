"""Runs code of clients in the process.

The code runs in the agent thread that serves the client, concurrently with the
program. Output that this thread prints meanwhile is returned to the client;
other threads print as before. After its timeout the code gets the exception
TimeIsUp (deadline.py). Code that does not raise it within GRACE_SECONDS (it
waits in C) is given up: it keeps running, and the client receives an error.
"""
from __future__ import annotations

# Not the module signal: its pthread_sigmask() makes an enum of each signal
# number in every call.
import _signal
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
# Seconds that interrupted code has to raise TimeIsUp.
GRACE_SECONDS = 1.0
LOOK_SECONDS = 3600.0
AGAIN_SECONDS = 0.02
# A thread that slept for this many seconds without being scheduled waits in C.
STILL_SECONDS = 0.05
# The value of a piece of code whose last line is no expression.
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
        lines = message = "(message unavailable)"
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
    """One piece of code that runs in one thread."""

    def __init__(self, timeout: float,
                 give_up: Callable[[Refusal], None]) -> None:
        self.ident = threading.get_ident()
        self.native_id = getattr(threading, "get_native_id", int)()
        self.timeout = timeout
        self.until = time.monotonic() + timeout
        self.give_up = give_up
        self._looks = False
        self.is_armed = False
        # time.monotonic() of the give-up; set by interrupt()
        self.give_up_at = 0.0
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
        """Runs agent code, which polls deadline.check() itself instead of
        being traced."""
        self._looks = True
        deadline.begin_look(lambda: self.is_interrupted)
        try:
            function()
        finally:
            deadline.end_look()
            self.is_over = True

    def interrupt(self) -> None:
        """Interrupts the code. If it cannot be interrupted yet (expire()
        returned False), `until` is set so that the interrupt is tried again
        after AGAIN_SECONDS."""
        now = time.monotonic()
        if not self.is_interrupted:
            self.give_up_at = now + GRACE_SECONDS
        self.is_interrupted = True
        self.until = self.give_up_at
        self.is_armed = self._looks or self._deadline.expire()
        if not self.is_armed:
            self.until = min(now + AGAIN_SECONDS, self.give_up_at)

    def schedule(self) -> str:
        """Returns the state of the thread and its counts of context switches,
        from /proc/self/task/TID/status; "" if the thread is running or the
        file cannot be read. A thread that waits for the GIL wakes up
        regularly, so its counts change."""
        try:
            with open("/proc/self/task/%d/status" % self.native_id) as file:
                told = [line for line in file if line.startswith(
                    ("State:", "voluntary_", "nonvoluntary_"))]
        except OSError:
            return ""
        return "" if any("R (" in line for line in told) else "".join(told)


class Evaluator:
    """All running evaluations. `wake` makes the listening thread call look()
    soon."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._running: Set[Evaluation] = set()
        self._lock = threading.Lock()
        self._next_look = 0.0
        self._is_ending = False
        self._capture = streams.Capture()
        # Signal mask before the agent's threads block signals: a process that
        # evaluated code starts must not inherit the agent's mask.
        self.signals = _signal.pthread_sigmask(signal.SIG_BLOCK, ())

    def look(self) -> float:
        """Interrupts or gives up evaluations whose time is up. Returns the
        seconds until look() must be called again."""
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
                504, "the code did not end within %g s and is still running: "
                "code in C, on one long line or in a finalizer cannot be "
                "interrupted" % job.timeout))
        with self._lock:
            self._next_look = min([now + LOOK_SECONDS] + [
                job.until for job in self._running])
        return max(0.0, self._next_look - now)

    def hurry(self) -> None:
        """Interrupts all evaluations except this thread's, and refuses new
        ones: after the agent has ended, no thread calls look(), which
        interrupts."""
        with self._lock:
            self._is_ending = True
        for job in self._others():
            job.until = 0.0
        self.look()

    def end(self, seconds: float) -> None:
        """Interrupts all evaluations at the end of the process and waits up to
        `seconds` for them. A thread in C++ code (torch) that returns to Python
        during finalization would abort the process. Threads that sleep in C
        are not waited for."""
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
        """Interrupts an evaluation that its client has cancelled."""
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
        """In a forked child: restores sys.stdout and sys.stderr of the
        program."""
        self._capture.restore()

    @contextlib.contextmanager
    def _job(self, timeout: float, give_up: Callable[[Refusal], None],
             is_ours: bool) -> Iterator[Evaluation]:
        job = Evaluation(timeout, give_up)
        with self._lock:
            if self._is_ending:
                raise Refusal(503, "the agent is shutting down")
            if len(self._running) >= EVALUATIONS_MAXIMUM:
                raise Refusal(503, "too many evaluations: %d are already "
                              "running" % EVALUATIONS_MAXIMUM)
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
        """Returns the value or error of function() as text, and what it
        printed if `catches`. `is_ours`: the calling thread is a thread of the
        agent. `begun` is called with the Evaluation, which cancel() takes."""
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
                told["error"]["message"] = "the evaluation was cancelled" \
                    if job.is_cancelled else \
                    "the evaluation took longer than %g s" % timeout
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
    """True if the thread of the job has slept without a context switch for
    STILL_SECONDS: it waits in C. `before` keeps the last state of each job."""
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
        raise Refusal(400, "timeout must be a number of seconds, more than 0 "
                      "and at most %g" % TIMEOUT_MAXIMUM)
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
    """Runs code in the namespace of __main__. Returns the value of the last
    line if that is an expression, else NOTHING."""
    names = sys.modules["__main__"].__dict__
    return run_tree(ast.parse(code, "<eval>"), "<eval>", names)


def in_its_own(code: Union[str, bytes], path: Optional[str]) -> Any:
    """Runs code in a new module namespace: the program's names are not
    changed."""
    name = path or "<execute>"
    return run_tree(ast.parse(code, name), name, {
        "__name__": "__probetui__", "__file__": path,
        "__builtins__": builtins})
