"""The DAP requests evaluate and cancel: run code in an agent thread, or in a
stopped thread."""
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
# Expressions to which a suffix can be appended without parentheses.
_SIMPLE = re.compile(r"[\w.]+\Z")


def read_timeout(arguments: Arguments) -> float:
    try:
        return evaluation.read_timeout(arguments.number("timeout", None))
    except Refusal as refusal:
        raise Failure(str(refusal)) from None


class _Jobs(Kept):
    """The running evaluations of a session, by request number."""

    def __init__(self) -> None:
        self.jobs: Dict[int, Any] = {}
        # Numbers of cancel requests that arrived before their evaluation
        # began.
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
    """Runs function like Evaluator.run: in the stopped thread of `place`, or,
    if place is None, in this thread. `text` is logged."""
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
    """Runs agent code in this thread. It can be cancelled and times out;
    output of the program is not captured."""
    evaluator = call.context.evaluator
    with _jobs(call.session).running(call.number,
                                     evaluator) as begun:
        return evaluator.run(function, seconds,
                             call.context.connection.give_up, True, begun,
                             False)


def check(told: Dict[str, Any]) -> None:
    """Raises Failure if the evaluation failed."""
    error = told["error"]
    if error is not None:
        text = error["type"].replace("probetui.deadline.", "")
        if error["message"].startswith('File "<eval>"'):
            # A SyntaxError: its location is in the traceback.
            text = error["message"].rpartition("\n")[2]
        elif error["message"] == "the evaluation was cancelled":
            # The message that DAP specifies for a cancelled request.
            text = "cancelled"
        elif error["message"]:
            text += ": " + error["message"]
        raise Failure(text, traceback=error["traceback"],
                      output=told["output"])


def parse(text: str, is_statement: bool) -> ast.Module:
    """Returns the syntax tree. Called in the evaluating thread, so that a
    SyntaxError is reported like other exceptions of the code."""
    tree: Any = compile(text if is_statement else text.strip(), "<eval>",
                        "exec" if is_statement else "eval",
                        ast.PyCF_ONLY_AST, dont_inherit=True)
    return tree if is_statement else ast.Module([ast.Expr(tree.body)], [])


def _compile(text: str) -> Optional[types.CodeType]:
    """Compiles an expression, without a syntax tree. Returns None if text is
    no valid expression."""
    if text[:1].isspace():
        return None
    try:
        return compile(text, frames.NAME, "eval", dont_inherit=True)
    except Exception:
        return None


def run_tree(tree: ast.Module, place: Optional[places.Place],
             names: Optional[Dict[str, Any]] = None) -> Any:
    """Runs tree in the frame of `place`; without a place, in `names` or, if
    that is None, in the namespace of __main__."""
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
    """Returns text as an expression to which a suffix can be appended; None if
    it is no expression, or too long."""
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
    """Cancels an evaluation. Has no effect on one that has ended, or on
    requests that evaluate nothing."""
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
