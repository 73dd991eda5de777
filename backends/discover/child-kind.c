#include "backends/discover/child-kind.h"

#include <stddef.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "protocol/stack.h"

/* The number of outermost frames that are checked. */
#define FRAMES_MAXIMUM 256

/* A child with a frame whose file contains `part` has this role. */
struct role_file {
	const char *part;
	const char *role;
};

static const struct role_file role_files[] = {
	{ "torch/utils/data/_utils/worker.py", "dataloader" },
	{ "torch/_inductor/compile_worker/", "compile" },
	{ "torch/distributed/checkpoint/", "checkpoint" },
};

const char *child_kind_of_stack(const struct stack *stack)
{
	size_t count = stack->frame_count;

	/* From the outermost frame inwards: the first match wins. */
	for (size_t i = 0; i < count && i < FRAMES_MAXIMUM; i++) {
		const char *file = stack->frames[count - 1 - i].code->file;

		for (size_t j = 0; j < ARRAY_LENGTH(role_files); j++)
			if (strstr(file, role_files[j].part))
				return role_files[j].role;
	}
	return NULL;
}
