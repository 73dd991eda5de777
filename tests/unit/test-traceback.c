/* traceback: what CPython and torch.distributed print, and what was lost of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "model/traceback.h"

#define COLUMNS 60
#define HEAD "Traceback (most recent call last):\n"
#define TRAIN "  File \"/job/train.py\", line 20, in <module>\n    main()\n    ~~~~^^\n"
#define DATA "  File \"/job/data.py\", line 12, in load\n    raise ValueError(\"bad batch\")\n"
#define TORCH                                                                                      \
	"  File \"/venv/lib/python3.11/site-packages/torch/utils/data.py\", line 9, in fetch\n"

struct row {
	const char *text;
	const char *found; /* one exception after the other, each with its marks */
};

static const struct row rows[] = {
	{ HEAD TRAIN DATA "ValueError: bad batch\n", "ValueError: bad batch (data.py:12)" },
	/* the innermost frame is a library's */
	{ HEAD TRAIN TORCH "pkg.errors.DataError: no\n", "pkg.errors.DataError: no (train.py:20)" },
	{ HEAD TORCH "KeyError\n", "KeyError (data.py:9)" },
	{ "step 1\n" HEAD TRAIN "KeyError: 'x'\nstep 2\n", "KeyError: 'x' (train.py:20)" },
	/* a message of several lines, the first of them empty */
	{ HEAD TRAIN "RuntimeError: \nout of cheese\nredo\n",
	  "RuntimeError: out of cheese (train.py:20)" },
	{ HEAD TRAIN "KeyError: 'x'\n\nThe above exception was the direct cause of the following "
		     "exception:\n\n" HEAD DATA "ValueError: bad batch\n",
	  "KeyError: 'x' (train.py:20); caused by 0 ValueError: bad batch (data.py:12)" },
	{ HEAD TRAIN "KeyError: 'x'\n\nDuring handling of the above exception, another exception "
		     "occurred:\n\n" HEAD DATA "ValueError: bad batch\n",
	  "KeyError: 'x' (train.py:20); during 0 ValueError: bad batch (data.py:12)" },
	/* two that have nothing to do with each other */
	{ HEAD TRAIN "KeyError: 'x'\n\n" HEAD DATA "ValueError: bad batch\n",
	  "KeyError: 'x' (train.py:20); ValueError: bad batch (data.py:12)" },
	{ "[rank2]: " HEAD "[rank2]:   File \"/job/train.py\", line 3, in f\n[rank2]:     g()\n"
	  "[rank2]: OSError: [Errno 5] no\n",
	  "rank 2 OSError: [Errno 5] no (train.py:3)" },
	/* two ranks print at once */
	{ "[rank1]: " HEAD "[rank0]: " HEAD "[rank1]:   File \"/job/a.py\", line 1, in f\n"
	  "[rank0]:   File \"/job/b.py\", line 2, in f\n[rank0]: KeyError: 0\n"
	  "[rank1]: KeyError: 1\n",
	  "rank 0 KeyError: 0 (b.py:2); rank 1 KeyError: 1 (a.py:1)" },
	/* torchrun --tee 3 */
	{ "[default1]:" HEAD "[default1]:  File \"/job/a.py\", line 1, in f\n[default1]:KeyError\n",
	  "KeyError (a.py:1)" },
	{ "[default1]:[rank5]: " HEAD
	  "[default1]:[rank5]:   File \"/job/a.py\", line 1, in f\n[default1]:[rank5]: KeyError\n",
	  "rank 5 KeyError (a.py:1)" },
	{ "Exception in thread saver:\n" HEAD TRAIN "OSError: full\n",
	  "thread saver OSError: full (train.py:20)" },
	{ "  + Exception Group Traceback (most recent call last):\n"
	  "  |   File \"/job/g.py\", line 8, in <module>\n"
	  "  | ExceptionGroup: two (2 sub-exceptions)\n"
	  "  +-+---------------- 1 ----------------\n"
	  "    | Traceback (most recent call last):\n"
	  "    |   File \"/job/g.py\", line 3, in one\n"
	  "    | ValueError: one\n"
	  "    +---------------- 2 ----------------\n"
	  "    | Traceback (most recent call last):\n"
	  "    |   File \"/job/g.py\", line 5, in two\n"
	  "    | KeyError: 2\n"
	  "    +------------------------------------\n",
	  "ExceptionGroup: two (2 sub-exceptions) (g.py:8); of 0 ValueError: one (g.py:3); of 0 "
	  "KeyError: 2 (g.py:5)" },
	{ HEAD
	  "  File \"/job/a.py\", line 3\n    x = (\n        ^\nSyntaxError: '(' was never closed\n",
	  "SyntaxError: '(' was never closed (a.py:3)" },
	{ HEAD TRAIN "  [Previous line repeated 996 more times]\nRecursionError\n",
	  "RecursionError (train.py:20)" },
	{ HEAD TRAIN "a.<locals>.Wrong: \x1b[31mred\r\n",
	  "a.<locals>.Wrong: ^[[31mred (train.py:20)" },
	{ "terminate called after throwing an instance of 'gloo::EnforceNotMet'\n"
	  "  what():  [enforce fail at /w/gloo/pair.cc:490] 36 vs 32\nnext\n",
	  "gloo::EnforceNotMet: 36 vs 32" },
	{ HEAD TRAIN "RuntimeError: [/w/gloo/pair.cc:537] Read error\n",
	  "RuntimeError: Read error (train.py:20)" },
	{ HEAD TRAIN "RuntimeError: [/w/gloo/pair.cc:547] Read error [::1]:9: Connection reset by "
		     "peer. This is typically caused by a remote worker hanging or bugs in the "
		     "application. Check the log.\n",
	  "RuntimeError: Read error [::1]:9: Connection reset by peer (train.py:20)" },
	{ HEAD TRAIN "RuntimeError: [pair.cc:537] Read error\n",
	  "RuntimeError: [pair.cc:537] Read error (train.py:20)" },
	{ "terminate called after throwing an instance of 'int'\nFatal Python error: Aborted\n\n"
	  "Thread 0x00007f01 (most recent call first):\n  File \"/job/other.py\", line 1 in "
	  "wait\n\n"
	  "Current thread 0x00007f00 (most recent call first):\n"
	  "  File \"/venv/lib/python3.11/site-packages/torch/x.py\", line 9 in call\n"
	  "  File \"/job/train.py\", line 7 in step\n  File \"/job/train.py\", line 20 in "
	  "<module>\n"
	  "\nExtension modules: numpy (total: 1)\n",
	  "int; Fatal Python error: Aborted (train.py:7)" },
	/* source code that looks like the margin of a group */
	{ HEAD "  File \"/job/train.py\", line 20, in f\n    + reg(2)\n    | 3\nKeyError: 1\n",
	  "KeyError: 1 (train.py:20)" },
	/* no message, and other text behind it */
	{ HEAD TRAIN "AssertionError\nstep 2\n", "AssertionError (train.py:20)" },
	{ HEAD TRAIN "AssertionError\nterminate called after throwing an instance of 'int'\n",
	  "AssertionError (train.py:20); int" },
	/* behind a progress bar */
	{ "\r 7%|#| 7/100" HEAD TRAIN "KeyError: 1\n", "KeyError: 1 (train.py:20)" },
	{ "\r 7%|#| 7/100[rank1]: " HEAD "[rank1]:   File \"/job/a.py\", line 1, in f\n"
	  "[rank1]: KeyError: 3\n",
	  "rank 1 KeyError: 3 (a.py:1)" },
	{ "7/100[rank1]: " HEAD "[rank1]:   File \"/job/a.py\", line 1, in f\n"
	  "[rank1]: KeyError: 3\n",
	  "rank 1 KeyError: 3 (a.py:1)" },
	{ "\r7/9\r8/9terminate called after throwing an instance of 'int'\n", "int" },
	/* quoted */
	{ "the worker said: " HEAD TRAIN "KeyError: 1\n", "" },
	/* lines of other threads between those of a traceback */
	{ HEAD TRAIN "INFO: saved\n", "" },
	{ HEAD TRAIN "loss: 0.5\n", "" },
	{ HEAD "ValueError: no frame\n", "" },
	{ HEAD TRAIN "zlib.error: Error -3\n", "zlib.error: Error -3 (train.py:20)" },
	{ HEAD TRAIN "_queue.Empty\n", "_queue.Empty (train.py:20)" },
	/* the chain of a thread */
	{ "Exception in thread saver:\n" HEAD TRAIN
	  "KeyError: 1\n\nDuring handling of the above exception, another exception "
	  "occurred:\n\n" HEAD DATA "OSError: full\n",
	  "thread saver KeyError: 1 (train.py:20); thread saver during 0 OSError: full "
	  "(data.py:12)" },
	{ "Exception in thread \"main\" java.lang.Error\n\tat A.b\n" HEAD TRAIN "KeyError: 1\n",
	  "KeyError: 1 (train.py:20)" },
	/* what follows a group follows from the group */
	{ "  + Exception Group Traceback (most recent call last):\n"
	  "  |   File \"/job/g.py\", line 8, in <module>\n"
	  "  | ExceptionGroup: two (1 sub-exception)\n"
	  "  +-+---------------- 1 ----------------\n"
	  "    | Traceback (most recent call last):\n"
	  "    |   File \"/job/g.py\", line 3, in one\n"
	  "    | ValueError: one\n"
	  "    +------------------------------------\n\n"
	  "During handling of the above exception, another exception occurred:\n\n" HEAD TRAIN
	  "KeyError: 2\n",
	  "ExceptionGroup: two (1 sub-exception) (g.py:8); of 0 ValueError: one (g.py:3); during 0 "
	  "KeyError: 2 (train.py:20)" },
	/* what led to it was cut */
	{ "[rank0]: " HEAD "[rank0]:   File \"/job/a.py\", line 1, in f\n[rank0]: KeyError: 0\n"
	  "[rank1]: KeyError: 1\n\n[rank1]: The above exception was the direct cause of the "
	  "following exception:\n\n"
	  "[rank1]: " HEAD "[rank1]:   File \"/job/a.py\", line 1, in f\n[rank1]: KeyError: 2\n",
	  "rank 0 KeyError: 0 (a.py:1); rank 1 KeyError: 2 (a.py:1)" },
	{ HEAD "  File \"a.py\", cut\n\nThe above exception was the direct cause of the following "
	       "exception:\n\n" HEAD TRAIN "KeyError: 2\n",
	  "KeyError: 2 (train.py:20)" },
	/* cut at its end, at its beginning, by other text */
	{ HEAD TRAIN "ValueError: bad ba", "" },
	{ TRAIN DATA "ValueError: bad batch\n", "" },
	{ HEAD TRAIN "I1127 12:00:00 saved\n", "" },
	{ HEAD "\n", "" },
	{ HEAD, "" },
	{ "", "" },
};

