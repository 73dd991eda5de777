#include "protocol/error-text.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/secret.h"

/* Returns the text as mask() appends it; null: there is no text. */
static json_t *masked(const char *text, void (*mask)(struct buffer *out, const char *text))
{
	struct buffer out = BUFFER_INIT;
	json_t *json;

	if (!text)
		return json_null();
	mask(&out, text);
	json = json_text(out.data);
	buffer_clear(&out);
	return json;
}

/*
 * Returns the timestamp, which is a number or (as torch writes it) a string that contains a number.
 */
static json_t *timestamp_of(const json_t *extra)
{
	const char *text = json_get_string(extra, "timestamp", NULL);
	double value = json_get_real(extra, "timestamp", 0);

	if (text)
		value = strtod(text, NULL);
	return value > 0 && value < 1e12 ? json_real(value) : json_null();
}

json_t *error_text_failed(const char *path, const char *error)
{
	json_t *json = json_object();

	json_set_text(json, "path", path);
	json_object_set_new(json, "message", json_null());
	json_object_set_new(json, "callstack", json_null());
	json_object_set_new(json, "timestamp", json_null());
	json_object_set_new(json, "written", json_null());
	json_set_text(json, "error", error);
	return json;
}

json_t *error_text_parse(const char *path, const char *text)
{
	struct error error = ERROR_INIT;
	json_t *root = json_parse(text, strlen(text), &error);
	const json_t *message = json_object_get(root, "message");
	const json_t *extra = json_object_get(message, "extraInfo");
	const char *words = json_is_string(message) ? json_string_value(message)
						    : json_get_string(message, "message", NULL);
	json_t *json =
		error_text_failed(path, words ? NULL : "the file is not an error file of torchrun");

	json_object_set_new(json, "message", masked(words, secret_mask));
	json_object_set_new(
		json, "callstack",
		masked(json_get_string(extra, "py_callstack", NULL), secret_mask_traceback));
	json_object_set_new(json, "timestamp", timestamp_of(extra));
	json_decref(root);
	return json;
}
