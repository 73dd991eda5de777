#include "backends/native/cpp-name.h"

#include <stdint.h>

#include "banned.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"

#define ANONYMOUS "(anonymous namespace)"
#define OPERATOR "operator"
#define MANGLED_MAXIMUM 4096
/*
 * Most bytes of a demangled name, which take some tenths of a second. Of 427,000 names in torch one
 * in a thousand is longer.
 */
#define MODEST_BYTES (UINT64_C(1) << 25)
/* Most letters around each element of a pack: " const volatile*&&, ". */
#define PACK_LETTERS 20

/* Operators whose names contain brackets, longest first. */
static const char *const operators[] = {
	"operator<=>", "operator<<=", "operator>>=", "operator->*", "operator<<", "operator>>",
	"operator<=",  "operator>=",  "operator->",  "operator()",  "operator<",  "operator>",
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
 * The position behind the bracket that closes the bracket at *at; the end of a name that was
 * cut.
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

/* In "operator bool" and "operator< <int>" the space belongs to the name. */
static bool is_of_operator(const struct buffer *out, char next)
{
	return next == '<' || (out->length >= strlen(OPERATOR) &&
			       strcmp(out->data + out->length - strlen(OPERATOR), OPERATOR) == 0);
}

char *cpp_name_shorten(const char *name)
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
			break; /* a compiler's suffix: " [clone .cold]" */
		} else if (*at == ' ' && !is_of_operator(&out, at[1])) {
			/* The text before the space is the return type. */
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

static bool cpp_name_is_digit(char letter)
{
	return letter >= '0' && letter <= '9';
}

/* The number of a substitution or parameter: "S_" 0, "S0_" 1, "SA_" 11; SIZE_MAX: neither. */
static size_t cpp_name_parse_number(const char *text, size_t *length)
{
	size_t number = 0;
	size_t i = 1;

	for (; cpp_name_is_digit(text[i]) || (text[i] >= 'A' && text[i] <= 'Z'); i++) {
		unsigned digit = cpp_name_is_digit(text[i]) ? (unsigned)(text[i] - '0')
							    : (unsigned)(text[i] - 'A') + 10;
		number = number * 36 + digit;
		if (number > MANGLED_MAXIMUM)
			return SIZE_MAX;
	}
	if (text[i] != '_')
		return SIZE_MAX;
	*length = i + 1;
	return i > 1 ? number + 1 : 0;
}

/*
 * Whether "Dp" or "sp" begins a pack expansion: its pattern is written once per template
 * argument.
 */
static bool is_expansion(const char *text)
{
	return strncmp(text, "Dp", 2) == 0 ||
	       (strncmp(text, "sp", 2) == 0 && text[2] && strchr("STcfgs", text[2]));
}

/*
 * The length of "DpT1_" or "DpRKT1_": a pack's elements, each with at most a few letters around; 0:
 * no such expansion.
 */
static size_t plain_pack(const char *text)
{
	size_t length = 0;
	size_t at = 2;

	if (strncmp(text, "Dp", 2) != 0)
		return 0;
	at += strspn(text + at, "RKPOV");
	if (text[at] != 'T' || cpp_name_parse_number(text + at, &length) == SIZE_MAX)
		return 0;
	return at + length;
}

/*
 * Computes an upper bound of the demangled size. Identifiers within the name are taken for code,
 * too, which only increases the bound. The part that "S2_" repeats was complete when "S2_" was
 * first used, so it is no longer than everything before; the same bound is taken for "T_".
 */
bool cpp_name_is_modest(const char *mangled)
{
	uint64_t sizes[MANGLED_MAXIMUM];
	size_t known = 0;
	uint64_t size = 0;

	for (size_t i = 0; mangled[i] && size < MODEST_BYTES;) {
		size_t length = 1;
		size_t number = SIZE_MAX;
		uint64_t more = 1;

		if (i >= MANGLED_MAXIMUM)
			return false;
		if (mangled[i] == 'S' || mangled[i] == 'T')
			number = cpp_name_parse_number(mangled + i, &length);
		if (plain_pack(mangled + i) > 0) {
			/* All elements of the pack were written once before. */
			more = size + PACK_LETTERS * i;
			length = plain_pack(mangled + i);
		} else if (is_expansion(mangled + i)) {
			more = (size + 1) * i;
		} else if (number < i && mangled[i] == 'S') {
			while (known <= number)
				sizes[known++] = size;
			more = sizes[number];
		} else if (number < i) {
			more = size;
		} else {
			length = 1;
		}
		size += more;
		i += length;
	}
	return size < MODEST_BYTES;
}