static void append(struct buffer *out, const struct traceback *item)
{
	static const char *const relations[] = { "", "caused by", "during" };

	buffer_append_string(out, out->length > 0 ? "; " : "");
	if (item->rank >= 0)
		buffer_printf(out, "rank %d ", item->rank);
	if (item->thread)
		buffer_printf(out, "thread %s ", item->thread);
	if (item->group >= 0)
		buffer_printf(out, "of %d ", item->group);
	buffer_append_string(out, relations[item->relation]);
	if (item->before >= 0)
		buffer_printf(out, " %d ", item->before);
	traceback_append(out, item, COLUMNS);
}

static void tracebacks_are_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct traceback_list list = { .items = NULL };
		struct buffer out = BUFFER_INIT;

		traceback_read(&list, rows[i].text);
		for (size_t j = 0; j < list.count; j++)
			append(&out, &list.items[j]);
		assert_string_equal(out.length > 0 ? out.data : "", rows[i].found);
		traceback_list_clear(&list);
		buffer_clear(&out);
	}
}

static void the_last_one_ended_the_program(void **state)
{
	static const char text[] =
		HEAD DATA "KeyError: 1\n" HEAD TRAIN "KeyError: 2\n"
			  "Exception in thread saver:\n" HEAD TRAIN "OSError: full\n"
			  "[rank3]: " HEAD "[rank3]:   File \"/job/a.py\", line 1, in f\n"
			  "[rank3]: KeyError: 3\n";
	struct traceback_list list = { .items = NULL };

	(void)state;
	traceback_read(&list, text);
	assert_int_equal(list.count, 4);
	assert_string_equal(list.items[traceback_last(&list, -1)].message, "2");
	assert_string_equal(list.items[traceback_last(&list, 3)].message, "3");
	assert_int_equal(traceback_last(&list, 0), -1);
	assert_memory_equal(text + list.items[1].start, HEAD, strlen(HEAD));
	assert_memory_equal(text + list.items[1].end - strlen("KeyError: 2"), "KeyError: 2",
			    strlen("KeyError: 2"));
	traceback_list_clear(&list);
}

