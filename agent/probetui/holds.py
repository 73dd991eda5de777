"""Ranks that do not stop at a breakpoint wait for those that do."""
from __future__ import annotations

import time
from typing import Dict, List, Set

from .files import JobFiles
from .identity import Identity
from .settings import duration, tell

LOOK_SECONDS = 0.05
# Seconds after which a step may be waiting for a rank that waits here.
STEP_SECONDS = 1.0
# Seconds that a rank may take to appear: the first limit if it is known to be
# on this machine, the second if that is unknown.
ARRIVE_SECONDS = 60.0
ARRIVE_UNKNOWN_SECONDS = 10.0


def name_ranks(ranks: List[int]) -> str:
    """Returns "rank 0", "ranks 0 and 2", "ranks 0, 2 and 5"."""
    words = [str(rank) for rank in ranks]
    if len(words) == 1:
        return "rank " + words[0]
    return "ranks %s and %s" % (", ".join(words[:-1]), words[-1])


class Hold:
    """Waits until the stopped ranks have continued from `place` for the
    count-th time. Does not wait for a rank whose step takes longer than
    STEP_SECONDS: the code that it steps over may wait for the waiting ranks.
    Signals are handled as usual, and the loop sleeps between checks."""

    def __init__(self, files: JobFiles, identity: Identity, place: str,
                 count: int, lease: float) -> None:
        self._files = files
        self._identity = identity
        self._place = place
        self._count = count
        self._lease = lease
        self._begun = time.monotonic()
        self._until = self._begun + lease
        self._seen: Set[int] = set()
        self._why: Dict[int, str] = {}

    def wait(self, ranks: List[int]) -> None:
        mine = "rank %d" % self._identity.rank
        away = [rank for rank in ranks
                if self._identity.is_here(rank) is False]
        waiting = [rank for rank in ranks if rank not in away]
        if away:
            tell("%s does not wait for %s (on another machine)"
                 % (mine, name_ranks(away)))
        waiting = [rank for rank in waiting if not self._is_over(rank)]
        if waiting:
            tell("%s waits for %s to continue in pdb, or to take longer than "
                 "%s for a step; at most %s (Ctrl-C ends the wait)"
                 % (mine, name_ranks(waiting), duration(STEP_SECONDS),
                    duration(self._lease)))
        while waiting and time.monotonic() < self._until:
            time.sleep(LOOK_SECONDS)
            waiting = [rank for rank in waiting if not self._is_over(rank)]
        if waiting:
            tell("%s no longer waits for %s" % (mine, name_ranks(waiting)))
        for rank, why in sorted(self._why.items()):
            tell("%s does not wait for rank %d, %s" % (mine, rank, why))

    def _is_over(self, rank: int) -> bool:
        if self._files.count_done(rank, self._place) >= self._count:
            return True
        if self._files.holds(rank):
            # Each command in that rank's pdb renews the lease.
            self._seen.add(rank)
            self._until = time.monotonic() + self._lease
            return False
        if self._files.lives(rank):
            self._seen.add(rank)
            if self._files.step_seconds(rank, self._place, self._count) <= \
                    STEP_SECONDS:
                return False
            self._why[rank] = "whose step takes long and may need this rank"
            return True
        if rank in self._seen or self._files.has_died(rank):
            # The rank may have continued and exited between two checks.
            if self._files.count_done(rank, self._place) < self._count:
                self._why[rank] = "which has exited"
            return True
        limit = ARRIVE_SECONDS if self._identity.is_here(rank) \
            else ARRIVE_UNKNOWN_SECONDS
        if time.monotonic() - self._begun > min(limit, self._lease):
            self._why[rank] = "which is not on this machine, or does not " \
                "import probetui with IPDB_DEBUG=1"
            return True
        return False
