/*
 * offsets-gen: prints a row of offsets.inc for the CPython whose headers it is compiled against;
 * with the argument "positions", a row of positions.inc: the position of each offset in that
 * version's _Py_DebugOffsets.
 *
 * cc -DPy_BUILD_CORE -I INCLUDE -I INCLUDE/internal offsets-gen.c
 *
 * A field that a version lacks is printed as -1. Not compiled into probetui.
 */
#include <Python.h>

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "internal/pycore_pystate.h"
#if PY_VERSION_HEX >= 0x03090000
#include "internal/pycore_interp.h"
#include "internal/pycore_runtime.h"
#endif
#if PY_VERSION_HEX >= 0x030b0000
#include "internal/pycore_code.h"
#include "internal/pycore_dict.h"
#include "internal/pycore_frame.h"
#else
#include "frameobject.h"
#endif
#if PY_VERSION_HEX >= 0x030e0000
#include "internal/pycore_debug_offsets.h"
#include "internal/pycore_instruments.h"
#include "internal/pycore_interpframe.h"
#endif

#define V PY_VERSION_HEX

static void row(const char *name, long value)
{
	printf("\t.%s = %ld,\n", name, value);
}

#define FIELD(name, type, member) row(#name, (long)offsetof(type, member))
#define SIZE(name, type) row(#name, (long)sizeof(type))
#define NONE(name) row(#name, -1)

static void print_runtime(void)
{
	FIELD(rt_interp_head, _PyRuntimeState, interpreters.head);
	FIELD(rt_interp_main, _PyRuntimeState, interpreters.main);
#if V < 0x030c0000
	FIELD(rt_tstate_current, _PyRuntimeState, gilstate.tstate_current);
	FIELD(rt_gil, _PyRuntimeState, ceval.gil);
#else
	NONE(rt_tstate_current);
	NONE(rt_gil);
#endif
}

static void print_interpreter(void)
{
	FIELD(is_next, PyInterpreterState, next);
	FIELD(is_id, PyInterpreterState, id);
#if V >= 0x030b0000
	FIELD(is_tstate_head, PyInterpreterState, threads.head);
#else
	FIELD(is_tstate_head, PyInterpreterState, tstate_head);
#endif
#if V >= 0x030c0000
	FIELD(is_modules, PyInterpreterState, imports.modules);
	FIELD(is_ceval_gil, PyInterpreterState, ceval.gil);
#else
	FIELD(is_modules, PyInterpreterState, modules);
	NONE(is_ceval_gil);
#endif
#if V >= 0x03090000
	FIELD(is_gc, PyInterpreterState, gc);
	FIELD(gc_collecting, struct _gc_runtime_state, collecting);
#else
	NONE(is_gc);
	NONE(gc_collecting);
#endif
	SIZE(gil_size, struct _gil_runtime_state);
	FIELD(gil_last_holder, struct _gil_runtime_state, last_holder);
	FIELD(gil_locked, struct _gil_runtime_state, locked);
}

static void print_thread(void)
{
	FIELD(ts_next, PyThreadState, next);
	FIELD(ts_interp, PyThreadState, interp);
	FIELD(ts_thread_id, PyThreadState, thread_id);
#if V >= 0x030b0000
	FIELD(ts_native_thread_id, PyThreadState, native_thread_id);
	NONE(ts_frame);
#else
	NONE(ts_native_thread_id);
	FIELD(ts_frame, PyThreadState, frame);
#endif
#if V >= 0x030d0000
	FIELD(ts_current_frame, PyThreadState, current_frame);
	NONE(ts_cframe);
	NONE(cframe_current_frame);
	NONE(cframe_previous);
#elif V >= 0x030b0000
	NONE(ts_current_frame);
	FIELD(ts_cframe, PyThreadState, cframe);
	FIELD(cframe_current_frame, _PyCFrame, current_frame);
	FIELD(cframe_previous, _PyCFrame, previous);
#elif V >= 0x030a0000
	NONE(ts_current_frame);
	FIELD(ts_cframe, PyThreadState, cframe);
	NONE(cframe_current_frame);
	FIELD(cframe_previous, CFrame, previous);
#else
	NONE(ts_current_frame);
	NONE(ts_cframe);
	NONE(cframe_current_frame);
	NONE(cframe_previous);
#endif
}

