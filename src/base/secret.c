#include "base/secret.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"

static const char *const words[] = { "TOKEN",  "KEY", "SECRET", "PASSWORD",
				     "PASSWD", "PWD", "AUTH",	"CREDENTIAL" };
/* A colon behind a name that ends in one of these leads to a secret. */
static const char *const endings[] = {
	"TOKEN", "KEY",	 "SECRET",	  "PASSWORD",	"PASSWD",
	"PWD",	 "AUTH", "AUTHORIZATION", "CREDENTIAL", "CREDENTIALS"
};
/* How the value of Authorization begins. */
static const char *const schemes[] = { "Bearer", "Basic", "Digest", "Token" };

/* What is shorter behind the word alone is hardly a token. */
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

/* "invalid key: loss" is about no secret, "api_key: x" is. */
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
 * How many bytes behind a name lead to its value; 0: none follows. "KeyError:
 * 3" is no assignment, so a colon counts behind a closing quote, or a name that
 * ends in what it tells of.
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

/* "Bearer " and the like; 0: text begins with nothing of that kind. */
static size_t scheme_length(const char *text)
{
	for (size_t i = 0; i < ARRAY_LENGTH(schemes); i++) {
		size_t size = strlen(schemes[i]);

		if (strncasecmp(text, schemes[i], size) == 0 && blanks(text + size) > 0)
			return size + blanks(text + size);
	}
	return 0;
}

/* A quoted string to its end, else up to a blank or what ends an argument. */
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

/* What is before the value of a secret that a name leads to; 0: it does not. */
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

/* "://user:password@" of an address: what is between; 0: no user is named. */
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
