/*
 * inspector-probe: the inspector of a debugger, between two others.
 *
 * Lines in: "ask JSON" begins a question, "bytes BASE64" is all that the
 * debugger printed since the line sent last, "again" and "refused" are what
 * they are in the header. To each a line of JSON: {"result": "send", "line"},
 * {"result": "done", "answer", "start", "end"}, {"result": "failed", "error"},
 * {"result": "wait"}.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "banned.h"

#include "backends/pdb/inspector.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"

static const char *const names[] = {
	[INSPECTOR_WAIT] = "wait", [INSPECTOR_SEND] = "send",	  [INSPECTOR_LATE] = "late",
	[INSPECTOR_DONE] = "done", [INSPECTOR_FAILED] = "failed",
};

static enum inspector_result take(struct inspector *inspector, const char *text, json_t *told,
				  struct error *error)
{
	struct buffer bytes = BUFFER_INIT;
	enum inspector_result result;
	size_t start = 0, end = 0;
	json_t *answer = NULL;

	if (base64_decode(&bytes, text, strlen(text)) < 0)
		abort();
	result = inspector_take(inspector, bytes.data, bytes.length, &start, &end, &answer, error);
	json_object_set_new(told, "start", json_integer((json_int_t)start));
	json_object_set_new(told, "end", json_integer((json_int_t)end));
	if (answer)
		json_object_set_new(told, "answer", answer);
	buffer_clear(&bytes);
	return result;
}

static enum inspector_result serve(struct inspector *inspector, const char *word, const char *rest,
				   json_t *told, struct error *error)
{
	json_t *question;

	if (!strcmp(word, "bytes"))
		return take(inspector, rest, told, error);
	if (!strcmp(word, "refused"))
		return inspector_refused(inspector, error);
	if (!strcmp(word, "again")) {
		inspector_again(inspector);
		return INSPECTOR_SEND;
	}
	question = json_parse(rest, strlen(rest), error);
	if (!question)
		return INSPECTOR_FAILED;
	inspector_ask(inspector, question);
	return INSPECTOR_SEND;
}

int main(void)
{
	struct inspector *inspector = inspector_new();
	char *line = NULL;
	size_t size = 0;
	ssize_t length;

	while ((length = getline(&line, &size, stdin)) > 0) {
		struct error error = ERROR_INIT;
		struct buffer out = BUFFER_INIT;
		json_t *told = json_object();
		enum inspector_result result;
		char *rest;

		line[length - 1] = '\0';
		rest = strchr(line, ' ');
		if (rest)
			*rest++ = '\0';
		result = serve(inspector, line, rest ? rest : "", told, &error);
		json_set_text(told, "result", names[result]);
		if (result == INSPECTOR_SEND)
			json_set_text(told, "line", inspector_line(inspector));
		if (result == INSPECTOR_FAILED)
			json_set_text(told, "error", error.message);
		json_append(&out, told);
		puts(out.data);
		fflush(stdout);
		buffer_clear(&out);
		json_decref(told);
	}
	free(line);
	inspector_free(inspector);
	return 0;
}
