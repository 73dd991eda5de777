/*
 * What a debugger prints in place of an answer. In the input, ^A stands for
 * the beginning of the answer to the line that was sent last, ^B for a prompt
 * without one, ^C for the end of what came at once.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"

#include "backends/pdb/inspector.h"
#include "base/buffer.h"
#include "base/error.h"
#include "tests/fuzz/fuzz.h"

/* What the next answer begins with. */
static void read_nonce(struct inspector *inspector, char *marker, size_t size)
{
	const char *line = inspector_line(inspector);
	const char *nonce = line ? strstr(line, "tui:") : NULL;

	if (!nonce)
		return;
	if (strlen(line) > INSPECTOR_LINE_MAXIMUM || strstr(line, "{probetui:"))
		abort();
	nonce += strlen("tui:");
	snprintf(marker, size, "{probetui:%.*s:", (int)strcspn(nonce, ":"), nonce);
}

static void take(struct inspector *inspector, const struct buffer *came)
{
	enum inspector_result result = INSPECTOR_SEND;
	struct error error = ERROR_INIT;
	json_t *answer = NULL;
	size_t start = 0, end = 0;

	result = inspector_take(inspector, came->data, came->length, &start, &end, &answer, &error);
	if (start > end || end > came->length || (result == INSPECTOR_DONE) != (answer != NULL) ||
	    (result == INSPECTOR_FAILED) != error_is_set(&error))
		abort();
	json_decref(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct inspector *inspector = inspector_new();
	struct buffer came = BUFFER_INIT;
	struct error ignored = ERROR_INIT;
	char marker[64] = "";

	inspector_ask(inspector, json_pack("{s:s}", "do", "state"));
	for (size_t i = 0; i < size; i++) {
		read_nonce(inspector, marker, sizeof(marker));
		if (data[i] == 1) {
			buffer_append_string(&came, marker);
		} else if (data[i] == 2) {
			inspector_refused(inspector, &ignored);
		} else if (data[i] == 3) {
			take(inspector, &came);
			buffer_reset(&came);
		} else {
			buffer_append(&came, data + i, 1);
		}
	}
	take(inspector, &came);
	buffer_clear(&came);
	inspector_free(inspector);
	return 0;
}