static void victims_are_told(void **state)
{
	static const struct {
		const char *text;
		enum traceback_blame blame;
	} cases[] = {
		{ "RuntimeError: [/w/gloo/pair.cc:553] Connection closed by peer [::1]:9",
		  TRACEBACK_LOSS },
		{ "RuntimeError: [/w/gloo/unbound_buffer.cc:78] Timed out waiting 3000ms for recv",
		  TRACEBACK_TIMEOUT },
		{ "torch.distributed.DistStoreError: Timed out after 31 seconds waiting for "
		  "clients",
		  TRACEBACK_TIMEOUT },
		{ "torch.distributed.DistStoreError: wait timeout after 300000ms, keys: /a",
		  TRACEBACK_TIMEOUT },
		{ "RuntimeError: [/w/gloo/pair.cc:1] writev: Broken pipe", TRACEBACK_LOSS },
		{ "RuntimeError: Connection closed by peer", TRACEBACK_OWN },
		{ "BrokenPipeError: [Errno 32] Broken pipe", TRACEBACK_OWN },
		{ "ConnectionResetError: [Errno 104] Connection reset by peer", TRACEBACK_OWN },
		{ "subprocess.TimeoutExpired: Command 'a' timed out after 5 seconds",
		  TRACEBACK_OWN },
		{ "ValueError: wait timeout after 3", TRACEBACK_OWN },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct traceback_list list = { .items = NULL };
		char *text = xasprintf("%s%s%s\n", HEAD, TRAIN, cases[i].text);

		traceback_read(&list, text);
		assert_int_equal(list.count, 1);
		assert_int_equal(traceback_blame(&list.items[0]), cases[i].blame);
		traceback_list_clear(&list);
		free(text);
	}
	assert_int_equal(traceback_blame(NULL), TRACEBACK_OWN);
}

