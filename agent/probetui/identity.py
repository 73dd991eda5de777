"""Finds the rank and the job of this process."""
from __future__ import annotations

import os
import re
import sys
from typing import NamedTuple, Optional

_RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
          "SLURM_PROCID")
_SIZES = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS")
_LOCAL_RANKS = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID")
_LOCAL_SIZES = ("LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE")
_SLURM = ("SLURM_JOB_ID", "SLURM_STEP_ID")


class Identity(NamedTuple):
    rank: int
    size: Optional[int]
    job: str  # usable as a file name; the same in all ranks of a job
    local_rank: Optional[int]
    local_size: Optional[int]

    def is_here(self, rank: int) -> Optional[bool]:
        """Returns whether that rank is on this machine; None: unknown.

        Assumes that the launcher numbers the ranks of a machine consecutively.
        """
        if self.size is not None and self.size == self.local_size:
            return True
        if self.local_rank is None or self.local_size is None:
            return None
        first = self.rank - self.local_rank
        return first <= rank < first + self.local_size


def _number(names: tuple[str, ...]) -> Optional[int]:
    for name in names:
        text = os.environ.get(name, "")
        if text.isdecimal():
            return int(text)
    return None


def _torch_rank() -> Optional[int]:
    """Returns the rank from torch.distributed if the program has imported it,
    else None."""
    distributed = sys.modules.get("torch.distributed")
    try:
        if distributed is not None and distributed.is_initialized():
            return int(distributed.get_rank())
    except Exception:
        pass
    return None


def _job() -> str:
    words = [os.environ.get(name, "")
             for name in ("MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID")]
    if words[2] == "none":
        words[2] = ""
    if not any(words):
        words = [os.environ.get(name, "") for name in _SLURM]
    if not any(words):
        words = [os.environ.get("PMIX_NAMESPACE", "")]
    if not any(words):
        words = ["pid", str(os.getpid())]
    name = "-".join(word for word in words if word)
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)[:100].lstrip(".") or "job"


def is_rank() -> bool:
    """True if a launcher gave this process a rank number. SLURM_PROCID does
    not count: Slurm also sets it in the batch script and in programs that
    start ranks."""
    return _number(_RANKS[:-1]) is not None


def find() -> Identity:
    """Returns the identity of this process: the rank from the launcher's
    environment variables, else from torch.distributed, else 0."""
    rank = _number(_RANKS)
    if rank is None:
        rank = _torch_rank()
    return Identity(rank=rank or 0, size=_number(_SIZES), job=_job(),
                    local_rank=_number(_LOCAL_RANKS),
                    local_size=_number(_LOCAL_SIZES))
