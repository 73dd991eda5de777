#!/usr/bin/env python3
"""Makes c10d-layout.inc: the offsets of members of the C++ objects of c10d,
the library of torch.distributed.

    c10d-gen.py PYTHON-INCLUDE WHEEL... > c10d-layout.inc

The headers of each wheel are compiled for both ABIs of libstdc++ (the old ABI
has a shorter std::string), and the offsets are read from the object file.
Nothing of the wheel is executed. A wheel for CUDA has the same layouts as one
for the CPU: the members that differ are pointers. To get the wheels:
    pip download --no-deps torch==VERSION
Headers that wheels lack (gloo's, CUDA's) are replaced by empty classes, of
which the objects only have pointers.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "cpython"))
import torch_wheel  # noqa: E402

# Members of struct c10d_layout, in order, and their C++ expressions.
MEMBERS = (
    ("string_size", "sizeof(std::string)"),
    ("recorder_size", "sizeof(Recorder)"),
    ("recorder_enabled", "offsetof(Recorder, enabled_)"),
    ("recorder_mutex", "offsetof(Recorder, mutex_)"),
    ("recorder_entries", "offsetof(Recorder, entries_)"),
    ("recorder_maximum", "offsetof(Recorder, max_entries_)"),
    ("recorder_next", "offsetof(Recorder, next_)"),
    ("recorder_id", "offsetof(Recorder, id_)"),
    ("recorder_statuses", "offsetof(Recorder, all_pg_status_)"),
    ("entry_size", "sizeof(Entry)"),
    ("entry_id", "offsetof(Entry, id_)"),
    ("entry_group_id", "offsetof(Entry, pg_id_)"),
    ("entry_group_name", "offsetof(Entry, pg_name_) + tuple_place<0>()"),
    ("entry_description", "offsetof(Entry, pg_name_) + tuple_place<1>()"),
    ("entry_seq", "offsetof(Entry, collective_seq_id_)"),
    ("entry_p2p_seq", "offsetof(Entry, p2p_seq_id_)"),
    ("entry_op_id", "offsetof(Entry, op_id_)"),
    ("entry_operation", "offsetof(Entry, profiling_name_)"),
    ("entry_traceback", "offsetof(Entry, traceback_)"),
    ("entry_created", "offsetof(Entry, time_created_)"),
    ("entry_timeout", "offsetof(Entry, timeout_ms_)"),
    ("entry_is_p2p", "offsetof(Entry, isP2P_)"),
    ("entry_started", "offsetof(Entry, time_discovered_started_)"),
    ("entry_completed", "offsetof(Entry, time_discovered_completed_)"),
    ("entry_input_dims", "offsetof(Entry, input_dims_)"),
    ("entry_input_dtypes", "offsetof(Entry, input_dtypes_)"),
    ("entry_output_dims", "offsetof(Entry, output_dims_)"),
    ("entry_output_dtypes", "offsetof(Entry, output_dtypes_)"),
    ("entry_sizes", "offsetof(Entry, sizes_)"),
    ("entry_thread", "THREAD_ID"),
    ("entry_thread_name", "THREAD_NAME"),
    ("entry_retired", "offsetof(Entry, retired_)"),
    ("traceback_frames", "offsetof(torch::CapturedTraceback, frames_)"),
    ("status_enqueued", "offsetof(c10d::ProcessGroupStatus, lastEnqueuedSeq)"),
    ("status_started", "offsetof(c10d::ProcessGroupStatus, lastStartedSeq)"),
    ("status_completed", "offsetof(c10d::ProcessGroupStatus, lastCompletedSeq)"),
    ("group_rank", "offsetof(c10d::ProcessGroup, rank_)"),
    ("group_size", "offsetof(c10d::ProcessGroup, size_)"),
    ("group_description", "offsetof(c10d::ProcessGroup, pg_desc_)"),
    ("group_backends", "offsetof(c10d::ProcessGroup, backendTypeToBackend_)"),
    ("wrapper_backend", "offsetof(c10d::ProcessGroupWrapper, backend_)"),
    ("gloo_queue", "offsetof(c10d::ProcessGroupGloo, workQueue_)"),
    ("gloo_running", "offsetof(c10d::ProcessGroupGloo, workInProgress_)"),
    ("gloo_seq", "offsetof(c10d::ProcessGroupGloo, seq_)"),
    ("gloo_id", "GLOO_ID"),
    ("work_operation", "offsetof(c10d::Work, opType_)"),
    ("work_seq", "offsetof(c10d::ProcessGroupGloo::AsyncWork, seq_)"),
)

SOURCE = """
#define USE_C10D_GLOO
#define USE_C10D_NCCL
#include <torch/csrc/distributed/c10d/FlightRecorder.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupWrapper.hpp>
#include <torch/csrc/profiler/combined_traceback.h>
#include <cstddef>
#include <tuple>

