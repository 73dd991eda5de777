#include "base/secret.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"

static const char *const words[] = { "TOKEN", "KEY", "SECRET", "PASSWORD" };

bool secret_is_told(const char *text, size_t length)
{
	for (size_t i = 0; i < ARRAY_LENGTH(words); i++) {
		size_t size = strlen(words[i]);

		for (size_t at = 0; at + size <= length; at++)
			if (strncasecmp(text + at, words[i], size) == 0)
				return true;
	}
	return false;
}

static bool is_name(char character)
{
	return isalnum((unsigned char)character) || character == '_' ||
	       character == '-' || character == '.';
}

static size_t blanks(const char *text)
{
	return strspn(text, " \t");
}

/*
 * How many bytes behind a name lead to its value; 0: none follows. "KeyError:
 * 3" is no assignment, so a colon counts behind a closing quote only.
 */
static size_t separator(const char *name, size_t length)
{
	const char *at = name + length;
	bool is_quoted = *at == '"' || *at == '\'';

	if (name[0] == '-' && name[1] == '-' && *at == ' ')
		return blanks(at);
	at += is_quoted;
	at += blanks(at);
	if (*at != '=' && !(*at == ':' && is_quoted))
		return 0;
	at++;
	at += blanks(at);
	return (size_t)(at - name) - length;
}

/* A quoted string to its end, else up to a blank or what ends an argument. */
static size_t value_length(const char *value)
{
	char quote = value[0];
	size_t length;

	if (quote != '"' && quote != '\'')
		return strcspn(value, " \t\n,;)}]&");
	for (length = 1; value[length] != '\0' && value[length] != '\n' &&
			 value[length] != quote;
	     length++)
		length += value[length] == '\\' && value[length + 1] != '\0';
	return length + (value[length] == quote);
}

void secret_mask(struct buffer *out, const char *text)
{
	while (*text != '\0') {
		size_t length = 0;
		size_t gap;
		size_t value;

		while (is_name(text[length]))
			length++;
		if (length == 0) {
			buffer_append_char(out, *text++);
			continue;
		}
		gap = secret_is_told(text, length) ? separator(text, length)
						   : 0;
		value = gap > 0 ? value_length(text + length + gap) : 0;
		buffer_append(out, text, length + gap);
		if (value > 0)
			buffer_append_string(out, SECRET_MASK);
		text += length + gap + value;
	}
}
