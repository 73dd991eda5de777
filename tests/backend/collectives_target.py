"""A rank of gloo that calls collectives, as its argument says, and then tells
what torch itself says of them, once for each line that comes in. A line with
the path of a folder has dumps written there first."""
import importlib.metadata
import json
import os
import pickle
import sys
import types

if sys.argv[1] == "late":
    # As in the middle of the import: the version is there, the libraries are not.
    sys.modules["torch.version"] = types.ModuleType("torch.version")
    sys.modules["torch.version"].__version__ = importlib.metadata.version("torch")
    os.write(1, b"ready\n")
    sys.stdin.readline()
    del sys.modules["torch.version"]

import torch
import torch.distributed as dist
from torch._C import _distributed_c10d as c10d
from torch.distributed import distributed_c10d


def reduce_ones(group=None):
    dist.all_reduce(torch.ones(128, 3), group=group)


def some(world):
    """Two groups, one of them of some ranks only."""
    everybody = dist.new_group(group_desc="everybody")
    pair = dist.new_group([0, 1], group_desc="pair")
    for _ in range(3):
        reduce_ones()
    dist.all_gather([torch.zeros(4, 8) for _ in range(world)],
                    torch.zeros(4, 8), group=everybody)
    if dist.get_rank() < 2:
        dist.broadcast(torch.zeros(2, 3, 5, dtype=torch.int64), 0, group=pair)
        reduce_ones(pair)
    dist.barrier()


def objects(world):
    """Calls of which torch makes several; they need numpy."""
    dist.all_gather_object([None] * world, {"rank": dist.get_rank()})
    dist.broadcast_object_list([1, "two"], 0)
    dist.barrier()


def unwaited(world):
    """A call that is not waited for at once, and one between two ranks."""
    work = dist.all_reduce(torch.ones(7, dtype=torch.bfloat16), async_op=True)
    dist.reduce(torch.ones(2), 1)
    work.wait()
    if dist.get_rank() == 0:
        dist.send(torch.ones(3), 1)
    elif dist.get_rank() == 1:
        dist.recv(torch.ones(3), 0)
    dist.barrier()


def many(world):
    for number in range(37):
        dist.all_reduce(torch.ones(1 + number % 5, 2, 2, 2, 3))
    dist.all_reduce_coalesced([torch.ones(n, 1, 3) for n in range(1, 9)])


def recursive(world, depth=3):
    """One frame stands more than once in a stack."""
    if depth > 0:
        recursive(world, depth - 1)
    else:
        reduce_ones()


def late(world):
    reduce_ones()


def behind(world):
    """Rank 1 does not call what rank 0 waits in."""
    reduce_ones()
    if dist.get_rank() != 1:
        dist.all_reduce(torch.ones(128, 3), async_op=True)


def groups():
    found = []
    for group, name in distributed_c10d._world.pg_names.items():
        ranks = distributed_c10d._world.pg_group_ranks[group]
        found.append({
            "name": name, "size": group.size(), "rank": group.rank(),
            "ranks": sorted(ranks, key=ranks.get),
            "description": group.group_desc,
            "seq": group._get_sequence_number_for_group(),
            "is_default": group is dist.group.WORLD})
    return found


def entries():
    if not hasattr(c10d, "_dump_fr_trace"):
        return []
    told = pickle.loads(c10d._dump_fr_trace(True, True, False))
    return told["entries"]


def write_dumps(folder):
    """The dumps of the Flight Recorders: fr_RANK and nccl_RANK, pickles, and
    the same with .json."""
    for name in ("fr", "nccl"):
        if not hasattr(c10d, "_dump_%s_trace" % name):
            continue
        path = os.path.join(folder, "%s_%d" % (name, dist.get_rank()))
        with open(path, "wb") as file:
            file.write(getattr(c10d, "_dump_%s_trace" % name)())
        with open(path + ".json", "wb") as file:
            said = getattr(c10d, "_dump_%s_trace_json" % name)()
            file.write(said if isinstance(said, bytes) else said.encode())


def main():
    dist.init_process_group("gloo")
    if sys.argv[1] != "nothing":
        globals()[sys.argv[1]](dist.get_world_size())
    os.write(1, b"ready\n")
    for line in sys.stdin:
        if line.strip():
            write_dumps(line.strip())
        said = {"groups": groups(), "entries": entries(),
                "version": torch.__version__}
        os.write(1, json.dumps(said).encode() + b"\n")
    os._exit(0)


main()
