"""Processes with tensors, and what the readers say of them against what the
process says itself."""
import json
import math
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PROBE = os.path.join(os.environ["BUILDDIR"], "tests/backend/tensor-probe")
TOLD = ("type", "dtype", "shape", "strides", "offset", "numel", "itemsize",
        "nbytes", "device", "requires_grad", "grad_fn", "is_parameter",
        "placement", "storage_nbytes")


class Target:
    """A program that tells its truths and waits."""

    def __init__(self, argv):
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        line = self.process.stdout.readline().decode()
        self.pid = self.process.pid
        self.rows = json.loads(line) if line else None
        self.memory = open("/proc/%d/mem" % self.pid, "rb", 0)

    def read(self, address, length):
        return os.pread(self.memory.fileno(), length, address)

    def close(self):
        self.memory.close()
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def ask(pid, lines):
    """The probe's answers."""
    run = subprocess.run([PROBE, str(pid)], stdout=subprocess.PIPE,
                         input="".join(line + "\n" for line in lines)
                         .encode(), check=True)
    return [json.loads(line.decode()) for line in run.stdout.splitlines()]


def elements(target, answer):
    """The values' bytes, by where the reader says that they lie."""
    tensor = answer["tensor"]
    places = [answer["address"]]
    for size, stride in zip(tensor["shape"], answer["strides"]):
        places = [place + i * stride for place in places
                  for i in range(size)]
    item = tensor["itemsize"]
    parts = [target.read(place, item) for place in places]
    if answer["swapped"]:
        unit = item // 2 if "complex" in tensor["dtype"] else item
        unit = 4 if tensor["dtype"] == ">str" else unit
        parts = [b"".join(part[at:at + unit][::-1]
                          for at in range(0, item, unit)) for part in parts]
    return b"".join(parts)


def compare(target, row, answer):
    """What is wrong."""
    if "tensor" not in answer:
        return [answer.get("error")]
    tensor = answer["tensor"]
    wrong = ["%s: %r for %r" % (key, tensor.get(key), row[key])
             for key in TOLD if key in row and tensor.get(key) != row[key]
             and not (key == "is_parameter" and not row[key]
                      and key not in tensor)
             and not (key == "offset" and row[key] is None
                      and tensor.get(key, -1) == -1)]
    if "unread" in row:
        if row["unread"] not in tensor.get("unread", ""):
            wrong.append("unread: %s" % tensor.get("unread"))
    elif "address" not in answer:
        wrong.append("unread: %s" % answer.get("unread"))
    elif not wrong and elements(target, answer).hex() != row["data"]:
        wrong.append("other values")
    return wrong


def is_near(got, wanted):
    if isinstance(got, dict):
        # The agent's, where not all readers of JSON would keep it.
        got = int(got["$"][4:])
    if isinstance(wanted, float) and isinstance(got, (int, float)):
        return math.isclose(got, wanted, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(got, str) and got.startswith("u:"):
        return int(got[2:]) == wanted
    return got == wanted


def compare_values(row, tensor):
    """What is wrong of the statistics and the hash in the node's answer."""
    if tensor.get("unread"):
        return ["unread: " + tensor["unread"]]
    wrong = ["hash: %s for %s" % (tensor["hash"], row["hash"])
             ] if tensor["hash"] != row["hash"] else []
    for key, wanted in (row["stats"] or {}).items():
        got = (tensor["stats"] or {}).get(key)
        if not is_near(got, wanted):
            wrong.append("%s: %r for %r" % (key, got, wanted))
    return wrong


if __name__ == "__main__":
    sys.exit("used by tests")