#if V >= 0x030b0000
static void print_frame(void)
{
#if V >= 0x030d0000
	FIELD(if_code, _PyInterpreterFrame, f_executable);
	FIELD(if_instr, _PyInterpreterFrame, instr_ptr);
#else
	FIELD(if_code, _PyInterpreterFrame, f_code);
	FIELD(if_instr, _PyInterpreterFrame, prev_instr);
#endif
	FIELD(if_previous, _PyInterpreterFrame, previous);
	NONE(if_lasti);
#if V >= 0x030e0000
	FIELD(if_stackpointer, _PyInterpreterFrame, stackpointer);
#else
	NONE(if_stackpointer);
#endif
	FIELD(if_owner, _PyInterpreterFrame, owner);
#if V >= 0x030c0000
	NONE(if_is_entry);
#else
	FIELD(if_is_entry, _PyInterpreterFrame, is_entry);
#endif
	FIELD(if_f_locals, _PyInterpreterFrame, f_locals);
	FIELD(if_f_globals, _PyInterpreterFrame, f_globals);
	FIELD(if_localsplus, _PyInterpreterFrame, localsplus);
}
#else
static void print_frame(void)
{
	FIELD(if_code, PyFrameObject, f_code);
	NONE(if_instr);
	FIELD(if_previous, PyFrameObject, f_back);
	FIELD(if_lasti, PyFrameObject, f_lasti);
	NONE(if_stackpointer);
	NONE(if_owner);
	NONE(if_is_entry);
	FIELD(if_f_locals, PyFrameObject, f_locals);
	FIELD(if_f_globals, PyFrameObject, f_globals);
	FIELD(if_localsplus, PyFrameObject, f_localsplus);
}
#endif

static void print_code(void)
{
	SIZE(co_size, PyCodeObject);
	FIELD(co_flags, PyCodeObject, co_flags);
	FIELD(co_nlocals, PyCodeObject, co_nlocals);
	FIELD(co_firstlineno, PyCodeObject, co_firstlineno);
	FIELD(co_filename, PyCodeObject, co_filename);
	FIELD(co_name, PyCodeObject, co_name);
#if V >= 0x030b0000
	FIELD(co_qualname, PyCodeObject, co_qualname);
	FIELD(co_nlocalsplus, PyCodeObject, co_nlocalsplus);
	FIELD(co_localsplusnames, PyCodeObject, co_localsplusnames);
	FIELD(co_localspluskinds, PyCodeObject, co_localspluskinds);
	FIELD(co_code_adaptive, PyCodeObject, co_code_adaptive);
	NONE(co_varnames);
	NONE(co_cellvars);
	NONE(co_freevars);
#else
	NONE(co_qualname);
	NONE(co_nlocalsplus);
	NONE(co_localsplusnames);
	NONE(co_localspluskinds);
	NONE(co_code_adaptive);
	FIELD(co_varnames, PyCodeObject, co_varnames);
	FIELD(co_cellvars, PyCodeObject, co_cellvars);
	FIELD(co_freevars, PyCodeObject, co_freevars);
#endif
#if V >= 0x030a0000
	FIELD(co_linetable, PyCodeObject, co_linetable);
#else
	FIELD(co_linetable, PyCodeObject, co_lnotab);
#endif
}

static void print_type(void)
{
	FIELD(tp_name, PyTypeObject, tp_name);
	FIELD(tp_basicsize, PyTypeObject, tp_basicsize);
	FIELD(tp_flags, PyTypeObject, tp_flags);
	FIELD(tp_dictoffset, PyTypeObject, tp_dictoffset);
	FIELD(tp_base, PyTypeObject, tp_base);
	FIELD(ht_cached_keys, PyHeapTypeObject, ht_cached_keys);
}

