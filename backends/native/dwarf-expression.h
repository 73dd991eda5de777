/*
 * dwarf-expression: evaluates DWARF expressions of call frame information (DWARF 5, 2.5 and 6.4.2),
 * with bounded length, stack and jumps. Part of the module probetui-native.so.
 */
#ifndef BACKENDS_NATIVE_DWARF_EXPRESSION_H
#define BACKENDS_NATIVE_DWARF_EXPRESSION_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "backends/native/unwinder.h"

struct dwarf_expression {
	const struct registers *registers; /* registers of the callee */
	const struct unwind_memory *memory;
	uint64_t bias;
	uint64_t cfa; /* canonical frame address; 0: unknown so far */
};

/*
 * Evaluates ops. Sets *result to the value (*is_value true) or to the address of the value (false).
 * Returns UNWIND_CALLER on success, else the reason of the failure.
 */
enum unwind_result dwarf_expression_run(const struct dwarf_expression *expression,
					const Dwarf_Op *ops, size_t count, uint64_t *result,
					bool *is_value);

#endif
