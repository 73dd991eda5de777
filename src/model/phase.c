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

struct phase_row {
	const char *func;   /* "*": any function */
	const char *folder; /* in the path: both lightning/pytorch/ and pytorch_lightning/ */
	const char *file;   /* after the folder; if this text ends in '/': a folder */
	const char *name;
};

#define LIGHTNING "lightning/"

static const struct phase_row rows[] = {
	{ "*", LIGHTNING, "/callbacks/model_checkpoint.py", "checkpoint" },
	{ "*", LIGHTNING, "/trainer/connectors/checkpoint_connector.py", "checkpoint" },
	{ "save_checkpoint", LIGHTNING, "/trainer/trainer.py", "checkpoint" },
	{ "*", LIGHTNING, "/trainer/connectors/logger_connector/", "logging" },
	{ "*", LIGHTNING, "/loops/evaluation_loop.py", "evaluation" },
	{ "*", LIGHTNING, "/loops/prediction_loop.py", "prediction" },
	{ "*", LIGHTNING, "/loops/training_epoch_loop.py", "training" },
	{ "*", LIGHTNING, "/loops/fit_loop.py", "training" },
	{ "setup", LIGHTNING, "/strategies/", "setup" },
	{ "setup_environment", LIGHTNING, "/strategies/", "setup" },
	{ "_call_setup_hook", LIGHTNING, "/trainer/call.py", "setup" },
	{ "_call_teardown_hook", LIGHTNING, "/trainer/call.py", "teardown" },
	{ "_save_checkpoint", "transformers/", "trainer.py", "checkpoint" },
	{ "save_model", "transformers/", "trainer.py", "checkpoint" },
	{ "_load_from_checkpoint", "transformers/", "trainer.py", "checkpoint" },
	{ "_load_best_model", "transformers/", "trainer.py", "checkpoint" },
	{ "log", "transformers/", "trainer.py", "logging" },
	{ "_maybe_log_save_evaluate", "transformers/", "trainer.py", "logging" },
	{ "evaluate", "transformers/", "trainer.py", "evaluation" },
	{ "predict", "transformers/", "trainer.py", "prediction" },
	{ "training_step", "transformers/", "trainer.py", "training" },
	{ "_inner_training_loop", "transformers/", "trainer.py", "training" },
	{ "save_state", "accelerate/", "accelerator.py", "checkpoint" },
	{ "load_state", "accelerate/", "accelerator.py", "checkpoint" },
	{ "save_model", "accelerate/", "accelerator.py", "checkpoint" },
	{ "log", "accelerate/", "accelerator.py", "logging" },
	{ "save_checkpoint", "deepspeed/", "runtime/engine.py", "checkpoint" },
	{ "load_checkpoint", "deepspeed/", "runtime/engine.py", "checkpoint" },
};

/* Functions that call the callbacks of a trainer. */
static const struct phase_row callers[] = {
	{ "_call_callback_hooks", LIGHTNING, "/trainer/call.py", NULL },
	{ "call_event", "transformers/", "trainer_callback.py", NULL },
};

static bool phase_matches(const struct phase_row *row, const struct code *code)
{
	const char *after = strstr(code->file, row->folder);
	size_t length = strlen(row->file);

	if (!after || (row->func[0] != '*' && strcmp(row->func, code->func) != 0))
		return false;
	after += strlen(row->folder) - 1;
	if (row->file[length - 1] == '/')
		return strstr(after, row->file) && place_is_library(code->file);
	return strlen(after) >= length && strcmp(after + strlen(after) - length, row->file) == 0 &&
	       place_is_library(code->file);
}

static const struct phase_row *phase_find_row(const struct phase_row *table, size_t count,
					      const struct code *code)
{
	for (size_t i = 0; i < count; i++) {
		if (phase_matches(&table[i], code))
			return &table[i];
	}
	return NULL;
}

/* Appends the class of a method, which its qualified name has from Python 3.11 on. */
static void append_class(struct buffer *out, const struct code *code, const char *before)
{
	size_t length = code->qualname ? strcspn(code->qualname, ".") : 0;
	struct buffer name = BUFFER_INIT;

	if (length == 0 || code->qualname[length] == '\0')
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
		if (frame > stack->frames &&
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
