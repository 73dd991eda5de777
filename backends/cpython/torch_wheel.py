"""Tables of offsets in torch's C++ objects, of the headers in its wheels: what
pytensor-gen.py and c10d-gen.py share. Nothing of a wheel is executed."""
import os
import re
import struct
import subprocess
import sys
import tempfile
import zipfile


def compile_row(source, count, include, python, abi, stand_ins=None):
    """Compiles a program whose section "probetui" has `count` longs, and
    returns these. abi: 1, or 0 for the ABI of libstdc++ before C++11.
    stand_ins: {path: text} of headers that wheels lack."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in dict(stand_ins or {}, **{"row.cpp": source}).items():
            path = os.path.join(folder, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text)
        made, out = (os.path.join(folder, name) for name in ("row.o", "row.bin"))
        subprocess.run(
            ["g++", "-std=c++20", "-w", "-fno-access-control", "-c",
             "-D_GLIBCXX_USE_CXX11_ABI=%d" % abi, "-I" + folder, "-I" + include,
             "-I" + os.path.join(include, "torch/csrc/api/include"),
             "-I" + python, os.path.join(folder, "row.cpp"), "-o", made],
            check=True)
        subprocess.run(["objcopy", "-O", "binary", "-j", "probetui", made, out],
                       check=True)
        with open(out, "rb") as file:
            return struct.unpack("<%dq" % count, file.read())


def measure_wheel(wheel, measure):
    """Returns the version of the wheel, as (2, 13), and its rows for the new
    and the old ABI: measure(include folder, abi)."""
    match = re.match(r"torch-(\d+)\.(\d+)", os.path.basename(wheel))
    if not match:
        sys.exit("%s: this is no wheel of torch" % wheel)
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder, [
                name for name in archive.namelist()
                if name.startswith("torch/include/")])
        include = os.path.join(folder, "torch/include")
        rows = [measure(include, abi) for abi in (1, 0)]
    return (int(match.group(1)), int(match.group(2))), rows


def print_table(names, wheels, measure):
    """Prints a row for each range of versions with one layout."""
    groups = []
    for version, rows in sorted(measure_wheel(wheel, measure)
                                for wheel in wheels):
        if groups and groups[-1][2] == rows:
            groups[-1][1] = version
        else:
            groups.append([version, version, rows])
    print("/* Made by %s of torch's wheels; not to be edited. */"
          % os.path.basename(sys.argv[0]))
    print("/* first, last version, %s */" % ", ".join(names))
    for first, last, rows in groups:
        for row in rows if rows[0] != rows[1] else rows[:1]:
            print("{ %d, %d, %s }," % (
                first[0] * 1000 + first[1], last[0] * 1000 + last[1],
                ", ".join(str(number) for number in row)))
