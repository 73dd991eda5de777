"""Files by which the ranks of a machine find each other.

They are in /tmp/pdb-UID, which only the user can access:

    RANK.sock             socket of that rank's pdb (endpoints.py)
    JOB.ranks/RANK        locked by that rank while it lives
    JOB.ranks/RANK.done   how often it continued from each breakpoint
    JOB.ranks/RANK.step   since when it has been stepping, by breakpoint
    JOB.ranks/terminal    locked by the rank that uses the terminal
    JOB.holding/RANK      locked while it waits in pdb; contains the reason

The locks are POSIX record locks (fcntl(2)): the kernel releases them when the
process ends, and a forked child does not inherit them. A file that no process
has locked was left by a process that was killed; a rank that starts later
removes it.
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
# The kernel stamps files with the time of its last clock tick, which may be
# earlier than time.time().
START_SECONDS = 0.1
LIMIT_SECONDS = 0.1
CLAIM_SECONDS = 5.0


class FolderError(Exception):
    """A sentence that says why the folder cannot be used."""


class FileError(Exception):
    """A sentence that says why the file cannot be read."""


def read_whole(path: str, maximum: int, may_be_empty: bool) -> bytes:
    """Returns the content of a regular file. Other files may be endless or
    block: FIFOs, and files of /proc such as /proc/kmsg, which have size 0.
    CPython reads the file of a SyntaxError a second time, by name, and holds
    the GIL meanwhile. Raises FileError if the file is refused, OSError or
    ValueError if it cannot be opened."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(fd, "rb") as file:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise FileError("%s is not a regular file" % path)
        if status.st_size == 0 and not may_be_empty:
            raise FileError("%s has a size of 0 bytes" % path)
        if status.st_size > maximum:
            raise FileError("%s has more than %d bytes" % (path, maximum))
        return file.read(status.st_size)


def default_folder() -> str:
    return "/tmp/pdb-%d" % os.geteuid()


def _is_safe(path: str) -> bool:
    """True if only the user and root can rename or remove a folder of the user
    in path."""
    status = os.stat(path)
    return stat.S_ISDIR(status.st_mode) and \
        status.st_uid in (0, os.geteuid()) and bool(
            not status.st_mode & 0o022 or status.st_mode & stat.S_ISVTX)


def _private_folder(base: str) -> str:
    """Returns a private folder of this user in base: one that an earlier
    process made, or a new one with a random name, which others cannot create
    first."""
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
    """Yields folders to use when another user owns the default folder or it
    cannot be made. probetui finds sockets there by /proc/PID/net/unix."""
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
    """Makes the folder with mode 0700, or checks that it belongs to the user
    and nobody else can access it. Raises FolderError."""
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
        raise FolderError("the folder %s cannot be used: %s"
                          % (path, error.strerror)) from error
    if status.st_uid != os.geteuid():
        raise FolderError("the folder %s is not used: its owner, user %d, "
                          "could put other sockets there"
                          % (path, status.st_uid))
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise FolderError("other users have access to %s (mode %o): set its "
                          "mode to 700" % (path, stat.S_IMODE(status.st_mode)))


def _is_same(fd: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), os.lstat(path))
    except OSError:
        return False


