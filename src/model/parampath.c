#include "model/parampath.h"

#include <ctype.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"

#define DIGITS "0123456789"

static bool is_identifier(const char *name, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			return false;
	return length > 0 && !isdigit((unsigned char)name[0]);
}

/* Length of the quoted string that text begins with ("'a'.b"), with its quotes; 0: none. */
static size_t string_length(const char *text)
{
	char quote = *text;

	if (quote != '\'' && quote != '"')
		return 0;
	for (size_t i = 1; text[i] != '\0' && text[i] != '\n'; i++) {
		if (text[i] == quote)
			return i + 1;
		if (text[i] == '\\' && text[++i] == '\0')
			return 0;
	}
	return 0;
}

/* Length of the bracket that name begins with ("['fc.weight'].bias"); 0: no bracket, or neither
 * a number nor a string in it. */
static size_t item_length(const char *name)
{
	size_t length;

	if (name[0] != '[')
		return 0;
	length = strspn(name + 1, DIGITS);
	if (length == 0)
		length = string_length(name + 1);
	return length > 0 && name[1 + length] == ']' ? length + 2 : 0;
}

static void parampath_append_string(struct buffer *out, const char *text, size_t length)
{
	buffer_append_char(out, '"');
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)text[i];

		if (byte < ' ') {
			buffer_printf(out, "\\x%02x", byte);
			continue;
		}
		if (byte == '"' || byte == '\\')
			buffer_append_char(out, '\\');
		buffer_append_char(out, text[i]);
	}
	buffer_append_char(out, '"');
}

/* Appends .layers._modules["0"].weight for modules; items of other objects as they are named. */
static void append_path(struct buffer *out, const char *name)
{
	size_t item;

	while ((item = item_length(name)) > 0) {
		buffer_append(out, name, item);
		name += item + (name[item] == '.');
	}
	while (*name != '\0') {
		size_t length = strcspn(name, ".");
		bool is_last = name[length] == '\0';

		if (is_identifier(name, length)) {
			buffer_append_char(out, '.');
			buffer_append(out, name, length);
		} else {
			buffer_append_string(out, is_last ? "._parameters[" : "._modules[");
			parampath_append_string(out, name, length);
			buffer_append_char(out, ']');
		}
		name += length + !is_last;
	}
}

char *parampath_make(const char *expression, const char *name, int way, bool is_gradient)
{
	bool is_index = name[0] != '\0' && name[strspn(name, DIGITS)] == '\0';
	struct buffer out = BUFFER_INIT;

	if (way != 0 && way != 1)
		return NULL;
	buffer_append_string(&out, expression);
	if (way == 0 && !is_index) {
		append_path(&out, name);
	} else {
		buffer_append_char(&out, '[');
		if (way == 0)
			buffer_append_string(&out, name);
		else
			parampath_append_string(&out, name, strlen(name));
		buffer_append_char(&out, ']');
	}
	if (is_gradient)
		buffer_append_string(&out, ".grad");
	return buffer_take(&out);
}
