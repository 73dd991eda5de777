"""Three ranks of mpi4py."""
import sys
import time
from array import array

from mpi4py import MPI
from zoo_job import ready

comm = MPI.COMM_WORLD


def ring(rank):
    comm.recv(source=(rank + 1) % comm.size)  # receives
    comm.send(rank, dest=(rank - 1) % comm.size)


def barrier(rank):
    while rank == 1:
        time.sleep(1)  # asleep
    comm.Barrier()  # barrier


def skipped(rank):
    """Rank 2 leaves out what the others reduce."""
    if rank != 2:
        comm.allreduce(rank)  # reduces
    comm.Barrier()  # skipped


def scatter(rank):
    """Rank 0 reads before it scatters."""
    if rank == 0:
        sys.stdin = open("/dev/null")
        import os
        read, _ = os.pipe()
        os.read(read, 100)  # reads
    comm.scatter([1, 2, 3] if rank == 0 else None, root=0)


def steps(rank):
    """Healthy: the others wait for rank 1, which computes for longer."""
    for step in range(1_000_000_000):
        total = sum(range(3_000_000 if rank == 1 else 1000))
        comm.allreduce(total + step)


def reduces(rank):
    """Healthy: nothing but one call, at equal stacks."""
    values, sums = array("d", [1.0] * 4096), array("d", [0.0] * 4096)
    while True:
        comm.Allreduce(values, sums)


comm.Barrier()
ready()
globals()[sys.argv[1]](comm.rank)
