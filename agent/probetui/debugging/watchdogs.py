"""Extends the timeouts of torch.distributed's process groups while ranks may
be stopped.

If a rank is stopped, the ranks that wait for it time out and end the job. An
operation takes its timeout when it begins; a later change has no effect on it.
So timeouts are extended early, as soon as something may stop a rank. torch is
never imported here: if the program has not imported it, there are no timeouts.
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
    """A group's own timeout, and the one that was set, in seconds."""

    own: float
    made: float


class Limit:
    """A timeout of the program: of a process group on a backend, or of the
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
        """Returns the reason why the timeout cannot be changed, or None."""
        if self.backend == STORE or hasattr(self._holder,
                                            "_set_default_timeout"):
            return None
        return "torch %s cannot change the timeout of a process group" \
            % getattr(sys.modules.get("torch"), "__version__", "?")

    def set(self, seconds: float) -> None:
        length = datetime.timedelta(seconds=seconds)
        if self.backend == STORE:
            self._holder.set_timeout(length)
        else:
            self._holder._set_default_timeout(length)


def _backends(group: Any) -> List[Any]:
    """Returns the backends of a group, each once; before torch 2, a group is
    its own backend."""
    if not hasattr(group, "_get_backend"):
        return [group]
    found: List[Any] = []
    for device in getattr(group, "_device_types", ()):
        try:
            backend = group._get_backend(device)
        except RuntimeError:
            continue
        # TORCH_DISTRIBUTED_DEBUG=DETAIL wraps the real backend.
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
    for given, (_, store) in dict(groups).items():
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
        # This backend does not expose its timeout.
        return None


class Watchdogs:
    """Extends the timeouts while at least one request for it exists. A
    requester has a name: a second request with the name replaces the first
    one."""

    def __init__(self) -> None:
        # A signal handler may stop in the thread that holds the lock.
        self._lock = threading.RLock()
        # (seconds, end of the request) by requester
        self._wanted: Dict[str, Tuple[float, float]] = {}
        self._raised: Dict[str, Raised] = {}
        self._has_told = False

    def raise_for(self, who: str, seconds: float = DAY_SECONDS,
                  lease: float = DAY_SECONDS) -> None:
        """Extends all timeouts to at least `seconds`, until restore(), or
        until `lease` seconds are over."""
        with self._lock:
            self._wanted[who] = (seconds, time.monotonic() + lease)
            self._settle()

    def restore(self, who: str) -> None:
        with self._lock:
            if self._wanted.pop(who, None) is not None:
                self._settle()

    def restore_all(self, prefix: str = "") -> None:
        """Removes the requests of all requesters whose names begin with
        prefix."""
        with self._lock:
            there = [who for who in self._wanted if who.startswith(prefix)]
            for who in there:
                del self._wanted[who]
            if there:
                self._settle()

    def look(self) -> Optional[float]:
        """Removes expired requests, and extends timeouts of new groups.
        Returns the seconds until the next call; None: nothing is extended."""
        with self._lock:
            now = time.monotonic()
            for who, (_, until) in dict(self._wanted).items():
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
                tell("the timeout of a process group cannot be changed: %s"
                     % describe(problem))
            return None

    def _settle_one(self, limit: Limit) -> None:
        now = _read(limit)
        if now is None or limit.why_not() is not None:
            return
        before = self._raised.get(limit.key)
        if before is not None and abs(before.made - now) > 0.001:
            # The program has set another timeout meanwhile.
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
        """Returns the answer of GET /watchdogs."""
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
    """Returns the Watchdogs of this process."""
    global _watchdogs
    if _watchdogs is None:
        _watchdogs = Watchdogs()
    forks.add(in_child=forget)
    return _watchdogs


def forget() -> None:
    """Called in a forked child, where the parent's groups cannot be used:
    drops the Watchdogs."""
    global _watchdogs
    _watchdogs = None