static void print_dict(void)
{
	FIELD(dict_keys, PyDictObject, ma_keys);
	FIELD(dict_values, PyDictObject, ma_values);
#if V >= 0x030b0000
	FIELD(dk_entries, PyDictKeysObject, dk_indices);
	FIELD(dk_log2_index_bytes, PyDictKeysObject, dk_log2_index_bytes);
	FIELD(dk_kind, PyDictKeysObject, dk_kind);
	FIELD(dk_nentries, PyDictKeysObject, dk_nentries);
#else
	NONE(dk_entries);
	NONE(dk_log2_index_bytes);
	NONE(dk_kind);
	NONE(dk_nentries);
#endif
}

static void print_object(void)
{
	SIZE(ascii_size, PyASCIIObject);
	SIZE(compact_size, PyCompactUnicodeObject);
	FIELD(uni_state, PyASCIIObject, state);
	FIELD(bytes_sval, PyBytesObject, ob_sval);
	print_dict();
	FIELD(tuple_item, PyTupleObject, ob_item);
	FIELD(list_item, PyListObject, ob_item);
	FIELD(float_val, PyFloatObject, ob_fval);
	FIELD(set_table, PySetObject, table);
	FIELD(set_mask, PySetObject, mask);
	FIELD(set_used, PySetObject, used);
#if V >= 0x030c0000
	FIELD(long_tag, PyLongObject, long_value.lv_tag);
	FIELD(long_digit, PyLongObject, long_value.ob_digit);
#else
	FIELD(long_tag, PyVarObject, ob_size);
	FIELD(long_digit, PyLongObject, ob_digit);
#endif
}

static void print_generator(void)
{
	FIELD(gen_qualname, PyGenObject, gi_qualname);
	FIELD(gen_exc_value, PyGenObject, gi_exc_state.exc_value);
#if V >= 0x030b0000
	FIELD(gen_frame, PyGenObject, gi_iframe);
	FIELD(gen_frame_state, PyGenObject, gi_frame_state);
#else
	FIELD(gen_frame, PyGenObject, gi_frame);
	NONE(gen_frame_state);
#endif
}

static void print_exception(void)
{
	FIELD(ts_exc_info, PyThreadState, exc_info);
#if V >= 0x030c0000
	FIELD(ts_raised, PyThreadState, current_exception);
#else
	FIELD(ts_raised, PyThreadState, curexc_value);
#endif
	FIELD(ei_value, _PyErr_StackItem, exc_value);
	FIELD(ei_previous, _PyErr_StackItem, previous_item);
	FIELD(be_traceback, PyBaseExceptionObject, traceback);
	FIELD(be_context, PyBaseExceptionObject, context);
	FIELD(be_cause, PyBaseExceptionObject, cause);
	FIELD(tb_frame, PyTracebackObject, tb_frame);
#if V >= 0x030b0000
	FIELD(fr_frame, PyFrameObject, f_frame);
#else
	NONE(fr_frame);
#endif
}

/* Further offsets for stepping by ptrace (backends/ptrace). */
static void print_control(void)
{
	FIELD(ts_tracefunc, PyThreadState, c_tracefunc);
#if V >= 0x030c0000
	FIELD(ts_error, PyThreadState, current_exception);
#else
	FIELD(ts_error, PyThreadState, curexc_type);
#endif
#if V >= 0x030e0000
	FIELD(if_leaving, _PyInterpreterFrame, stackpointer);
	row("if_leaving_size", 8);
#elif V >= 0x030b0000
	FIELD(if_leaving, _PyInterpreterFrame, stacktop);
	row("if_leaving_size", 4);
#elif V >= 0x030a0000
	FIELD(if_leaving, PyFrameObject, f_state);
	row("if_leaving_size", 1);
#else
	FIELD(if_leaving, PyFrameObject, f_executing);
	row("if_leaving_size", 1);
#endif
#if V >= 0x030b0000
	FIELD(if_frame_object, _PyInterpreterFrame, frame_obj);
	FIELD(co_exceptiontable, PyCodeObject, co_exceptiontable);
	NONE(co_code);
#else
	NONE(if_frame_object);
	NONE(co_exceptiontable);
	FIELD(co_code, PyCodeObject, co_code);
#endif
	FIELD(co_consts, PyCodeObject, co_consts);
	FIELD(co_names, PyCodeObject, co_names);
#if V >= 0x030c0000
	FIELD(co_monitoring, PyCodeObject, _co_monitoring);
	FIELD(mo_lines, _PyCoMonitoringData, lines);
	FIELD(mo_instructions, _PyCoMonitoringData, per_instruction_opcodes);
#else
	NONE(co_monitoring);
	NONE(mo_lines);
	NONE(mo_instructions);
#endif
	FIELD(func_code, PyFunctionObject, func_code);
	FIELD(func_closure, PyFunctionObject, func_closure);
	FIELD(cell_ref, PyCellObject, ob_ref);
	FIELD(tp_dict, PyTypeObject, tp_dict);
}

