"""The pdb of a rank: pdb.Pdb that reads and writes a channel or a terminal,
and leaves no changes in the program."""
from __future__ import annotations

import bdb
import code
import contextlib
import os
import pdb
import sys
import types
from typing import Any, Dict, Iterator, List, Optional, Tuple

from .channel import LeaseEnded
from .settings import describe, tell
from .values import chain

PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
# Since 3.13, pdb has the command `exceptions` for chained exceptions.
HAS_CHAIN = hasattr(pdb.Pdb, "_get_tb_and_exceptions")
OWN_VARIABLES = "__pdb_convenience_variables"


def is_ours(frame: types.FrameType) -> bool:
    return frame.f_code.co_filename.startswith(PACKAGE)


class _Interpreter(code.InteractiveConsole):
    """pdb's command interact, reading from and writing to the channel."""

    def __init__(self, prompt: RankPdb, names: Dict[str, Any]) -> None:
        super().__init__(names)
        self._prompt = prompt

    def raw_input(self, prompt: str = "") -> str:
        self._prompt.stdout.write(prompt)
        line = self._prompt.stdin.readline()
        if not line:
            raise EOFError
        return line.rstrip("\n")

    def write(self, data: str) -> None:
        self._prompt.stdout.write(data)

    def runcode(self, code_object: types.CodeType) -> None:
        # Redirect stdin and stdout, as pdb does while it executes other
        # commands.
        streams = sys.stdin, sys.stdout
        sys.stdin, sys.stdout = self._prompt.stdin, self._prompt.stdout
        try:
            super().runcode(code_object)
        finally:
            sys.stdin, sys.stdout = streams


