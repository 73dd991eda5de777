#include "backends/ptrace/cppname.h"

#include <stdbool.h>

#include "banned.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"

#define ANONYMOUS "(anonymous namespace)"
#define OPERATOR "operator"

/* Operators whose names hold brackets, longest first. */
static const char *const operators[] = {
	"operator<=>", "operator<<=", "operator>>=", "operator->*",
	"operator<<",  "operator>>",  "operator<=",  "operator>=",
	"operator->",  "operator()",  "operator<",   "operator>",
};

static const char *find_operator(const char *at)
{
	if (strncmp(at, OPERATOR, strlen(OPERATOR)) != 0)
		return NULL;
	for (size_t i = 0; i < ARRAY_LENGTH(operators); i++)
		if (strncmp(at, operators[i], strlen(operators[i])) == 0)
			return operators[i];
	return NULL;
}

/*
 * Behind the bracket that closes the one at *at; a name that was cut may
 * lack it.
 */
static const char *skip_brackets(const char *at)
{
	int depth = 0;

	for (; *at; at++) {
		const char *word = find_operator(at);
		if (word) {
			at += strlen(word) - 1;
			continue;
		}
		if (*at == '<' || *at == '(')
			depth++;
		else if ((*at == '>' || *at == ')') && --depth <= 0)
			return at + 1;
	}
	return at;
}

/* "operator bool", "operator< <int>": the space is of the name. */
static bool is_of_operator(const struct buffer *out, char next)
{
	return next == '<' ||
	       (out->length >= strlen(OPERATOR) &&
		strcmp(out->data + out->length - strlen(OPERATOR), OPERATOR) ==
			0);
}

char *cppname_shorten(const char *name)
{
	struct buffer out = BUFFER_INIT;
	const char *at = name;

	while (*at) {
		const char *word = find_operator(at);
		if (word) {
			buffer_append_string(&out, word);
			at += strlen(word);
		} else if (strncmp(at, ANONYMOUS, strlen(ANONYMOUS)) == 0) {
			buffer_append_string(&out, ANONYMOUS);
			at += strlen(ANONYMOUS);
		} else if (*at == '<') {
			buffer_append_string(&out, "<…>");
			at = skip_brackets(at);
		} else if (*at == '(') {
			at = skip_brackets(at);
			if (strncmp(at, " const", 6) == 0)
				at += 6;
		} else if (strncmp(at, " [", 2) == 0) {
			break; /* of a compiler: " [clone .cold]" */
		} else if (*at == ' ' && !is_of_operator(&out, at[1])) {
			/* What was before it is what is given back. */
			buffer_reset(&out);
			at++;
		} else {
			buffer_append_char(&out, *at++);
		}
	}
	char *result = xstrdup(out.length ? out.data : name);
	buffer_clear(&out);
	return result;
}
