/*
 * cpython: the version of the CPython that a process runs, and the layout of its structs.
 *
 * Offsets come from a built-in table, generated with offsetof() against each version's headers
 * (offsets.inc, made by offsets-gen.c), and on 3.13 and later from the interpreter's own
 * _Py_DebugOffsets (PEP 768 and Include/internal/pycore_debug_offsets.h), which override the table.
 * An interpreter that cannot be validated is refused.
 */
#ifndef BACKENDS_CPYTHON_CPYTHON_H
#define BACKENDS_CPYTHON_CPYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct loaded_elf_cache;
struct error;
struct memory;

/* Byte offsets and sizes; -1: this version has no such field. */
struct offsets {
	long version; /* PY_VERSION_HEX of the headers */
	long rt_interp_head, rt_interp_main, rt_tstate_current,
		rt_gil; /* rt_gil: the GIL itself, up to 3.11 */
	long is_next, is_id, is_tstate_head, is_modules, is_ceval_gil, is_gc;
	long gil_size, gil_last_holder, gil_locked;
	long ts_next, ts_interp, ts_thread_id, ts_native_thread_id, ts_frame, ts_cframe,
		ts_current_frame;
	long cframe_current_frame, cframe_previous;
	long if_code, if_previous, if_lasti, if_instr, if_stackpointer, if_owner, if_is_entry,
		if_f_locals, if_f_globals, if_localsplus;
	long co_size, co_flags, co_nlocals, co_nlocalsplus, co_firstlineno, co_filename, co_name,
		co_qualname, co_varnames, co_cellvars, co_freevars, co_localsplusnames,
		co_localspluskinds, co_linetable, co_code_adaptive;
	long tp_name, tp_basicsize, tp_flags, tp_dictoffset, tp_base, ht_cached_keys;
	long ascii_size, compact_size, uni_state, bytes_sval, dict_keys, dict_values, dk_entries,
		dk_log2_index_bytes, dk_kind, dk_nentries, tuple_item, list_item, float_val,
		set_table, set_mask, set_used, long_tag, long_digit;
	long gc_collecting; /* offset in the struct that lies at is_gc */
	long gen_qualname, gen_frame, gen_frame_state, gen_exc_value;
	long ts_exc_info, ts_raised, ei_value, ei_previous;
	long be_traceback, be_context, be_cause, tb_frame,
		fr_frame;  /* fr_frame: in the frame object, its interpreter frame */
	long ts_tracefunc; /* in the thread state; not 0 there: traced by sys.settrace() */
	long ts_error;	   /* in the thread state; not 0 there: an exception is being raised */
	/*
	 * The field that is written when an exception ends a frame, before the frame is unlinked:
	 * f_executing (3.8, 3.9), f_state (3.10), stacktop (3.11 to 3.13), stackpointer (3.14).
	 */
	long if_leaving, if_leaving_size;
	long if_frame_object; /* 3.11+: NULL until a frame object is made */
	long co_exceptiontable, co_code, co_consts, co_names;
	/* Arrays of the opcodes that instrumented opcodes have replaced (3.12 on). */
	long co_monitoring, mo_lines, mo_instructions;
	long func_code, func_closure, cell_ref, tp_dict;
};

struct cpython {
	int minor;	       /* 8 … 14 */
	uint32_t version;      /* PY_VERSION_HEX; patch and release bytes 0: patch unknown */
	char version_text[16]; /* "3.11.7" */
	uint64_t runtime;      /* address of _PyRuntime */
	uint64_t code_type;    /* address of PyCode_Type; 0 unknown */
	uint64_t hash_secret;  /* address of _Py_HashSecret; 0 unknown */
	uint64_t eval_code;    /* address of PyEval_EvalCode; 0 unknown */
	struct offsets offsets;
};

/*
 * Finds the interpreter of a process and validates it. Searches the program (load address from the
 * auxiliary vector), the libraries of its link map, a section .PyRuntime in /proc/PID/exe, then all
 * mapped files named python. On failure (not Python, PyPy, an unknown version, no permission …),
 * returns -1 and sets error.
 */
int cpython_locate(struct cpython *python, struct memory *memory, struct loaded_elf_cache *cache,
		   struct error *error);

#endif
