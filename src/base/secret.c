#include "base/secret.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"

static const char *const words[] = { "TOKEN",  "KEY", "SECRET", "PASSWORD",
				     "PASSWD", "PWD", "AUTH",	"CREDENTIAL" };
/* A colon behind a name counts as an assignment if the name ends in one of these words. */
static const char *const endings[] = {
	"TOKEN", "KEY",	 "SECRET",	  "PASSWORD",	"PASSWD",
	"PWD",	 "AUTH", "AUTHORIZATION", "CREDENTIAL", "CREDENTIALS"
};
/* Words that begin the value of Authorization. */
static const char *const schemes[] = { "Bearer", "Basic", "Digest", "Token" };

/* A shorter word behind "bearer" is unlikely to be a token. */
#define BEARER_MINIMUM 8

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

/* "invalid key: loss" assigns no secret, "api_key: x" does: "key" alone does not count. */
bool secret_is_named(const char *name, size_t length)
{
	if (length == 3 && strncasecmp(name, "KEY", 3) == 0)
		return false;
	for (size_t i = 0; i < ARRAY_LENGTH(endings); i++) {
		size_t size = strlen(endings[i]);

		if (size <= length && strncasecmp(name + length - size, endings[i], size) == 0)
			return true;
	}
	return false;
}

static bool secret_is_name(char character)
{
	return isalnum((unsigned char)character) || character == '_' || character == '-' ||
	       character == '.';
}

static size_t blanks(const char *text)
{
	return strspn(text, " \t");
}

/*
 * Number of bytes between a name and its value; 0: no value follows. "KeyError: 3" is no
 * assignment: a colon counts only behind a closing quote, or if secret_is_named().
 */
static size_t separator(const char *name, size_t length)
{
	const char *at = name + length;
	bool is_quoted;

	if (name[0] == '-' && name[1] == '-' && *at == ' ')
		return blanks(at);
	at += strspn(at, "\\");
	is_quoted = *at == '"' || *at == '\'';
	at += is_quoted;
	at += blanks(at);
	if (*at != '=' && !(*at == ':' && (is_quoted || secret_is_named(name, length))))
		return 0;
	at++;
	at += blanks(at);
	return (size_t)(at - name) - length;
}

/* Length of "Bearer " or another scheme with its blanks; 0: text begins with no scheme. */
static size_t scheme_length(const char *text)
{
	for (size_t i = 0; i < ARRAY_LENGTH(schemes); i++) {
		size_t size = strlen(schemes[i]);

		if (strncasecmp(text, schemes[i], size) == 0 && blanks(text + size) > 0)
			return size + blanks(text + size);
	}
	return 0;
}

/* Length of a quoted string, or up to a blank or a character that ends an argument. */
static size_t value_length(const char *value)
{
	char quote = value[0];
	size_t length;

	if (quote != '"' && quote != '\'') {
		length = scheme_length(value);
		return length + strcspn(value + length, " \t\n,;)}]&");
	}
	for (length = 1; value[length] != '\0' && value[length] != '\n' && value[length] != quote;
	     length++)
		length += value[length] == '\\' && value[length + 1] != '\0';
	return length + (value[length] == quote);
}

/* Offset of a secret's value, if the name at text has length bytes; 0: no secret follows. */
static size_t secret_find_value(const char *text, size_t length)
{
	size_t gap;

	if (secret_is_told(text, length)) {
		gap = separator(text, length);
		return gap > 0 ? length + gap : 0;
	}
	gap = blanks(text + length);
	if (length != 6 || strncasecmp(text, "bearer", 6) != 0 || gap == 0 ||
	    value_length(text + length + gap) < BEARER_MINIMUM)
		return 0;
	return length + gap;
}

/* Length of user:password in "://user:password@"; 0: text has no credentials. */
static size_t credentials_length(const char *text)
{
	size_t length;

	if (strncmp(text, "://", 3) != 0)
		return 0;
	length = strcspn(text + 3, "@/?#\"'<> \t\n");
	return text[3 + length] == '@' ? length : 0;
}

void secret_mask(struct buffer *out, const char *text)
{
	while (*text != '\0') {
		size_t credentials = credentials_length(text);
		size_t length = 0;
		size_t shown;
		size_t value;

		while (secret_is_name(text[length]))
			length++;
		if (credentials > 0)
			length = 3;
		if (length == 0) {
			buffer_append_char(out, *text++);
			continue;
		}
		shown = credentials > 0 ? 0 : secret_find_value(text, length);
		value = shown > 0 ? value_length(text + shown) : credentials;
		if (shown == 0)
			shown = length;
		buffer_append(out, text, shown);
		if (value > 0)
			buffer_append_string(out, SECRET_MASK);
		text += shown + value;
	}
}

bool secret_is_in(const char *text)
{
	struct buffer masked = BUFFER_INIT;
	bool is_changed;

	if (secret_is_told(text, strlen(text)))
		return true;
	secret_mask(&masked, text);
	is_changed = strcmp(masked.data, text) != 0;
	buffer_clear(&masked);
	return is_changed;
}