static void a_launchers_own_is_no_ranks(void **state)
{
	struct traceback_list list = { .items = NULL };

	(void)state;
	traceback_read(&list, HEAD DATA "KeyError: 1\n" HEAD TRAIN
					"torch.distributed.elastic.multiprocessing.errors."
					"ChildFailedError: \n====\n");
	assert_int_equal(list.count, 2);
	assert_int_equal(traceback_last(&list, -1), 0);
	traceback_list_clear(&list);
}

static void only_a_threads_is_there(void **state)
{
	struct traceback_list list = { .items = NULL };

	(void)state;
	traceback_read(&list, "Exception in thread saver:\n" HEAD TRAIN "OSError: full\n");
	assert_int_equal(traceback_last(&list, -1), 0);
	traceback_list_clear(&list);
}

/* Each beginning and each end of a text is read without a fault, and no exception is made up. */
static void cut_text_is_read(void **state)
{
	static const char text[] =
		"[rank1]: " HEAD
		"[rank1]:   File \"/job/a.py\", line 1, in f\n[rank1]: KeyError: 1\n" HEAD TRAIN
		"E\n\nDuring handling of the above exception, another exception "
		"occurred:\n\n" HEAD DATA "ValueError: bad batch\n";

	(void)state;
	for (size_t start = 0; start <= strlen(text); start++) {
		for (size_t end = start; end <= strlen(text); end++) {
			struct traceback_list list = { .items = NULL };
			char part[sizeof(text)];

			memcpy(part, text + start, end - start);
			part[end - start] = '\0';
			traceback_read(&list, part);
			assert_true(list.count <= 3);
			for (size_t i = 0; i < list.count; i++)
				assert_true(list.items[i].end <= end - start);
			traceback_list_clear(&list);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tracebacks_are_found),
		cmocka_unit_test(the_last_one_ended_the_program),
		cmocka_unit_test(victims_are_told),
		cmocka_unit_test(a_launchers_own_is_no_ranks),
		cmocka_unit_test(only_a_threads_is_there),
		cmocka_unit_test(cut_text_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
