"""The debugger state of one process: its rank, its sockets, its stops.

A Process exists only if the debugger is enabled. A forked child starts without
one; the inherited sockets and locks stay the parent's. Errors are printed to
standard error, and the program continues as it would without the debugger.
"""
from __future__ import annotations

import atexit
import contextlib
import os
import stat
import sys
import threading
import time
import traceback
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Tuple,
)

from . import endpoints, files, holds, identity, settings
from .channel import Channel
from .settings import describe, tell, visible

if TYPE_CHECKING:
    from types import FrameType

    from .prompt import RankPdb

PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
BANNER_LINES_MAXIMUM = 200
LOOK_SECONDS = 0.1


class Story(NamedTuple):
    """Why a thread stops."""

    what: str  # "raised RuntimeError: boom"; "": the location is shown instead
    details: str  # lines for the greeting of clients
    lease: float


def _stack_of(error: BaseException) -> str:
    """Returns the traceback text of error and of the exceptions that led to
    it, without frames of probetui."""
    try:
        told = traceback.TracebackException(type(error), error,
                                            error.__traceback__)
        part: Optional[traceback.TracebackException] = told
        while part is not None:
            part.stack[:] = [frame for frame in part.stack
                             if not frame.filename.startswith(PACKAGE)]
            part = part.__cause__ or part.__context__
        lines = "".join(told.format()).splitlines()
    except Exception as problem:
        return "(the traceback cannot be formatted: %s)\n" % describe(problem)
    if len(lines) > BANNER_LINES_MAXIMUM:
        left_out = len(lines) - BANNER_LINES_MAXIMUM
        half = BANNER_LINES_MAXIMUM // 2
        lines[half:-half] = ["... %d lines ..." % left_out]
    return "".join(visible(line) + "\n" for line in lines)


def _place_of(frame: Optional[FrameType]) -> str:
    if frame is None:
        return "?"
    return "%s:%s" % (os.path.basename(frame.f_code.co_filename),
                      frame.f_lineno)


class _Terminal(NamedTuple):
    stdin: Any
    stdout: Any


class _Pipe:
    """Reads lines of standard input byte by byte. Ranks share the pipe, so no
    byte after the newline may be read."""

    encoding = "utf-8"
    errors = "replace"

    def readline(self, _: int = -1) -> str:
        line = bytearray()
        while not line.endswith(b"\n"):
            byte = os.read(0, 1)
            if not byte:
                break
            line += byte
        return line.decode("utf-8", "replace")

    def isatty(self) -> bool:
        return False


def _is_pipe() -> bool:
    mode = os.fstat(0).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISREG(mode)


