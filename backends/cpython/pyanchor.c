#include "backends/cpython/pyanchor.h"

#include "banned.h"

#include "backends/cpython/cpython.h"
#include "backends/cpython/pywalk.h"
#include "backends/linux/memory.h"

void pyanchor_fill(struct pywalk *walk, struct memory *memory, const struct cpython *python,
		   uint64_t tstate)
{
	const struct offsets *offsets = &python->offsets;
	uint64_t cframe;

	if (python->minor >= 12 || offsets->cframe_previous < 0 ||
	    memory_read_u64(memory, tstate + (uint64_t)offsets->ts_cframe, &cframe) < 0)
		return;
	for (size_t i = 0; i < walk->count && cframe; i++) {
		struct pyframe *frame = &walk->frames[i];
		frame->anchor = cframe;
		if (offsets->if_is_entry >= 0 && !frame->is_entry)
			continue;
		if (memory_read_u64(memory, cframe + (uint64_t)offsets->cframe_previous, &cframe) <
		    0)
			return;
	}
}
