/* phase: what a trainer does, by its frames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "model/phase.h"
#include "protocol/stack.h"

#define INSTALLED "/venv/lib/python3.11/site-packages/"
#define FRAMES 4

/* The frames between torch's, which is innermost, and the user's: the innermost first. */
struct row {
	const char *frames[FRAMES][3]; /* function, qualified name, file */
	const char *phase;
};

static const struct row rows[] = {
	{ { { "evaluate", NULL, INSTALLED "transformers/trainer.py" },
	    { "_inner_training_loop", NULL, INSTALLED "transformers/trainer.py" } },
	  ", evaluation" },
	{ { { "_save_checkpoint", NULL, INSTALLED "transformers/trainer.py" } }, ", checkpoint" },
	{ { { "_inner_training_loop", NULL, INSTALLED "transformers/trainer.py" } }, ", training" },
	{ { { "run", NULL, INSTALLED "lightning/pytorch/loops/evaluation_loop.py" },
	    { "advance", NULL, INSTALLED "pytorch_lightning/loops/fit_loop.py" } },
	  ", evaluation" },
	{ { { "_save_last", "ModelCheckpoint._save_last",
	      INSTALLED "lightning/pytorch/callbacks/model_checkpoint.py" },
	    { "on_train_epoch_end", "ModelCheckpoint.on_train_epoch_end",
	      INSTALLED "lightning/pytorch/callbacks/model_checkpoint.py" },
	    { "_call_callback_hooks", NULL, INSTALLED "lightning/pytorch/trainer/call.py" },
	    { "run", NULL, INSTALLED "lightning/pytorch/loops/fit_loop.py" } },
	  ", checkpoint by ModelCheckpoint" },
	{ { { "on_validation_end", "EarlyStopping.on_validation_end",
	      INSTALLED "lightning/pytorch/callbacks/early_stopping.py" },
	    { "_call_callback_hooks", NULL, INSTALLED "lightning/pytorch/trainer/call.py" } },
	  ", callback EarlyStopping" },
	/* before Python 3.11 there are no qualified names */
	{ { { "on_log", NULL, INSTALLED "transformers/integrations/wandb.py" },
	    { "call_event", NULL, INSTALLED "transformers/trainer_callback.py" } },
	  ", callback" },
	/* called by the profiler around the callback */
	{ { { "__enter__", "_GeneratorContextManager.__enter__",
	      "/usr/lib/python3.11/contextlib.py" },
	    { "_call_callback_hooks", NULL, INSTALLED "lightning/pytorch/trainer/call.py" } },
	  "" },
	/* the environment's folder has a trainer's name */
	{ { { "evaluate", NULL,
	      "/home/me/transformers/venv/lib/python3.11/site-packages/trl/sft_trainer.py" } },
	  "" },
	/* the user's own files of these names */
	{ { { "evaluate", NULL, "/home/me/transformers/trainer.py" } }, "" },
	{ { { "evaluate", NULL, INSTALLED "mine/trainer.py" } }, "" },
	{ { { "forward", NULL, INSTALLED "torch/nn/modules/module.py" } }, "" },
	{ { { NULL } }, "" },
};

static void the_innermost_phase_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct code codes[FRAMES + 1] = { { .func = NULL } };
		struct frame frames[FRAMES + 1];
		struct stack stack = { .frames = frames };
		struct buffer out = BUFFER_INIT;
		size_t count = 0;

		for (; count < FRAMES && rows[i].frames[count][0]; count++) {
			codes[count].func = (char *)(uintptr_t)rows[i].frames[count][0];
			codes[count].qualname = (char *)(uintptr_t)rows[i].frames[count][1];
			codes[count].file = (char *)(uintptr_t)rows[i].frames[count][2];
			frames[count] = (struct frame){ &codes[count], 1 };
		}
		frames[count] = (struct frame){ &codes[count], 1 };
		stack.frame_count = count + 1;
		phase_append(&out, &stack, &frames[count]);
		if (strcmp(out.data ? out.data : "", rows[i].phase) != 0)
			fail_msg("row %zu: \"%s\"", i, out.data ? out.data : "");
		buffer_clear(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_innermost_phase_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
