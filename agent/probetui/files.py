"""Files by which the ranks of a machine know of each other.

They lie in /tmp/pdb-UID, which is the user's alone:

    RANK.sock             where that rank's pdb listens (endpoints.py)
    JOB.ranks/RANK        locked by that rank while it lives
    JOB.ranks/RANK.done   how often it went on from which breakpoint
    JOB.ranks/RANK.step   since when it steps from which breakpoint
    JOB.ranks/terminal    locked by the rank that has the terminal
    JOB.holding/RANK      locked while it waits in pdb: a sentence on why

The locks are POSIX's: they end with their process, and a fork has none. A
file that no process has locked is left over from a process that was killed;
the next agent that starts removes it.
"""
from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import stat
import threading
import time
from typing import Any, Dict, Iterator, List, Optional, Tuple

TEXT_MAXIMUM = 65536
# File times are those of the last tick of the clock.
START_SECONDS = 0.1
LIMIT_SECONDS = 0.1
CLAIM_SECONDS = 5.0


class FolderError(Exception):
    """A sentence that says why the folder is not used."""


class FileError(Exception):
    """A sentence that says why the file is not read."""


def read_whole(path: str, maximum: int, may_be_empty: bool) -> bytes:
    """A regular file. Others may never have an end, or not even a beginning;
    /proc/kmsg and its like have no size, and wait for what is to be in them.
    CPython opens the file of a SyntaxError once more by its name, and has the
    GIL while it reads that. OSError, ValueError: it cannot be opened."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(fd, "rb") as file:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise FileError("%s is no regular file" % path)
        if status.st_size == 0 and not may_be_empty:
            raise FileError("%s is empty, or has no size" % path)
        if status.st_size > maximum:
            raise FileError("%s has more than %d bytes" % (path, maximum))
        return file.read(status.st_size)


def default_folder() -> str:
    return "/tmp/pdb-%d" % os.geteuid()


def _is_safe(path: str) -> bool:
    """Whether nobody but the user and root can take a folder of the user's
    away there and put another one in its place."""
    status = os.stat(path)
    return stat.S_ISDIR(status.st_mode) and \
        status.st_uid in (0, os.geteuid()) and bool(
            not status.st_mode & 0o022 or status.st_mode & stat.S_ISVTX)


def _private_folder(base: str) -> str:
    """One of the user's own from an earlier time, or a new one: others cannot
    know its name before."""
    prefix = "pdb-%d-" % os.geteuid()
    for name in os.listdir(base):
        path = os.path.join(base, name)
        if not name.startswith(prefix):
            continue
        with contextlib.suppress(OSError, FolderError):
            if os.lstat(path).st_uid == os.geteuid():
                secure(path)
                return path
    path = os.path.join(base, prefix + os.urandom(8).hex())
    secure(path)
    return path


def fallback_folders() -> Iterator[str]:
    """Where another user has the default one, or there can be none. Discovery
    finds what listens there by /proc/PID/net/unix."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    with contextlib.suppress(OSError, ValueError, FolderError):
        if os.path.isabs(runtime) and _is_safe(runtime):
            path = os.path.join(runtime, "pdb-%d" % os.geteuid())
            secure(path)
            yield path
    for base in ("/tmp", "/var/tmp", "/dev/shm"):
        with contextlib.suppress(OSError, FolderError):
            if _is_safe(base):
                yield _private_folder(base)


def secure(path: str) -> None:
    """Makes the folder, or sees that it is the user's and nobody else's."""
    try:
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            pass
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            status = os.fstat(fd)
        finally:
            os.close(fd)
    except OSError as error:
        raise FolderError("%s is not a folder that can be used: %s"
                          % (path, error.strerror)) from error
    if status.st_uid != os.geteuid():
        raise FolderError("%s belongs to the user %d; it is not used, as he "
                          "could put his own sockets there"
                          % (path, status.st_uid))
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise FolderError("others can get into %s (mode %o); chmod 700 it"
                          % (path, stat.S_IMODE(status.st_mode)))


def _is_same(fd: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), os.lstat(path))
    except OSError:
        return False


