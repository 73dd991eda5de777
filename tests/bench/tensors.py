"""How fast the elements of tensors are read, beside what memory gives in the
same run (tensor-bench.c)."""
import json
import os
import subprocess

BUILD = os.environ.get("BUILDDIR", os.getcwd())
PROGRAM = os.path.join(BUILD, "tests", "bench", "tensor-bench")
ROWS = (("read", "one thread reads its own memory"),
        ("copy", "one thread copies it, process_vm_readv alone"),
        ("float32", "statistics, float32"),
        ("bfloat16", "statistics, bfloat16"),
        ("float16", "statistics, float16"),
        ("float64", "statistics, float64"),
        ("int64", "statistics, int64"),
        ("uint8", "statistics, uint8"),
        ("hash", "hash"))


def measure(table, megabytes=1024, processes=8):
    """table: makes one with those heads."""
    run = subprocess.run([PROGRAM, str(megabytes), str(processes)],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         universal_newlines=True, check=True)
    told = json.loads(run.stdout)
    rates = told["rates"]
    rows = table("%d MB of one tensor in another process" % megabytes, "GB/s",
                 "of one core's reading")
    for name, what in ROWS:
        rows.row(what, "%.1f" % (rates[name] / 1e9),
                 "%.0f %%" % (100 * rates[name] / rates["read"]))
    rows = table("%d processes, 200 parameters of 100 MB together in each"
                 % processes, "seconds")
    rows.row("all are hashed", "%.2f" % told["seconds"])
