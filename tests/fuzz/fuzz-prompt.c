/* What a debugger writes to its client: the prompt, and answers to questions.
 * "NONCE" in it stands for the number of the question. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/pdb/inspector.h"
#include "backends/pdb/pdbprompt.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "tests/fuzz/fuzz.h"

#define LINES_MAXIMUM 20

static void take_prompts(const char *bytes, size_t length)
{
	struct buffer out = BUFFER_INIT;
	struct pdbprompt prompt;
	size_t half = length / 2;

	pdbprompt_init(&prompt);
	pdbprompt_feed(&prompt, bytes, half, &out);
	if (pdbprompt_kind(&prompt) == PDBPROMPT_LIKELY)
		pdbprompt_learn_line(&prompt);
	pdbprompt_flush(&prompt, &out);
	pdbprompt_feed(&prompt, bytes + half, length - half, &out);
	pdbprompt_take(&prompt, pdbprompt_kind(&prompt), &out);
	/* Nothing is told twice. */
	if (out.length > length || prompt.line.length > 0)
		abort();
	pdbprompt_clear(&prompt);
	buffer_clear(&out);
}

/* "…'{probe''tui:12ab:0:…" or "…(s,'12ab',…" */
static void find_nonce(const char *line, char *nonce, size_t size)
{
	const char *start = strstr(line, "tui:");

	nonce[0] = '\0';
	if (start)
		snprintf(nonce, size, "%.*s", (int)strcspn(start + 4, ":"), start + 4);
}

static void replace_nonces(struct buffer *out, const char *bytes, size_t length, const char *line)
{
	char nonce[32];
	const char *end = bytes + length;
	const char *found;

	find_nonce(line, nonce, sizeof(nonce));
	while ((found = memmem(bytes, (size_t)(end - bytes), "NONCE", 5))) {
		buffer_append(out, bytes, (size_t)(found - bytes));
		buffer_append_string(out, nonce);
		bytes = found + 5;
	}
	buffer_append(out, bytes, (size_t)(end - bytes));
}

/* Shows what came in two pieces; false: the question is over. */
static bool show(struct inspector *inspector, const struct buffer *all)
{
	enum inspector_result result = INSPECTOR_WAIT;
	struct error error = ERROR_INIT;
	json_t *answer = NULL;
	size_t lengths[] = { all->length / 2, all->length };
	size_t start = 0;
	size_t end = 0;

	for (size_t i = 0; i < 2 && result == INSPECTOR_WAIT; i++)
		result = inspector_take(inspector, all->data, lengths[i], &start, &end, &answer,
					&error);
	if (result != INSPECTOR_WAIT && (start > end || end > all->length))
		abort();
	if ((result == INSPECTOR_DONE) != (answer != NULL) ||
	    (result == INSPECTOR_FAILED && !error_is_set(&error)))
		abort();
	json_decref(answer);
	if (result == INSPECTOR_WAIT)
		result = inspector_refused(inspector, &error);
	return result == INSPECTOR_SEND;
}

static void take_answers(const char *bytes, size_t length)
{
	struct inspector *inspector = inspector_new();
	json_t *question = json_object();
	bool goes_on = true;

	json_set_text(question, "do", "state");
	inspector_ask(inspector, question);
	for (int i = 0; i < LINES_MAXIMUM && goes_on; i++) {
		const char *line = inspector_line(inspector);
		struct buffer all = BUFFER_INIT;

		replace_nonces(&all, bytes, length, line ? line : "");
		goes_on = show(inspector, &all);
		buffer_clear(&all);
	}
	inspector_free(inspector);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	take_prompts((const char *)data, size);
	take_answers((const char *)data, size);
	return 0;
}