static void print_offsets(void)
{
	print_runtime();
	print_interpreter();
	print_thread();
	print_frame();
	print_code();
	print_type();
	print_object();
	print_generator();
	print_exception();
	print_control();
}

#if V >= 0x030d0000
#define PLACE(name, member) FIELD(name, struct _Py_DebugOffsets, member)

static void print_positions(void)
{
	PLACE(rt_interp_head, runtime_state.interpreters_head);
	PLACE(is_id, interpreter_state.id);
	PLACE(is_next, interpreter_state.next);
	PLACE(is_tstate_head, interpreter_state.threads_head);
	PLACE(is_modules, interpreter_state.imports_modules);
	PLACE(is_ceval_gil, interpreter_state.ceval_gil);
	PLACE(is_gc, interpreter_state.gc);
	PLACE(gc_collecting, gc.collecting);
	PLACE(ts_next, thread_state.next);
	PLACE(ts_interp, thread_state.interp);
	PLACE(ts_current_frame, thread_state.current_frame);
	PLACE(ts_thread_id, thread_state.thread_id);
	PLACE(ts_native_thread_id, thread_state.native_thread_id);
	PLACE(if_previous, interpreter_frame.previous);
	PLACE(if_code, interpreter_frame.executable);
	PLACE(if_instr, interpreter_frame.instr_ptr);
	PLACE(if_localsplus, interpreter_frame.localsplus);
	PLACE(if_owner, interpreter_frame.owner);
	PLACE(co_size, code_object.size);
	PLACE(co_filename, code_object.filename);
	PLACE(co_name, code_object.name);
	PLACE(co_qualname, code_object.qualname);
	PLACE(co_linetable, code_object.linetable);
	PLACE(co_firstlineno, code_object.firstlineno);
	PLACE(co_localsplusnames, code_object.localsplusnames);
	PLACE(co_localspluskinds, code_object.localspluskinds);
	PLACE(co_code_adaptive, code_object.co_code_adaptive);
	PLACE(tp_name, type_object.tp_name);
	PLACE(tp_flags, type_object.tp_flags);
	PLACE(tuple_item, tuple_object.ob_item);
	PLACE(list_item, list_object.ob_item);
	PLACE(dict_keys, dict_object.ma_keys);
	PLACE(dict_values, dict_object.ma_values);
	PLACE(float_val, float_object.ob_fval);
	PLACE(long_tag, long_object.lv_tag);
	PLACE(long_digit, long_object.ob_digit);
	PLACE(bytes_sval, bytes_object.ob_sval);
	PLACE(uni_state, unicode_object.state);
	PLACE(ascii_size, unicode_object.asciiobject_size);
#if V >= 0x030e0000
	PLACE(set_used, set_object.used);
	PLACE(set_table, set_object.table);
	PLACE(set_mask, set_object.mask);
	PLACE(if_stackpointer, interpreter_frame.stackpointer);
	PLACE(gen_frame, gen_object.gi_iframe);
	PLACE(gen_frame_state, gen_object.gi_frame_state);
#endif
}
#else
static void print_positions(void)
{
}
#endif

int main(int argc, char **argv)
{
	printf("{\n\t/* CPython %s */\n\t.version = 0x%08x,\n", PY_VERSION, V);
	if (argc > 1 && strcmp(argv[1], "positions") == 0)
		print_positions();
	else
		print_offsets();
	printf("},\n");
	return 0;
}
