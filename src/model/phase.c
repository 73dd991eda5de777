#include "model/phase.h"

#include <stdbool.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/place.h"
#include "protocol/stack.h"

#define NAME_COLUMNS 60

enum trainer {
	LIGHTNING,
	TRANSFORMERS,
	ACCELERATE,
	DEEPSPEED,
};

/* The folders of the trainers' packages. */
static const struct {
	const char *folder;
	enum trainer trainer;
} packages[] = {
	{ "/lightning/pytorch/", LIGHTNING }, { "/pytorch_lightning/", LIGHTNING },
	{ "/transformers/", TRANSFORMERS },   { "/accelerate/", ACCELERATE },
	{ "/deepspeed/", DEEPSPEED },
};

struct phase_row {
	enum trainer trainer;
	const char *func; /* "*": any function */
	const char *file; /* in the package; if this text ends in '/': a folder */
	const char *name;
};

static const struct phase_row rows[] = {
	{ LIGHTNING, "*", "callbacks/model_checkpoint.py", "checkpoint" },
	{ LIGHTNING, "*", "trainer/connectors/checkpoint_connector.py", "checkpoint" },
	{ LIGHTNING, "save_checkpoint", "trainer/trainer.py", "checkpoint" },
	{ LIGHTNING, "*", "trainer/connectors/logger_connector/", "logging" },
	{ LIGHTNING, "*", "loops/evaluation_loop.py", "evaluation" },
	{ LIGHTNING, "*", "loops/prediction_loop.py", "prediction" },
	{ LIGHTNING, "*", "loops/training_epoch_loop.py", "training" },
	{ LIGHTNING, "*", "loops/fit_loop.py", "training" },
	{ LIGHTNING, "setup", "strategies/", "setup" },
	{ LIGHTNING, "setup_environment", "strategies/", "setup" },
	{ LIGHTNING, "_call_setup_hook", "trainer/call.py", "setup" },
	{ LIGHTNING, "_call_teardown_hook", "trainer/call.py", "teardown" },
	{ TRANSFORMERS, "_save_checkpoint", "trainer.py", "checkpoint" },
	{ TRANSFORMERS, "save_model", "trainer.py", "checkpoint" },
	{ TRANSFORMERS, "_load_from_checkpoint", "trainer.py", "checkpoint" },
	{ TRANSFORMERS, "_load_best_model", "trainer.py", "checkpoint" },
	{ TRANSFORMERS, "log", "trainer.py", "logging" },
	{ TRANSFORMERS, "_maybe_log_save_evaluate", "trainer.py", "logging" },
	{ TRANSFORMERS, "evaluate", "trainer.py", "evaluation" },
	{ TRANSFORMERS, "predict", "trainer.py", "prediction" },
	{ TRANSFORMERS, "training_step", "trainer.py", "training" },
	{ TRANSFORMERS, "_inner_training_loop", "trainer.py", "training" },
	{ ACCELERATE, "save_state", "accelerator.py", "checkpoint" },
	{ ACCELERATE, "load_state", "accelerator.py", "checkpoint" },
	{ ACCELERATE, "save_model", "accelerator.py", "checkpoint" },
	{ ACCELERATE, "log", "accelerator.py", "logging" },
	{ DEEPSPEED, "save_checkpoint", "runtime/engine.py", "checkpoint" },
	{ DEEPSPEED, "load_checkpoint", "runtime/engine.py", "checkpoint" },
};

/* Functions that call the callbacks of a trainer. */
static const struct phase_row callers[] = {
	{ LIGHTNING, "_call_callback_hooks", "trainer/call.py", NULL },
	{ TRANSFORMERS, "call_event", "trainer_callback.py", NULL },
};

/* Returns the file's path in the package of a trainer; NULL: it is in none. */
static const char *path_in_trainer(const char *file, enum trainer *trainer)
{
	const char *path = NULL;

	for (size_t i = 0; i < ARRAY_LENGTH(packages); i++) {
		const char *at = file;

		while ((at = strstr(at, packages[i].folder))) {
			at += strlen(packages[i].folder);
			if (!path || at > path) {
				path = at;
				*trainer = packages[i].trainer;
			}
			at--; /* the '/' may begin the next folder */
		}
	}
	return path && place_is_library(file) ? path : NULL;
}

static bool phase_matches(const struct phase_row *row, const char *func, const char *path)
{
	size_t length = strlen(row->file);

	if (row->func[0] != '*' && strcmp(row->func, func) != 0)
		return false;
	if (row->file[length - 1] == '/')
		return strncmp(path, row->file, length) == 0;
	return strcmp(path, row->file) == 0;
}

static const struct phase_row *phase_find_row(const struct phase_row *table, size_t count,
					      const struct code *code)
{
	enum trainer trainer;
	const char *path = path_in_trainer(code->file, &trainer);

	for (size_t i = 0; path && i < count; i++) {
		if (table[i].trainer == trainer && phase_matches(&table[i], code->func, path))
			return &table[i];
	}
	return NULL;
}

/* Appends the class of a method, which its qualified name has from Python 3.11 on. */
static void append_class(struct buffer *out, const struct code *code, const char *before)
{
	size_t length = code->qualname ? strcspn(code->qualname, ".") : 0;
	struct buffer name = BUFFER_INIT;

	if (length == 0 || code->qualname[length] == '\0' || strchr(code->qualname, '<'))
		return;
	buffer_append_string(out, before);
	text_escape(&name, code->qualname, length);
	text_cut(out, name.data, NAME_COLUMNS);
	buffer_clear(&name);
}

/* The innermost row is what the framework does: an evaluation is within the training. */
void phase_append(struct buffer *out, const struct stack *stack, const struct frame *place)
{
	const struct phase_row *found = NULL;

	for (const struct frame *frame = stack->frames; frame < place; frame++) {
		if (frame > stack->frames && strncmp(frame[-1].code->func, "on_", 3) == 0 &&
		    phase_find_row(callers, ARRAY_LENGTH(callers), frame->code)) {
			buffer_printf(out, ", %s", found ? found->name : "callback");
			append_class(out, frame[-1].code, found ? " by " : " ");
			return;
		}
		if (!found)
			found = phase_find_row(rows, ARRAY_LENGTH(rows), frame->code);
	}
	if (found)
		buffer_printf(out, ", %s", found->name);
}