class Lock:
    """A file that this process keeps locked between take() and release()."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._fd = -1

    def take(self) -> bool:
        """Takes the lock. Returns False if another process has it."""
        # Retry for LIMIT_SECONDS: is_locked() of other processes takes the
        # lock for a moment.
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
            # Another process may have removed the file as left over between
            # open() and lockf().
            if _is_same(fd, self.path):
                self._fd = fd
            else:
                os.close(fd)
        return True

    def _make(self) -> int:
        """Makes the file, already locked, and links it to its path: a file
        without a lock would look like that of a process that has died. Returns
        -1 if another process made the file first."""
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
        """Takes the lock; waits up to CLAIM_SECONDS. Raises OSError
        (ETIMEDOUT) if another process keeps it, for example because it was
        stopped meanwhile."""
        limit = time.monotonic() + CLAIM_SECONDS
        while not self.take():
            if time.monotonic() > limit:
                raise OSError(errno.ETIMEDOUT,
                              "another process holds the lock %s" % self.path)

    def write(self, text: str) -> None:
        data = text.encode("utf-8", "backslashreplace")
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, data, 0)

    def release(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def remove(self) -> None:
        """Removes the file and releases the lock."""
        if self._fd >= 0 and _is_same(self._fd, self.path):
            os.unlink(self.path)
        self.release()

    def forget(self) -> None:
        """In a forked child: closes the descriptor; the lock belongs to the
        parent."""
        self.release()


def is_locked(path: str, removes: bool = False) -> bool:
    """Returns whether another process has locked path. If not, and with
    `removes`, the file is removed. Must not be called for a file that this
    process has locked: closing any descriptor of the file releases its POSIX
    locks."""
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
    """Removes a job's folder if none of its ranks lives. Must not be called
    for a folder in which this process has locked a file (see is_locked)."""
    try:
        names = os.listdir(path)
        paths = [os.path.join(path, name) for name in names]
        # Keep all files while one rank lives: an unlocked file then shows that
        # its rank has died.
        if any(is_locked(name) for name in paths):
            return
        for name in paths:
            is_locked(name, removes=True)
    except OSError:
        pass
    _remove_folder(path)


class JobFiles:
    """This rank's files, and queries about the files of the other ranks."""

    def __init__(self, folder: str, job: str, rank: int) -> None:
        """Raises FolderError if the folder cannot be used."""
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
        # None in a child process that only inherited the rank's environment:
        # the rank itself has the lock.
        self._life = self._begin()
        self._notice: Optional[Lock] = None
        self._counts: Dict[str, int] = {}
        self._steps: Dict[str, Tuple[int, float]] = {}
        if self.is_rank:
            # The file may be from an earlier start of the job.
            with contextlib.suppress(OSError):
                os.unlink(self._path(rank, ".step"))

    def _begin(self) -> Optional[Lock]:
        life = Lock(self._path(self.rank))
        while True:
            secure(self._ranks)
            try:
                return life if life.take() else None
            except FileNotFoundError:
                # Another rank exited and removed the empty folder: make it
                # again.
                pass
            except OSError as error:
                raise FolderError("%s cannot be created: %s"
                                  % (life.path, error.strerror)) from error

    def _path(self, rank: int, suffix: str = "") -> str:
        return os.path.join(self._ranks, "%d%s" % (rank, suffix))

    @property
    def is_rank(self) -> bool:
        """False in a process that only inherited a rank's environment."""
        return self._life is not None

    def lives(self, rank: int) -> bool:
        return is_locked(self._path(rank))

    def count_done(self, rank: int, place: str) -> int:
        """Returns how often that rank continued from the breakpoint, even if
        it has exited since; 0 if the file is from an earlier start of the job.
        """
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
        """Records that this rank has begun a step from a breakpoint at which
        other ranks wait."""
        if self.is_rank:
            self._steps[place] = count, time.monotonic()
            self._write(".step", self._steps)

    def end_step(self, place: str) -> float:
        """Ends the step. Returns its duration in seconds, 0.0 if no step was
        recorded."""
        step = self._steps.pop(place, None)
        if step is None:
            return 0.0
        self._write(".step", self._steps)
        return time.monotonic() - step[1]

    def step_seconds(self, rank: int, place: str, count: int) -> float:
        """Returns for how many seconds that rank has been in a step from the
        breakpoint; 0.0 if it is in none. Compares time.monotonic() of two
        processes, which Linux counts from the same origin."""
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
        """Tells the other ranks, by a locked file, that this rank waits in
        pdb, and why."""
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
        """Returns whether that rank waits in pdb."""
        return is_locked(os.path.join(self._holding, str(rank)))

    def has_died(self, rank: int) -> bool:
        """True if that rank left files of this start of the job that no
        process has locked."""
        for path in (self._path(rank), os.path.join(self._holding, str(rank))):
            try:
                if os.stat(path).st_mtime >= self._begun \
                        and not is_locked(path):
                    return True
            except OSError:
                pass
        return False

    def notices(self) -> List[str]:
        """Returns the sentences on why other ranks wait in pdb."""
        try:
            names = os.listdir(self._holding)
        except OSError:
            return []
        ranks = sorted(int(name) for name in names if name.isdigit())
        paths = [os.path.join(self._holding, str(rank)) for rank in ranks
                 if rank != self.rank]
        return [read_text(path).strip() for path in paths if is_locked(path)]

    def terminal(self) -> Lock:
        """Returns the lock for the terminal that all ranks share."""
        return Lock(os.path.join(self._ranks, "terminal"))

    def close(self) -> None:
        """Removes this rank's files. The files that other ranks may still read
        (RANK.done) are removed by the last rank of the job."""
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
