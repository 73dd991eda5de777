"""The time-outs of torch.distributed's groups, raised while somebody looks.

The rank that waits for a held one is the one whose time-out ends the job. An
operation takes its limit when it begins: one that is on its way already keeps
what it had. So limits are raised early, as soon as something can hold a rank.
torch is never imported here: where the program has not, there is nothing to
raise.
"""
from __future__ import annotations

import datetime
import functools
import sys
import threading
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from .. import forks
from ..settings import describe, tell
from . import collectives

C10D = "torch.distributed.distributed_c10d"
DAY_SECONDS = 86400.0
LOOK_SECONDS = 2.0
STORE = "store"


class Raised(NamedTuple):
    """What a group's limit was, and what it was made."""

    own: float
    made: float


class Limit:
    """One time-out of the program's: of a group on a backend, or of the
    store through which groups find each other."""

    def __init__(self, key: str, group: str, backend: str, size: int,
                 holder: Any) -> None:
        self.key = key
        self.group = group
        self.backend = backend
        self.size = size
        self._holder = holder

    def seconds(self) -> Optional[float]:
        found = self._holder.timeout if self.backend == STORE \
            else self._holder.options._timeout
        return float(found.total_seconds())

    def why_not(self) -> Optional[str]:
        """It cannot be changed."""
        if self.backend == STORE or hasattr(self._holder,
                                            "_set_default_timeout"):
            return None
        return "torch %s has no way to change a group's limit" \
            % getattr(sys.modules.get("torch"), "__version__", "?")

    def set(self, seconds: float) -> None:
        length = datetime.timedelta(seconds=seconds)
        if self.backend == STORE:
            self._holder.set_timeout(length)
        else:
            self._holder._set_default_timeout(length)


def _backends(group: Any) -> List[Any]:
    """Each once; before torch 2 a group is its backend."""
    if not hasattr(group, "_get_backend"):
        return [group]
    found: List[Any] = []
    for device in getattr(group, "_device_types", ()):
        try:
            backend = group._get_backend(device)
        except RuntimeError:
            continue
        # torch's checks between ranks are wrapped around the real one.
        backend = getattr(backend, "wrapped_pg", backend)
        if not any(backend is other for other in found):
            found.append(backend)
    return found


def _backend_name(backend: Any) -> str:
    try:
        return str(backend.name())
    except Exception:
        return type(backend).__name__


def _limits() -> List[Limit]:
    c10d: Any = sys.modules.get(C10D)
    if c10d is None:
        return []
    world = getattr(c10d, "_world", None)
    groups = getattr(world, "pg_map", None) or getattr(c10d, "_pg_map", {})
    names = getattr(world, "pg_names", None) or getattr(c10d, "_pg_names", {})
    first = getattr(getattr(c10d, "GroupMember", None), "WORLD", None)
    found: List[Limit] = []
    for given, (_, store) in list(groups.items()):
        group: Any = given
        size = group.size()
        name = str(names.get(group, len(found)))
        for backend in _backends(group):
            kind = _backend_name(backend)
            found.append(Limit("%s/%s" % (name, kind), name, kind,
                               size, backend))
        if group is first and hasattr(store, "timeout"):
            found.append(Limit(STORE, name, STORE, size, store))
    return found


def _read(limit: Limit) -> Optional[float]:
    try:
        return limit.seconds()
    except Exception:
        # A backend that keeps it to itself.
        return None


class Watchdogs:
    """Raised while at least one has asked for it: by a name, that says so
    again when it wants more, and takes it back."""

    def __init__(self) -> None:
        # A handler of a signal may stop where the thread has it.
        self._lock = threading.RLock()
        self._wanted: Dict[str, Tuple[float, float]] = {}  # seconds, until
        self._raised: Dict[str, Raised] = {}
        self._has_told = False

    def raise_for(self, who: str, seconds: float = DAY_SECONDS,
                  lease: float = DAY_SECONDS) -> None:
        """No limit is less than these seconds, until restore(), or for the
        seconds of the lease."""
        with self._lock:
            self._wanted[who] = (seconds, time.monotonic() + lease)
            self._settle()

    def restore(self, who: str) -> None:
        with self._lock:
            if self._wanted.pop(who, None) is not None:
                self._settle()

    def restore_all(self, prefix: str = "") -> None:
        """For those whose names begin so."""
        with self._lock:
            there = [who for who in self._wanted if who.startswith(prefix)]
            for who in there:
                del self._wanted[who]
            if there:
                self._settle()

    def look(self) -> Optional[float]:
        """Leases that are over, and groups that are new. In how many seconds
        to look again; None: nothing is raised."""
        with self._lock:
            now = time.monotonic()
            for who, (_, until) in list(self._wanted.items()):
                if until <= now:
                    del self._wanted[who]
            self._settle()
            if not self._wanted:
                return LOOK_SECONDS if self._raised else None
            return min([LOOK_SECONDS] + [
                until - now for _, until in self._wanted.values()])

    def _settle(self) -> None:
        limits = self._guard(_limits)
        for limit in limits or ():
            self._guard(functools.partial(self._settle_one, limit))
        if not self._wanted and limits is not None:
            self._raised.clear()

    def _guard(self, function: Callable[[], Any]) -> Any:
        try:
            return function()
        except Exception as problem:
            if not self._has_told:
                self._has_told = True
                tell("a group's time-out cannot be changed: %s"
                     % describe(problem))
            return None

    def _settle_one(self, limit: Limit) -> None:
        now = _read(limit)
        if now is None or limit.why_not() is not None:
            return
        before = self._raised.get(limit.key)
        if before is not None and abs(before.made - now) > 0.001:
            # The program itself has set another one meanwhile.
            before = None
        own = now if before is None else before.own
        made = max([own] + [seconds for seconds, _ in self._wanted.values()])
        if made != now:
            limit.set(made)
        if made != own:
            self._raised[limit.key] = Raised(own, made)
        else:
            self._raised.pop(limit.key, None)

    def state(self) -> Dict[str, Any]:
        """As GET /watchdogs tells it."""
        with self._lock:
            raised, wanted = dict(self._raised), len(self._wanted)
        told = []
        for limit in _limits():
            now, before = _read(limit), raised.get(limit.key)
            told.append({
                "group": limit.group, "backend": limit.backend,
                "size": limit.size, "limit": now,
                "own": now if before is None else before.own,
                "refused": limit.why_not()})
        under_way = collectives.under_way()
        left = [one["left"] for one in under_way if one["left"] is not None]
        return {"raised": bool(wanted), "groups": told,
                "under_way": under_way, "left": min(left, default=None)}


_watchdogs: Optional[Watchdogs] = None


def get() -> Watchdogs:
    """Those of this process."""
    global _watchdogs
    if _watchdogs is None:
        _watchdogs = Watchdogs()
    forks.add(in_child=forget)
    return _watchdogs


def forget() -> None:
    """In a fork: its groups are its parent's, and of no use."""
    global _watchdogs
    _watchdogs = None
