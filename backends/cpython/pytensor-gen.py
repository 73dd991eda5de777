#!/usr/bin/env python3
"""Makes pytensor-torch.inc: the offsets of members of torch's C++ objects.

    pytensor-gen.py PYTHON-INCLUDE WHEEL... > pytensor-torch.inc

The headers of each wheel are compiled for both ABIs of libstdc++ (the old ABI
has a shorter std::string), and the offsets are read from the object file.
Nothing of the wheel is executed, so it may be one for another 64-bit machine,
whose layout is the same. To get the wheels:
    pip download --no-deps --platform manylinux2014_aarch64 torch==VERSION
"""
import os
import re
import struct
import subprocess
import sys
import tempfile
import zipfile

# Members of struct torch_layout, in order, and their C++ expressions.
MEMBERS = (
    ("impl", "impl_place<decltype(THPVariable::cdata)>()"),
    ("storage", "offsetof(TensorImpl, storage_)"),
    ("autograd", "offsetof(TensorImpl, autograd_meta_)"),
    ("back", "offsetof(TensorImpl, pyobj_slot_)" " + SLOT"),
    ("sizes", "offsetof(TensorImpl, sizes_and_strides_)"),
    ("offset", "offsetof(TensorImpl, storage_offset_)"),
    ("count", "offsetof(TensorImpl, numel_)"),
    ("dtype", "offsetof(TensorImpl, data_type_)"),
    ("device", "offsetof(TensorImpl, device_opt_)"),
    ("is_flag_first", "!std::is_same<decltype(TensorImpl::device_opt_), "
                      "std::optional<c10::Device>>::value"),
    ("extra", "offsetof(TensorImpl, extra_meta_)"),
    # -1: all members of ExtraMeta are symbolic.
    ("symbolic", "SYMBOLIC"),
    ("keys", "offsetof(TensorImpl, key_set_)"),
    ("conjugate", "key(c10::DispatchKey::Conjugate)"),
    ("negative", "key(c10::DispatchKey::Negative)"),
    ("zero", "key(c10::DispatchKey::ZeroTensor)"),
    ("users", "offsetof(StorageImpl, refcount_name)"),
    ("data", "offsetof(StorageImpl, data_ptr_)"),
    ("bytes", "offsetof(StorageImpl, size_bytes_)"),
    ("grad", "offsetof(AutogradMeta, grad_)"),
    ("grad_fn", "offsetof(AutogradMeta, grad_fn_)"),
    ("requires_grad", "offsetof(AutogradMeta, requires_grad_)"),
    # Offset in a PyNode of the function's Python object.
    ("function", "FUNCTION"),
)

SOURCE = """
#include <torch/csrc/autograd/variable.h>
#include <torch/csrc/autograd/python_function.h>
#include <torch/csrc/autograd/python_variable.h>
#include <cstddef>
#include <optional>
using c10::StorageImpl;
using c10::TensorImpl;
using torch::autograd::AutogradMeta;

/* at::Tensor, or a MaybeOwned of it: the flag comes first. */
template <class T> constexpr long impl_place()
{
	if constexpr (std::is_same<T, at::Tensor>::value)
		return offsetof(THPVariable, cdata);
	else
		return offsetof(THPVariable, cdata) + offsetof(T, own_);
}

constexpr long key(c10::DispatchKey name)
{
	return (long)c10::DispatchKeySet(name).repr_;
}

extern "C" {
extern const long probetui_row[];
__attribute__((section("probetui"), used))
const long probetui_row[] = { %s };
}
"""


def has(include, path, text):
    with open(os.path.join(include, path)) as file:
        return re.search(text, file.read()) is not None


def measure(include, python, abi):
    """Returns the offsets, as compiled."""
    counts = "combined_refcount_" if has(
        include, "c10/util/intrusive_ptr.h", r"\bcombined_refcount_\b") \
        else "refcount_"
    slot = os.path.exists(os.path.join(include, "c10/core/impl/PyObjectSlot.h"))
    row = ", ".join("(long)(%s)" % text for _, text in MEMBERS)
    row = row.replace("refcount_name", counts)
    row = row.replace(
        "SYMBOLIC", "offsetof(c10::ExtraMeta, symbolic_shape_meta_)" if has(
            include, "c10/core/TensorImpl.h",
            r"\bsymbolic_shape_meta_ = nullptr") else "-1")
    row = row.replace(
        "FUNCTION", "offsetof(torch::autograd::PyNode, obj)" if has(
            include, "torch/csrc/autograd/python_function.h",
            r"PyObject\* obj;")
        else "offsetof(torch::autograd::Node, pyobj_slot_) + SLOT")
    if slot:
        row = row.replace("SLOT", "offsetof(c10::impl::PyObjectSlot, pyobj_)")
    else:
        row = row.replace("pyobj_slot_", "pyobj_").replace("SLOT", "0")
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "row.cpp")
        with open(source, "w") as file:
            file.write(SOURCE % row)
        made = os.path.join(folder, "row.o")
        subprocess.run(
            ["g++", "-std=c++20", "-w", "-fno-access-control", "-c",
             "-D_GLIBCXX_USE_CXX11_ABI=%d" % abi, "-I" + include,
             "-I" + os.path.join(include, "torch/csrc/api/include"),
             "-I" + python, source, "-o", made], check=True)
        out = os.path.join(folder, "row.bin")
        subprocess.run(["objcopy", "-O", "binary", "-j", "probetui", made,
                        out], check=True)
        with open(out, "rb") as file:
            return struct.unpack("<%dq" % len(MEMBERS), file.read())


def measure_wheel(wheel, python):
    """Returns the version of the wheel, as (2, 13), and its rows for the new
    and the old ABI."""
    match = re.match(r"torch-(\d+)\.(\d+)", os.path.basename(wheel))
    if not match:
        sys.exit("%s: this is no wheel of torch" % wheel)
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder, [
                name for name in archive.namelist()
                if name.startswith("torch/include/")])
        include = os.path.join(folder, "torch/include")
        rows = [measure(include, python, abi) for abi in (1, 0)]
    return (int(match.group(1)), int(match.group(2))), rows


def main():
    python = sys.argv[1]
    found = sorted(measure_wheel(wheel, python) for wheel in sys.argv[2:])
    groups = []
    for version, rows in found:
        if groups and groups[-1][2] == rows:
            groups[-1][1] = version
        else:
            groups.append([version, version, rows])
    print("/* Made by pytensor-gen.py of torch's wheels; not to be edited. */")
    print("/* first, last version, %s */" % ", ".join(
        name for name, _ in MEMBERS))
    for first, last, rows in groups:
        for row in rows if rows[0] != rows[1] else rows[:1]:
            print("{ %d, %d, %s }," % (
                first[0] * 1000 + first[1], last[0] * 1000 + last[1],
                ", ".join(str(number) for number in row)))


main()
