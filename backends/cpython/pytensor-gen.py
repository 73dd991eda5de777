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
import sys

import torch_wheel

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


def make_source(include):
    """Returns the text of the program whose only data is the row."""
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
    return SOURCE % row


def main():
    python = sys.argv[1]

    def measure(include, abi):
        return torch_wheel.compile_row(make_source(include), len(MEMBERS), include,
                                       python, abi)
    torch_wheel.print_table([name for name, _ in MEMBERS], sys.argv[2:], measure)


main()