using Recorder = RECORDER;
using Entry = Recorder::Entry;
using Name = std::tuple<std::string, std::string>;

/* libstdc++ stores a tuple as bases, the first element in the outermost: one
 * element has the address of the tuple, the other follows it. */
template <size_t index> constexpr long tuple_place()
{
	static_assert(sizeof(Name) == 2 * sizeof(std::string));
	static_assert(std::is_base_of<std::_Tuple_impl<1, std::string>,
				      std::_Tuple_impl<0, std::string, std::string>>::value);
	return index == 0 ? (long)sizeof(std::string) : 0;
}

extern "C" {
extern const long probetui_row[];
__attribute__((section("probetui"), used))
const long probetui_row[] = { %s };
}
"""

STAND_INS = {
    "gloo/context.h": """
#pragma once
#include <chrono>
#include <memory>
#include <string>
#include <vector>
namespace gloo {
struct Context {
	void setTimeout(std::chrono::milliseconds);
};
namespace rendezvous {
struct Store {
	virtual ~Store() = default;
	virtual void set(const std::string &, const std::vector<char> &) = 0;
	virtual std::vector<char> get(const std::string &) = 0;
	virtual void wait(const std::vector<std::string> &) = 0;
	virtual void wait(const std::vector<std::string> &,
			  const std::chrono::milliseconds &);
	virtual bool has_v2_support();
	virtual std::vector<std::vector<char>> multi_get(const std::vector<std::string> &);
	virtual void multi_set(const std::vector<std::string> &,
			       const std::vector<std::vector<char>> &);
	virtual void append(const std::string &, const std::vector<char> &);
	virtual int64_t add(const std::string &, int64_t);
};
}
namespace transport {
struct Device {};
struct UnboundBuffer {};
}
constexpr std::chrono::milliseconds kNoTimeout{};
}
""",
    "gloo/algorithm.h": "#include <gloo/context.h>\n",
    "gloo/common/error.h": "#include <gloo/context.h>\n",
    "gloo/rendezvous/store.h": "#include <gloo/context.h>\n",
    "gloo/transport/device.h": "#include <gloo/context.h>\n",
    "ATen/cuda/CUDAEvent.h": "#pragma once\nnamespace at::cuda { class CUDAEvent; }\n",
}

C10D = "torch/csrc/distributed/c10d"


def has(include, path, text):
    with open(os.path.join(include, C10D, path)) as file:
        return re.search(text, file.read()) is not None


def make_source(include):
    """Returns the text of the program whose only data is the row."""
    row = ", ".join("(long)(%s)" % text for _, text in MEMBERS)
    is_template = has(include, "FlightRecorder.hpp", r"FlightRecorder<|<typename EventType>")
    has_thread = has(include, "FlightRecorder.hpp", r"\bthread_id_;")
    row = row.replace("THREAD_ID", "offsetof(Entry, thread_id_)" if has_thread else "-1")
    row = row.replace("THREAD_NAME", "offsetof(Entry, thread_name_)" if has_thread else "-1")
    row = row.replace("GLOO_ID", "offsetof(c10d::ProcessGroupGloo, local_id_)" if has(
        include, "ProcessGroupGloo.hpp", r"\blocal_id_;") else "-1")
    return (SOURCE % row).replace("RECORDER", "c10d::FlightRecorder<c10::Event>" if is_template
                                  else "c10d::FlightRecorder")


def main():
    python = sys.argv[1]

    def measure(include, abi):
        return torch_wheel.compile_row(make_source(include), len(MEMBERS), include,
                                       python, abi, STAND_INS)
    torch_wheel.print_table([name for name, _ in MEMBERS], sys.argv[2:], measure)


main()