class Lock:
    """A file that is locked while this process keeps it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._fd = -1

    def take(self) -> bool:
        """False: another process has it."""
        # Others have it for a moment when they look whether it is locked.
        deadline = time.monotonic() + LIMIT_SECONDS
        while self._fd < 0:
            try:
                fd = os.open(self.path, os.O_RDWR | os.O_NOFOLLOW)
            except FileNotFoundError:
                self._fd = self._make()
                continue
            try:
                fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                os.close(fd)
                if error.errno not in (errno.EACCES, errno.EAGAIN):
                    raise
                if time.monotonic() > deadline:
                    return False
                time.sleep(LIMIT_SECONDS / 20)
                continue
            # It may have been removed as left over before it was locked.
            if _is_same(fd, self.path):
                self._fd = fd
            else:
                os.close(fd)
        return True

    def _make(self) -> int:
        """Makes the file, which nobody sees before it is locked: unlocked it
        would tell of one that has died. -1: another was faster."""
        fresh = "%s.%d.%d" % (self.path, os.getpid(), threading.get_ident())
        fd = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.link(fresh, self.path)
        except OSError as error:
            os.close(fd)
            if error.errno != errno.EEXIST:
                raise
            return -1
        finally:
            os.unlink(fresh)
        return fd

    def wait(self) -> None:
        """Takes it. Others keep it for a moment, unless they were stopped in
        it: OSError."""
        limit = time.monotonic() + CLAIM_SECONDS
        while not self.take():
            if time.monotonic() > limit:
                raise OSError(errno.ETIMEDOUT,
                              "another process keeps %s" % self.path)

    def write(self, text: str) -> None:
        data = text.encode("utf-8", "backslashreplace")
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, data, 0)

    def release(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def remove(self) -> None:
        """Takes the file away too."""
        if self._fd >= 0 and _is_same(self._fd, self.path):
            os.unlink(self.path)
        self.release()

    def forget(self) -> None:
        """In a process that was forked: the lock is its parent's."""
        self.release()


