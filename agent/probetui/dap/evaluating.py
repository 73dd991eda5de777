"""Code that a client has run: beside the program, or in a thread that
stands."""
from __future__ import annotations

import ast
import collections
import contextlib
import re
import types
from typing import Any, Callable, Dict, Iterator, List, Optional

from .. import audit, evaluation
from ..http1 import Refusal
from . import frames, places
from .call import Call, Row
from .messages import Arguments, Failure
from .sessions import Kept, Session
from .telling import EXPRESSION_MAXIMUM, refer

EARLY_MAXIMUM = 100
# What needs no parentheses when more stands behind it.
_SIMPLE = re.compile(r"[\w.]+\Z")


def read_timeout(arguments: Arguments) -> float:
    try:
        return evaluation.read_timeout(arguments.number("timeout", None))
    except Refusal as refusal:
        raise Failure(str(refusal)) from None


class _Jobs(Kept):
    """What a session has run, by the numbers of its requests."""

    def __init__(self) -> None:
        self.jobs: Dict[int, Any] = {}
        # A request may be overtaken by what cancels it.
        self.early: Any = collections.deque(maxlen=EARLY_MAXIMUM)

    @contextlib.contextmanager
    def running(self, number: int, evaluator: evaluation.Evaluator
                ) -> Iterator[Callable[[evaluation.Evaluation], None]]:
        def begin(job: evaluation.Evaluation) -> None:
            self.jobs[number] = job
            if number in self.early:
                evaluator.cancel(job)

        try:
            yield begin
        finally:
            self.jobs.pop(number, None)


def _jobs(session: Session) -> _Jobs:
    return session.keep("jobs", _Jobs)


def run(call: Call, place: Any, text: str,
        function: Callable[[], Any]) -> Dict[str, Any]:
    """As Evaluator.run: in the thread of the place, where it has one.
    `text`: what is run."""
    evaluator = call.context.evaluator
    give_up = call.context.connection.give_up
    timeout = read_timeout(call.arguments)
    audit.log.record("dap", text)
    jobs = _jobs(call.session)
    with jobs.running(call.number, evaluator) as begun:
        if place is None:
            return evaluator.run(function, timeout, give_up, True, begun)
        call.session.is_debugging = True
        return places.run(place, lambda: evaluator.run(
            function, timeout, give_up, False, begun), timeout)


def look(call: Call, function: Callable[[], Any],
         seconds: float) -> Dict[str, Any]:
    """Runs what is ours, in this thread: it can be cancelled, and its time
    ends. What the program prints meanwhile is not caught."""
    evaluator = call.context.evaluator
    with _jobs(call.session).running(call.number,
                                     evaluator) as begun:
        return evaluator.run(function, seconds,
                             call.context.connection.give_up, True, begun,
                             False)


def check(told: Dict[str, Any]) -> None:
    """Failure: the code failed."""
    error = told["error"]
    if error is not None:
        text = error["type"].replace("probetui.deadline.", "")
        if error["message"].startswith('File "<eval>"'):
            # Of a SyntaxError; its place is in the traceback.
            text = error["message"].rpartition("\n")[2]
        elif error["message"] == "it was cancelled":
            # DAP's own word for it.
            text = "cancelled"
        elif error["message"]:
            text += ": " + error["message"]
        raise Failure(text, traceback=error["traceback"],
                      output=told["output"])


def parse(text: str, is_statement: bool) -> ast.Module:
    """In the thread that evaluates: what is wrong with it is told as what it
    raises."""
    tree: Any = compile(text if is_statement else text.strip(), "<eval>",
                        "exec" if is_statement else "eval",
                        ast.PyCF_ONLY_AST, dont_inherit=True)
    return tree if is_statement else ast.Module([ast.Expr(tree.body)], [])


def _compile(text: str) -> Optional[types.CodeType]:
    """Of one expression, as most are: at once, without a tree. None: it is
    none, or there is something wrong with it."""
    if text[:1].isspace():
        return None
    try:
        return compile(text, frames.NAME, "eval", dont_inherit=True)
    except Exception:
        return None


def run_tree(tree: ast.Module, place: Optional[places.Place],
             names: Optional[Dict[str, Any]] = None) -> Any:
    """`names`: where there is no place; None: those of __main__."""
    if place is None:
        return evaluation.run_tree(tree, frames.NAME, places.main_names()
                                   if names is None else names)
    return frames.run(tree, place.frame)


def _evaluate(call: Call) -> Dict[str, Any]:
    arguments = call.arguments
    text = arguments.text("expression")
    is_statement = arguments.text("context", "") == "repl"
    place = None
    if arguments.has("frameId"):
        place = places.find_stopped(call, arguments.integer("frameId"))
    found: List[Any] = []
    code = _compile(text) if place is None else None

    def work() -> Any:
        value = run_tree(parse(text, is_statement), place) if code is None \
            else eval(code, places.main_names())
        if value is not evaluation.NOTHING:
            found.append(value)
        return value

    told = run(call, place, text, work)
    check(told)
    answer = {"result": told["value"] or "", "output": told["output"],
              "variablesReference": 0}
    if found and told["type"] is not None:
        answer["type"] = told["type"]
        answer.update(refer(call.session, found[0], _expression(text, code),
                            place))
    return answer


def _expression(text: str, code: Optional[types.CodeType]) -> Optional[str]:
    """Of the value of that text. None: it is none."""
    text = text.strip()
    if len(text) > EXPRESSION_MAXIMUM:
        return None
    if _SIMPLE.match(text):
        return text
    if code is None:
        try:
            ast.parse(text, mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    return "(%s)" % text


def _cancel(call: Call) -> None:
    """One that has ended meanwhile, or that is none of code, goes on."""
    jobs = _jobs(call.session)
    number = call.arguments.integer("requestId", -1)
    job = jobs.jobs.get(number)
    if job is None:
        jobs.early.append(number)
        job = jobs.jobs.get(number)
    if job is not None:
        call.context.evaluator.cancel(job)


ROWS = (
    Row("cancel", _cancel, True, {"supportsCancelRequest": True}),
    Row("evaluate", _evaluate, False, {"supportsEvaluateForHovers": True}),
)