def _open_terminal() -> Optional[_Terminal]:
    """Returns standard input if it is a terminal or a pipe, else /dev/tty;
    None if none of them can be opened."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        if sys.stdin.isatty() and sys.stdout.isatty():
            return _Terminal(None, None)
        if sys.stdin.isatty():
            name = os.ttyname(sys.stdin.fileno())
            return _Terminal(sys.stdin, open(name, "w"))
    with contextlib.suppress(OSError):
        if _is_pipe():
            return _Terminal(_Pipe(), sys.stdout)
    with contextlib.suppress(OSError):
        return _Terminal(open("/dev/tty"), open("/dev/tty", "w"))
    return None


class Process:
    def __init__(self, given: settings.Settings) -> None:
        self.settings = given
        self.mode = ""  # the debug_mode for which the settings were read
        self.identity = identity.find()
        self._seat = threading.RLock()
        self._local = threading.local()
        self._channel: Optional[Channel] = None
        self._terminal: Optional[_Terminal] = None
        self._files: Optional[files.JobFiles] = None
        self._counts: Dict[str, int] = {}
        self._is_stopped = False
        self._name = ""  # address at which clients connect
        self._open_files()

    def _open_files(self) -> None:
        try:
            self._files = files.JobFiles(
                files.default_folder(), self.identity.job, self.identity.rank)
        except (files.FolderError, OSError) as error:
            self._files = None
            tell(str(error))

    def _refresh(self) -> None:
        """Reads the rank again: some programs set their rank after their
        start."""
        found = identity.find()
        if found == self.identity or self._is_stopped:
            return
        self.close()
        self.identity = found
        self._local = threading.local()
        self._open_files()

    def use(self, mode: str) -> None:
        """Switches to another mode from the next stop on. Raises SettingError
        if the mode does not exist."""
        if mode == self.mode or self._is_stopped:
            return
        given = settings.read(mode)
        if mode == "web":
            tell("IPDB_MODE=web is not implemented yet: pdb waits on a socket")
        if self.mode and given != self.settings:
            self._shut_channel()
            self._terminal = None
            self._local = threading.local()
        self.settings = given
        self.mode = mode

    def _shut_channel(self) -> None:
        if self._channel is not None:
            with _quiet_claims(self._files):
                self._channel.shut()
            self._channel = None

    def close(self) -> None:
        self._shut_channel()
        if self._files is not None:
            self._files.close()
            self._files = None

    def forget(self) -> None:
        """In a forked child: closes the copies of sockets and lock files."""
        if self._channel is not None:
            self._channel.forget()
        if self._files is not None:
            self._files.forget()

    # Stops.

    def is_stopped(self) -> bool:
        """True if a thread of this process waits in pdb."""
        return self._is_stopped

    def is_at_prompt(self) -> bool:
        """True if this thread is executing a command of a pdb prompt."""
        return bool(getattr(self._local, "is_at_prompt", False))

    def stop(self, frame: FrameType, chosen: Optional[List[int]], hold: bool,
             lease: Any) -> None:
        """Stops the calling thread, or waits for the ranks that stop.
        set_trace() must be the last call here: pdb would step into anything
        after it."""
        if self.is_at_prompt():
            return
        self._refresh()
        # The rank has continued from its previous breakpoint.
        self.went_on()
        length = self._lease(lease)
        mark = None
        if chosen is not None and hold:
            mark = self._count(frame, chosen)
        if chosen is not None and self.identity.rank not in chosen:
            if mark is not None and self._files is not None:
                holds.Hold(self._files, self.identity, mark[0], mark[1],
                           length).wait(chosen)
            return
        self._local.mark = mark
        prompt = self._prompt()
        if prompt is None:
            self.went_on()
            return
        self._local.story = Story("", "", length)
        self._local.is_new = True
        if getattr(sys.gettrace(), "__self__", None) is prompt:
            # This prompt is already tracing the thread, because of its
            # breakpoints, and would stop inside set_trace().
            sys.settrace(None)
        prompt.set_trace(frame)

    def post_mortem(self, error: BaseException, lease: Any) -> None:
        """Runs a post-mortem pdb. Returns when the exception is to propagate.
        """
        if self.is_at_prompt():
            return
        self._refresh()
        prompt = self._prompt()
        if prompt is None:
            return
        before = getattr(self._local, "story", None)
        self._local.story = Story("raised " + describe(error),
                                  _stack_of(error), self._lease(lease))
        self._local.is_new = True
        try:
            prompt.post_mortem(error)
        finally:
            self._local.story = before

    def console_post_mortem(self, frame: FrameType, error: BaseException,
                            rank: int, lease: Any) -> None:
        """Runs a post-mortem pdb in the rank `rank`; the other ranks of the
        machine wait until it continues."""
        if self.is_at_prompt():
            return
        self._refresh()
        self.went_on()
        mark = self._count(frame, [rank])
        if self.identity.rank != rank:
            if self._files is not None:
                holds.Hold(self._files, self.identity, mark[0], mark[1],
                           self._lease(lease)).wait([rank])
            return
        self._local.mark = mark
        try:
            self.post_mortem(error, lease)
        finally:
            self.went_on()

    def _lease(self, given: Any) -> float:
        try:
            return self.settings.lease if given is None \
                else settings.seconds(given)
        except settings.SettingError as error:
            tell(str(error))
            return self.settings.lease

    def _count(self, frame: FrameType, ranks: List[int]) -> Tuple[str, int]:
        """Returns a name for the breakpoint, and how often this rank has
        reached it."""
        place = "%s:%d %s" % (frame.f_code.co_filename, frame.f_lineno, ranks)
        self._counts[place] = self._counts.get(place, 0) + 1
        return place, self._counts[place]

    def went_on(self) -> bool:
        """Marks the breakpoint as passed, which resumes the ranks that wait
        for this rank. Returns False if no rank waits."""
        mark = getattr(self._local, "mark", None)
        self._local.mark = None
        if mark is None or self._files is None:
            return False
        self._files.mark_done(*mark)
        return True

    def _end_step(self, prompt: RankPdb) -> None:
        mark = getattr(self._local, "mark", None)
        if mark is None or self._files is None:
            return
        if self._files.end_step(mark[0]) > holds.STEP_SECONDS:
            # Ranks that reach the breakpoint later must not wait either.
            self.went_on()
            prompt.message("the other ranks no longer wait for this rank: the "
                           "step took longer than %s"
                           % settings.duration(holds.STEP_SECONDS))

    def _begin_step(self) -> None:
        mark = getattr(self._local, "mark", None)
        if mark is not None and self._files is not None:
            self._files.begin_step(*mark)

    def _prompt(self) -> Any:
        """Returns the RankPdb of this thread; None if no client or terminal
        can reach it."""
        if not self._open():
            return None
        prompt = getattr(self._local, "prompt", None)
        if prompt is None:
            from .prompt import RankPdb

            if self._terminal is not None:
                prompt = RankPdb(self, *self._terminal)
            else:
                prompt = RankPdb(self, self._channel, self._channel)
            self._local.prompt = prompt
        return prompt

    def _open(self) -> bool:
        with self._seat:
            if self.settings.mode == "console":
                if self._terminal is None:
                    self._terminal = _open_terminal()
                if self._terminal is None:
                    tell("rank %d has no terminal for pdb, and continues: set "
                         "IPDB_MODE=socket, which needs none"
                         % self.identity.rank)
                return self._terminal is not None
            if self._channel is None:
                self._listen()
            return self._channel is not None

    def _listen(self) -> None:
        folder = files.default_folder()
        try:
            if self._files is None and self.settings.prefix is None \
                    and not self.settings.is_tcp:
                files.secure(folder)
            listening = endpoints.listen(
                self.settings, self.identity.rank, folder,
                self._files.claims if self._files else None)
            self._channel = Channel(self.settings, listening)
            self._name = listening[0].name()
        except (endpoints.EndpointError, files.FolderError, OSError) as error:
            tell("rank %d cannot wait in pdb, and continues: %s"
                 % (self.identity.rank, error))

    @contextlib.contextmanager
    def stopped(self, prompt: RankPdb,
                frame: Optional[FrameType]) -> Iterator[None]:
        """Context manager around a pdb prompt; one thread of the process at a
        time."""
        if not self._seat.acquire(blocking=False):
            tell("rank %d: thread %s waits until another thread has left pdb"
                 % (self.identity.rank, threading.current_thread().name))
            self._seat.acquire()
        try:
            self._local.is_at_prompt = self._is_stopped = True
            self._end_step(prompt)
            story = self._local.story
            what = story.what or "stopped at " + _place_of(frame)
            if self._channel is None:
                context = self._on_terminal(what)
            else:
                context = self._on_channel(self._channel, story, what)
            with context:
                yield
        finally:
            self._begin_step()
            self._local.is_at_prompt = self._is_stopped = False
            self._seat.release()

    @contextlib.contextmanager
    def _on_channel(self, channel: Channel, story: Story,
                    what: str) -> Iterator[None]:
        is_new = self._local.is_new
        self._local.is_new = False
        sentence = "rank %d %s and waits in pdb at %s" % (
            self.identity.rank, what, self._name)
        channel.begin(self._greeting(channel, story, what), story.lease,
                      is_new)
        if self._files is not None:
            self._files.put_notice(sentence)
        try:
            if is_new or not channel.has_client():
                tell("%s: connect with probetui, or nc %s%s; without a "
                     "command, the rank continues in %s" % (
                    sentence, "" if self.settings.is_tcp else "-U ",
                    self._name, settings.duration(story.lease)))
            yield
        finally:
            channel.end()
            if self._files is not None:
                self._files.take_notice()

    def _greeting(self, channel: Channel, story: Story,
                  what: str) -> Callable[[], str]:
        of = "" if self.identity.size is None else " of %d" % \
            self.identity.size
        thread = threading.current_thread().name

        def greeting() -> str:
            lines = ["", "probetui: rank %d%s, process %d on %s, %s: %s" % (
                self.identity.rank, of, os.getpid(), os.uname().nodename,
                thread, what)]
            if self._files is not None:
                lines += ["Also stopped: %s" % visible(notice)
                          for notice in self._files.notices()]
            if getattr(self._local, "mark", None) is not None:
                lines.append("The other ranks wait until this rank continues, "
                             "or takes longer than %s for a step; the command "
                             "release resumes them."
                             % settings.duration(holds.STEP_SECONDS))
            left = channel.lease_until - time.monotonic()
            lines.append("Without a command, the rank continues in %s (each "
                         "command resets this to %s). Disconnect to leave it "
                         "stopped."
                         % (settings.duration(left),
                            settings.duration(channel.lease)))
            return "\n".join(lines) + "\n" + story.details

        return greeting

    @contextlib.contextmanager
    def _on_terminal(self, what: str) -> Iterator[None]:
        """Waits for the terminal that all ranks of the machine share, and uses
        it."""
        self._local.is_new = False
        turn = self._files.terminal() if self._files else None
        while turn is not None and not turn.take():
            time.sleep(LOOK_SECONDS)
        try:
            tell("rank %d %s" % (self.identity.rank, what))
            if self._files is not None:
                self._files.put_notice("rank %d %s and waits in pdb on the "
                                       "terminal"
                                       % (self.identity.rank, what))
            yield
        finally:
            if self._files is not None:
                self._files.take_notice()
            if turn is not None:
                turn.release()


@contextlib.contextmanager
def _quiet_claims(job: Optional[files.JobFiles]) -> Iterator[None]:
    """Holds the lock for socket names, if the job has one, while the names are
    removed."""
    try:
        if job is not None:
            job.claims.wait()
    except OSError:
        pass
    try:
        yield
    finally:
        if job is not None:
            job.claims.release()


def _choose(ranks: Any) -> Optional[List[int]]:
    if ranks is None:
        return None
    try:
        chosen = [ranks] if isinstance(ranks, int) else list(ranks)
        return sorted({int(rank) for rank in chosen})
    except (TypeError, ValueError):
        raise TypeError("ranks must be a rank, a list of ranks, or None for "
                        "all, not %s" % ascii(ranks)[:80]) from None


_process: Optional[Process] = None
_is_registered = False


def _close() -> None:
    if _process is not None:
        with contextlib.suppress(Exception):
            _process.close()


def _forget() -> None:
    global _process
    if _process is not None:
        with contextlib.suppress(Exception):
            _process.forget()
    _process = None


def _register() -> None:
    global _is_registered
    if not _is_registered:
        _is_registered = True
        atexit.register(_close)
        os.register_at_fork(after_in_child=_forget)


def begin(mode: Optional[str] = None) -> Optional[Process]:
    """Returns the Process of this process, set to `mode` (default:
    Debugger.debug_mode). Returns None if the settings in the environment are
    wrong: a sentence is printed, and debugging is disabled."""
    global _process
    from . import Debugger

    if not Debugger.debug_flag:
        return _process
    mode = mode or Debugger.debug_mode
    if _process is None or _process.mode != mode:
        try:
            if _process is None:
                _process = Process(settings.read(mode))
            _process.use(mode)
            _register()
        except settings.SettingError as error:
            Debugger.debug_flag = False
            tell("debugging is off: %s" % error)
            return None
        except Exception as problem:
            Debugger.debug_flag = False
            tell("debugging is off: %s" % describe(problem))
            return None
    return _process


def stop(frame: FrameType, ranks: Any, hold: bool, lease: Any) -> None:
    chosen = _choose(ranks)
    process = begin()
    if process is None:
        return
    try:
        process.stop(frame, chosen, hold, lease)
    except Exception as problem:
        process.went_on()
        tell("the stop failed, and the program continues: %s"
             % describe(problem))


def offer(error: BaseException, lease: Any) -> None:
    """Runs a post-mortem pdb for an exception that leaves a decorated
    function."""
    process = begin()
    if process is None:
        return
    try:
        process.post_mortem(error, lease)
    except Exception as problem:
        tell("the stop failed, and the exception propagates: %s"
             % describe(problem))


def console_post_mortem(frame: FrameType, error: Optional[BaseException],
                        rank: Any, lease: Any) -> None:
    chosen = _choose(rank)
    if error is None:
        tell("blocking_console_post_mortem needs an exception: call it in an "
             "except block")
        return
    try:
        process = begin("console")
        if process is not None:
            process.console_post_mortem(
                frame, error, chosen[0] if chosen else 0, lease)
    except Exception as problem:
        tell("the stop failed, and the program continues: %s"
             % describe(problem))