def is_locked(path: str, removes: bool = False) -> bool:
    """Whether another process keeps it; else it may be removed.
    Not for files that this process has locked: it would lose them."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if removes and _is_same(fd, path):
            os.unlink(path)
        return False
    except OSError as error:
        return error.errno in (errno.EACCES, errno.EAGAIN)
    finally:
        os.close(fd)


def read_text(path: str) -> str:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            return os.read(fd, TEXT_MAXIMUM).decode("utf-8", "replace")
        finally:
            os.close(fd)
    except OSError:
        return ""


def _remove_folder(path: str) -> None:
    try:
        os.rmdir(path)
    except OSError:
        pass


def sweep(path: str) -> None:
    """Removes a folder of a job of which no rank lives. Not for one in which
    this process has locked a file."""
    try:
        names = os.listdir(path)
        paths = [os.path.join(path, name) for name in names]
        # Of a job that lives, files tell who has died.
        if any(is_locked(name) for name in paths):
            return
        for name in paths:
            is_locked(name, removes=True)
    except OSError:
        pass
    _remove_folder(path)


class JobFiles:
    """This rank's files, and what those of the others say."""

    def __init__(self, folder: str, job: str, rank: int) -> None:
        """FolderError: there can be none."""
        secure(folder)
        self.folder = folder
        self.rank = rank
        self.claims = Lock(os.path.join(folder, ".lock"))
        self._ranks = os.path.join(folder, job + ".ranks")
        self._holding = os.path.join(folder, job + ".holding")
        self._begun = time.time() - START_SECONDS
        for name in sorted(os.listdir(folder)):
            if name.endswith((".ranks", ".holding")) and \
                    not name.startswith(job + "."):
                sweep(os.path.join(folder, name))
        # None: a child of the rank, with its environment, has it not.
        self._life = self._begin()
        self._notice: Optional[Lock] = None
        self._counts: Dict[str, int] = {}
        self._steps: Dict[str, Tuple[int, float]] = {}
        if self.is_rank:
            # Of an earlier start of the job.
            with contextlib.suppress(OSError):
                os.unlink(self._path(rank, ".step"))

    def _begin(self) -> Optional[Lock]:
        life = Lock(self._path(self.rank))
        while True:
            secure(self._ranks)
            try:
                return life if life.take() else None
            except FileNotFoundError:
                # Another rank ended, and took the empty folder away.
                pass
            except OSError as error:
                raise FolderError("%s cannot be made: %s"
                                  % (life.path, error.strerror)) from error

    def _path(self, rank: int, suffix: str = "") -> str:
        return os.path.join(self._ranks, "%d%s" % (rank, suffix))

    @property
    def is_rank(self) -> bool:
        """False in a process that only has a rank's environment."""
        return self._life is not None

    def lives(self, rank: int) -> bool:
        return is_locked(self._path(rank))

    def count_done(self, rank: int, place: str) -> int:
        """How often that rank went on from the breakpoint, also when it has
        ended since. Of an earlier start of the job: not counted."""
        path = self._path(rank, ".done")
        try:
            if os.stat(path).st_mtime < self._begun:
                return 0
            return int(json.loads(read_text(path)).get(place, 0))
        except (OSError, ValueError, TypeError, AttributeError):
            return 0

    def mark_done(self, place: str, count: int) -> None:
        if not self.is_rank:
            return
        self._counts[place] = count
        self._write(".done", self._counts)
        self.end_step(place)

    def _write(self, suffix: str, value: Any) -> None:
        path = self._path(self.rank, suffix)
        temporary = "%s.%d" % (path, os.getpid())
        try:
            fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC
                         | os.O_NOFOLLOW, 0o600)
            with os.fdopen(fd, "w") as file:
                json.dump(value, file)
            os.replace(temporary, path)
        except OSError:
            pass

    def begin_step(self, place: str, count: int) -> None:
        """This rank runs a step from the breakpoint, where others hold."""
        if self.is_rank:
            self._steps[place] = count, time.monotonic()
            self._write(".step", self._steps)

    def end_step(self, place: str) -> float:
        """How many seconds it lasted."""
        step = self._steps.pop(place, None)
        if step is None:
            return 0.0
        self._write(".step", self._steps)
        return time.monotonic() - step[1]

    def step_seconds(self, rank: int, place: str, count: int) -> float:
        """How long that rank has been in a step from the breakpoint. The
        clock is the same for all processes of a machine."""
        now = time.monotonic()
        try:
            told = json.loads(read_text(self._path(rank, ".step")))
            number, since = told[place]
            if int(number) < count:
                return 0.0
            return now - float(since)
        except (KeyError, ValueError, TypeError):
            return 0.0

    def put_notice(self, sentence: str) -> None:
        """Tells the others that this rank waits in pdb."""
        if self._notice is not None or not self.is_rank:
            return
        try:
            secure(self._holding)
            notice = Lock(os.path.join(self._holding, str(self.rank)))
            if notice.take():
                notice.write(sentence + "\n")
                self._notice = notice
        except (OSError, FolderError):
            pass

    def take_notice(self) -> None:
        if self._notice is not None:
            try:
                self._notice.remove()
            except OSError:
                self._notice.release()
            self._notice = None
            _remove_folder(self._holding)

    def holds(self, rank: int) -> bool:
        """Whether that rank waits in pdb."""
        return is_locked(os.path.join(self._holding, str(rank)))

    def has_died(self, rank: int) -> bool:
        """It has left files of this start of the job behind, which nobody
        keeps."""
        for path in (self._path(rank), os.path.join(self._holding, str(rank))):
            try:
                if os.stat(path).st_mtime >= self._begun \
                        and not is_locked(path):
                    return True
            except OSError:
                pass
        return False

    def notices(self) -> List[str]:
        """Why other ranks wait."""
        try:
            names = os.listdir(self._holding)
        except OSError:
            return []
        ranks = sorted(int(name) for name in names if name.isdigit())
        paths = [os.path.join(self._holding, str(rank)) for rank in ranks
                 if rank != self.rank]
        return [read_text(path).strip() for path in paths if is_locked(path)]

    def terminal(self) -> Lock:
        """Whose turn it is at the terminal that all ranks share."""
        return Lock(os.path.join(self._ranks, "terminal"))

    def close(self) -> None:
        """Takes away what is ours; the last rank also takes what others need
        of it until then."""
        self.take_notice()
        if self._life is not None:
            try:
                self._life.remove()
            except OSError:
                self._life.release()
            self._life = None
            sweep(self._ranks)

    def forget(self) -> None:
        for lock in (self._life, self._notice):
            if lock is not None:
                lock.forget()
        self._life = self._notice = None