class RankPdb(pdb.Pdb):
    """The pdb of one thread; a Process keeps it in thread-local storage. Code
    that inspects a debugger object recognises this class by
    `probetui_dialect`."""

    probetui_dialect = "probetui"
    # Attributes of pdb.Pdb.
    curframe: Any
    displaying: Dict[Any, Any]

    def __init__(self, process: Any, stdin: Any, stdout: Any,
                 is_nested: bool = False) -> None:
        self.is_nested = is_nested
        super().__init__(stdin=stdin, stdout=stdout, nosigint=True,
                         readrc=False)
        self.reset()
        self.prompt = "(rank-%d-pdb) " % process.identity.rank
        self.process = process
        self.is_post_mortem = False
        self.exception: Optional[BaseException] = None
        self._is_inside = False
        self._before: List[str] = []
        if not HAS_CHAIN:
            self._chained_exceptions: Tuple[BaseException, ...] = ()
            self._chained_exception_index = 0

    @property
    def lease_until(self) -> Optional[float]:
        """The time.monotonic() at which the rank continues by itself; None: on
        a terminal."""
        until: Optional[float] = getattr(self.stdin, "lease_until", None)
        return until

    # Begin and end of a stop.

    @contextlib.contextmanager
    def _stopped(self, frame: Any) -> Iterator[None]:
        with self.process.stopped(self, frame):
            self._is_inside = True
            try:
                for text in self._before:
                    self.stdout.write(text)
                self._before.clear()
                yield
            except LeaseEnded:
                self._go_on_by_itself()
            finally:
                self._is_inside = False
                self.forget()
                # Up to 3.12, this attribute keeps the frame's variables alive.
                self.__dict__.pop("curframe_locals", None)
                # Since 3.13, bdb keeps the stopped frame in this attribute.
                if not self.is_nested and sys.gettrace() is None:
                    self.enterframe = None

    def interaction(self, frame: Any, tb_or_exc: Any) -> None:
        if self.is_nested:
            super().interaction(frame, tb_or_exc)
        elif self._is_cut_off():
            self._let_go("has no socket, and continues")
        elif not self._is_inside:
            try:
                with self._stopped(frame):
                    super().interaction(frame, tb_or_exc)
            except bdb.BdbQuit:
                raise
            except Exception as problem:
                self._let_go("cannot wait in pdb, and continues: "
                             + describe(problem))

    def _is_cut_off(self) -> bool:
        """True if the channel is closed: in a forked child, or when the
        process has changed its rank."""
        return bool(getattr(self.stdin, "is_shut", False))

    def _let_go(self, why: str) -> None:
        tell("process %d, rank %d, %s" % (
            os.getpid(), self.process.identity.rank, why))
        self._before.clear()
        self.process.went_on()
        sys.settrace(None)

    def forget(self) -> None:
        # Since 3.12, pdb stores convenience variables, one of which is the
        # frame, in the globals of each frame that it selects, and removes only
        # the last ones.
        if not self.is_nested:
            for frame, _ in getattr(self, "stack", ()):
                frame.f_globals.pop(OWN_VARIABLES, None)
        super().forget()

    def bp_commands(self, frame: types.FrameType) -> Any:
        # Up to 3.13, pdb runs breakpoint commands, and their prompt, outside
        # of interaction().
        if self.is_nested or self._is_inside or self._is_cut_off() or \
                getattr(self, "currentbp", False) not in self.commands:
            return super().bp_commands(frame)
        result = None
        with self._stopped(frame):
            result = super().bp_commands(frame)
        return result

    def message(self, msg: Any, end: str = "\n") -> None:
        # pdb prints "--Return--" before the stop begins: keep it for the stop.
        if self._is_inside or self.is_nested:
            self.stdout.write("%s%s" % (msg, end))
        else:
            self._before.append("%s%s" % (msg, end))

    def post_mortem(self, error: BaseException) -> None:
        """Runs a post-mortem for error. Returns when the exception is to
        propagate."""
        trace = sys.gettrace()
        if getattr(trace, "__self__", None) is self:
            sys.settrace(None)
        self.exception = error
        self.is_post_mortem = True
        if not HAS_CHAIN:
            self._chained_exceptions = tuple(chain(error))
            self._chained_exception_index = len(self._chained_exceptions) - 1
        try:
            self.interaction(None, error if HAS_CHAIN else error.__traceback__)
        finally:
            self.is_post_mortem = False
            self.exception = None
            if not HAS_CHAIN:
                self._chained_exceptions = ()
            self.displaying.clear()
            if sys.gettrace() is not trace:
                sys.settrace(trace)

    def _go_on_by_itself(self) -> None:
        self.message("\nprobetui: no command within the lease: the rank "
                     "continues")
        self.forget()
        self.cmdqueue.clear()
        self.commands_defining = False
        self.set_continue()

    def _cmdloop(self) -> None:
        # pdb.Pdb handles Ctrl-C at its prompt. Here Ctrl-C is pressed in the
        # terminal of the launcher, to end the job.
        self.cmdloop()

    def set_continue(self) -> None:
        if self.is_post_mortem:
            return
        super().set_continue()
        if not self.is_nested:
            self.process.went_on()

    def set_quit(self) -> None:
        if self.is_post_mortem:
            return
        super().set_quit()
        if not self.is_nested:
            self.process.went_on()

    # Stack and stepping.

    def get_stack(self, f: Any, t: Any) -> Tuple[List[Any], int]:
        """Adds the callers of the function that caught the exception, and
        removes frames of probetui."""
        if f is None and t is not None and t.tb_frame.f_back is not None:
            callers, _ = super().get_stack(t.tb_frame.f_back, None)
            stack = callers + super().get_stack(None, t)[0]
            index = len(stack) - 1
        else:
            stack, index = super().get_stack(f, t)
        kept = [entry for entry in stack if not is_ours(entry[0])]
        if not kept:
            return stack, index
        hidden = sum(is_ours(entry[0]) for entry in stack[:index + 1])
        return kept, max(0, index - hidden)

    def stop_here(self, frame: types.FrameType) -> bool:
        return not is_ours(frame) and bool(super().stop_here(frame))

    def dispatch_return(self, frame: types.FrameType, arg: Any) -> Any:
        result = super().dispatch_return(frame, arg)
        # A step out of a decorated function must stop in the caller of the
        # decorator.
        caller = frame.f_back
        if not self.quitting and caller is not None and is_ours(caller):
            while caller is not None and is_ours(caller):
                caller = caller.f_back
            if caller is not None and caller.f_trace is None:
                caller.f_trace = self.trace_dispatch
        return result

    # Commands that differ from pdb's.

    def do_EOF(self, arg: str) -> Any:
        """EOF

        Continue the program; in a post-mortem, let the exception propagate.
        (Plain pdb would end the program.)
        """
        self.message("")
        return self.do_continue("")

    def do_run(self, arg: str) -> None:
        """run

        Not supported: a rank cannot be restarted from its own pdb.
        """
        self.error("a rank cannot be restarted from its own pdb: restart the "
                   "job")

    do_restart = do_run

    def do_clear(self, arg: str) -> None:
        """cl(ear) [filename:lineno | bpnumber ...]

        Clear the given breakpoints; without an argument, ask, and clear all.
        """
        if arg:
            super().do_clear(arg)
            return
        self.stdout.write("Clear all breaks? ")
        if self.stdin.readline().strip().lower() in ("y", "yes"):
            known = [point for point in bdb.Breakpoint.bpbynumber if point]
            self.clear_all_breaks()
            for point in known:
                self.message("Deleted %s" % point)

    do_cl = do_clear

    def do_release(self, arg: str) -> None:
        """release

        Resume the ranks that wait at this breakpoint; this rank stays
        stopped.
        """
        if self.process.went_on():
            self.message("the other ranks have resumed")
        else:
            self.message("no rank waits for this rank")

    def do_interact(self, arg: str) -> None:
        """interact

        Start an interactive interpreter whose global namespace contains all
        the (global and local) names found in the current scope.
        """
        names = dict(self.curframe.f_globals)
        names.update(self.curframe.f_locals)
        try:
            _Interpreter(self, names).interact(
                banner="*pdb interact start*",
                exitmsg="*exit from pdb interact command*")
        except SystemExit:
            self.message("*exit from pdb interact command*")

    def do_debug(self, arg: str) -> None:
        """debug code

        Enter a recursive debugger that steps through the code argument
        (which is an arbitrary expression or statement to be executed in the
        current environment).
        """
        if not arg:
            self.error("debug needs code to step through, for example: debug "
                       "f(1)")
            return
        trace = sys.gettrace()
        sys.settrace(None)
        nested = type(self)(self.process, self.stdin, self.stdout, True)
        nested.prompt = "(%s) " % self.prompt.strip()
        self.message("ENTERING RECURSIVE DEBUGGER")
        try:
            sys.call_tracing(nested.run, (arg, self.curframe.f_globals,
                                          self.curframe.f_locals))
        except LeaseEnded:
            raise
        except Exception as error:
            self.error("%s: %s" % (type(error).__name__, error))
        finally:
            sys.settrace(trace)
        self.message("LEAVING RECURSIVE DEBUGGER")
        self.lastcmd = nested.lastcmd

    if not HAS_CHAIN:

        def do_exceptions(self, arg: str) -> None:
            """exceptions [number]

            List or change current exception in an exception chain.
            """
            known = self._chained_exceptions
            if not known:
                self.message("Did not find chained exceptions. To move between"
                             " exceptions, pdb must be in post-mortem mode.")
            elif not arg:
                for i, error in enumerate(known):
                    self.message("%s %3d %r" % (
                        ">" if i == self._chained_exception_index else " ",
                        i, error))
            elif not arg.isdecimal() or int(arg) >= len(known):
                self.error("No exception with that number")
            elif known[int(arg)].__traceback__ is None:
                self.error("This exception does not have a traceback, cannot "
                           "jump to it")
            else:
                self._chained_exception_index = int(arg)
                self.setup(None, known[int(arg)].__traceback__)
                self.print_stack_entry(self.stack[self.curindex])


def _live_only(name: str) -> Any:
    """Returns a command that prints an error in a post-mortem, where nothing
    can be stepped. (pdb.Pdb treats these commands like continue there.)"""
    plain = getattr(pdb.Pdb, "do_" + name)

    def command(self: RankPdb, arg: str) -> Any:
        if self.is_post_mortem:
            self.error("%s is not possible in a post-mortem; continue lets "
                       "the exception propagate" % name)
            return None
        return plain(self, arg)

    command.__doc__ = plain.__doc__
    return command


for _names in (("next", "n"), ("step", "s"), ("until", "unt"),
               ("return", "r"), ("jump", "j")):
    for _name in _names:
        setattr(RankPdb, "do_" + _name, _live_only(_names[0]))
