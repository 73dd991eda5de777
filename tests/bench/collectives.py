"""What the collectives add to a verdict on many ranks: the recording of eight
hung ranks (tests/recordings/collectives8.jsonl) made one of 1,024, with and
without what the ranks have called, as `verdict` reads it."""
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
import jobs  # noqa: E402

RECORDING = os.path.join(os.path.dirname(HERE), "recordings",
                         "collectives8.jsonl")
RANKS = 1024
RUNS = 10


def lines_of(kind, name):
    """The recording's lines of one event or answer, by pid; the first one of
    each round of eight."""
    with open(RECORDING) as file:
        lines = [json.loads(line) for line in file]
    return [line for line in lines if line["type"] == kind and name in (
        line.get("event"), line.get("command"))]


def of_rank(line, rank, first):
    """The line as a rank of many would have it."""
    line = json.loads(json.dumps(line))
    body = line["body"]
    for key in "pid", "start_time":
        if key in body:
            body[key] = first + rank
    if "rank" in body:
        body.update(rank=rank, local_rank=rank, world_size=RANKS)
    for thread in body.get("threads", ()):
        thread["tid"] = first + rank
    for group in body.get("groups", ()):
        group.update(ranks="0-%d" % (RANKS - 1), rank=rank, size=RANKS)
    if rank >= 8:
        # The stacks of those before are known; those of an answer are its own.
        if line.get("event") == "sampled":
            body.pop("stacks", None)
    return line


def write(file, has_calls):
    added, seen, answers = (lines_of("event", "rankAdded"),
                            lines_of("event", "sampled"),
                            lines_of("response", "collectives"))
    first = added[0]["body"]["pid"]
    like = [rank if rank < 8 else (0, 2, 3, 4, 6, 7)[rank % 6]
            for rank in range(RANKS)]
    lines = lines_of("event", "snapshot") + lines_of("response", "initialize")
    lines += [of_rank(added[like[rank]], rank, first) for rank in range(RANKS)]
    lines += lines_of("response", "discover")
    for start in 0, 8:
        lines += [of_rank(seen[start + like[rank]], rank, first)
                  for rank in range(RANKS)]
    if has_calls:
        lines += [of_rank(answers[like[rank]], rank, first)
                  for rank in range(RANKS)]
    time = 0
    for number, line in enumerate(lines):
        time = max(time, line["time"])
        line.update(seq=number, time=time)
        file.write(json.dumps(line, separators=(",", ":")) + "\n")
    file.flush()


def seconds(path):
    """Processor time of a verdict on the recording."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([jobs.PROBETUI, "--replay", path, "verdict"], check=False,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime -
            before.ru_utime - before.ru_stime)


def measure(make_table):
    table = make_table("verdict on a recording of %d ranks" % RANKS,
                       "processor, median", "least", "most")
    for has_calls in False, True:
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            write(file, has_calls)
            times = [1000 * seconds(file.name) for _ in range(RUNS)]
        table.row(("with" if has_calls else "without") + " collectives",
                  *("%.1f ms" % each for each in (
                      statistics.median(times), min(times), max(times))))
