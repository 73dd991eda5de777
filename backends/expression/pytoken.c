#include "backends/expression/pytoken.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"

static const char *const keywords[] = {
	"False", "None",     "True",  "and",	"as",	"assert", "async",  "await",	"break",
	"class", "continue", "def",   "del",	"elif", "else",	  "except", "finally",	"for",
	"from",	 "global",   "if",    "import", "in",	"is",	  "lambda", "nonlocal", "not",
	"or",	 "pass",     "raise", "return", "try",	"while",  "with",   "yield",
};

/* The first match counts, so a symbol comes before its own prefixes. */
static const char *const symbols[] = {
	"...", "**=", "//=", "<<=", ">>=", "==", "!=", "<=", ">=", "<<", ">>", "//", "**", ":=",
	"->",  "+=",  "-=",  "*=",  "/=",  "%=", "&=", "|=", "^=", "@=", "<",  ">",  "(",  ")",
	"[",   "]",   "{",   "}",   "+",   "-",	 "*",  "/",  "%",  ".",	 ",",  ":",  "&",  "|",
	"^",   "~",   "@",   "=",   ";",   "!",	 "?",  "$",  "`",  "\\", "#",
};

static bool pytoken_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool pytoken_is_name_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool pytoken_is_name(char c)
{
	return pytoken_is_name_start(c) || pytoken_is_digit(c);
}

/* Returns the value of a digit in a base up to 16; -1: not a digit. */
static int digit_value(char c)
{
	if (pytoken_is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int pytokens_column(const struct pytokens *tokens, const char *at)
{
	const char *next = tokens->text;
	int column = 1;

	while (next < at && text_next(&next))
		column++;
	return column;
}

int pytokens_refuse(const struct pytokens *tokens, const char *at, struct error *error,
		    const char *format, ...)
{
	char text[400];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	return error_set(error, "column %d: %s", pytokens_column(tokens, at), text);
}

bool pytoken_is(const struct pytoken *token, const char *text)
{
	return (token->kind == PYTOKEN_SYMBOL || token->kind == PYTOKEN_NAME) &&
	       strlen(text) == token->length && memcmp(token->start, text, token->length) == 0;
}

bool pytoken_is_keyword(const struct pytoken *token)
{
	for (size_t i = 0; i < ARRAY_LENGTH(keywords); i++)
		if (token->kind == PYTOKEN_NAME && pytoken_is(token, keywords[i]))
			return true;
	return false;
}

static void clear_token(struct pytoken *token)
{
	free(token->text);
	free(token->characters);
	*token = (struct pytoken){ .kind = PYTOKEN_END };
}

void pytokens_clear(struct pytokens *tokens)
{
	clear_token(&tokens->token);
}

/*
 * Returns the length of the digits in this base, with single underscores between digits.
 * may_begin_low: an underscore may come first.
 */
static size_t scan_digits(const char *at, int base, bool may_begin_low)
{
	size_t length = 0;

	for (;;) {
		size_t skip = at[length] == '_' && (length || may_begin_low);
		int value = digit_value(at[length + skip]);

		if (value < 0 || value >= base)
			return length;
		length += skip + 1;
	}
}

static char *without_underscores(const char *start, size_t length)
{
	char *text = xmalloc(length + 1);
	size_t count = 0;

	for (size_t i = 0; i < length; i++)
		if (start[i] != '_')
			text[count++] = start[i];
	text[count] = '\0';
	return text;
}

/* Sets *base; returns the position of the digits of 0x1f, 0o17 or 0b1; NULL: decimal. */
static const char *find_prefix(const char *start, int *base)
{
	static const struct {
		char letter;
		int base;
	} prefixes[] = { { 'x', 16 }, { 'o', 8 }, { 'b', 2 } };

	for (size_t i = 0; i < ARRAY_LENGTH(prefixes); i++) {
		if (start[0] != '0' || (start[1] | 0x20) != prefixes[i].letter)
			continue;
		*base = prefixes[i].base;
		return start + 2;
	}
	*base = 10;
	return NULL;
}

/*
 * Returns the length of the fraction and exponent behind the first digits; 0: the number is an
 * integer.
 */
static size_t scan_fraction(const char *start, size_t digits)
{
	size_t length = digits;
	size_t sign, exponent;

	if (start[length] == '.')
		length += 1 + scan_digits(start + length + 1, 10, false);
	if ((start[length] | 0x20) != 'e')
		return length - digits;
	sign = start[length + 1] == '+' || start[length + 1] == '-';
	exponent = scan_digits(start + length + 1 + sign, 10, false);
	if (exponent)
		length += 1 + sign + exponent;
	return length - digits;
}

static int pytoken_take_number(struct pytokens *tokens, struct error *error)
{
	struct pytoken *token = &tokens->token;
	const char *start = token->start;
	const char *digits = find_prefix(start, &token->base);
	size_t length = scan_digits(digits ? digits : start, token->base, digits != NULL);
	size_t fraction = digits ? 0 : scan_fraction(start, length);

	token->kind = fraction ? PYTOKEN_FLOAT : PYTOKEN_INTEGER;
	if (digits && !length)
		return pytokens_refuse(tokens, start, error, "digits are missing after %.2s",
				       start);
	token->text = without_underscores(digits ? digits : start, length + fraction);
	if (!digits)
		digits = start;
	tokens->next = digits + length + fraction;
	if (!fraction && token->base == 10 && token->text[0] == '0' &&
	    strspn(token->text, "0") != strlen(token->text))
		return pytokens_refuse(tokens, start, error,
				       "a decimal integer cannot begin with 0");
	if ((*tokens->next | 0x20) == 'j')
		return pytokens_refuse(tokens, start, error,
				       "complex numbers are not supported without an agent");
	if (pytoken_is_name(*tokens->next))
		return pytokens_refuse(tokens, start, error, "the number is followed by a letter");
	if (fraction)
		token->number = strtod(token->text, NULL);
	return 0;
}

/* The string literal that is being read. */
struct quoted {
	const char *at; /* next character to read */
	char quote;
	bool is_raw;
	bool is_bytes;
	uint32_t *characters;
	size_t count;
	size_t capacity;
};

static void pytoken_put(struct quoted *quoted, uint32_t character)
{
	ARRAY_GROW(quoted->characters, quoted->count, quoted->capacity);
	quoted->characters[quoted->count++] = character;
}

/* Appends the character of an escape of `count` digits; -1: too few digits, or no code point. */
static int take_code(struct quoted *quoted, int count, int base)
{
	uint32_t code = 0;

	for (int i = 0; i < count; i++) {
		int value = digit_value(quoted->at[i]);

		if (value < 0 || value >= base)
			return -1;
		code = code * (uint32_t)base + (uint32_t)value;
	}
	if (code > 0x10ffff)
		return -1;
	quoted->at += count;
	pytoken_put(quoted, code);
	return 0;
}

static int count_octal(const char *at)
{
	int count = 0;

	while (count < 3 && at[count] >= '0' && at[count] <= '7')
		count++;
	return count;
}

/* Appends the character of the escape behind a backslash; an unknown escape keeps its backslash. */
static int pytoken_take_escape(struct quoted *quoted)
{
	static const char named[] = "\\\\''\"\"a\ab\bf\fn\nr\rt\tv\v";
	char letter = *quoted->at;
	int octal = count_octal(quoted->at);

	for (size_t i = 0; named[i]; i += 2) {
		if (named[i] != letter)
			continue;
		pytoken_put(quoted, (unsigned char)named[i + 1]);
		quoted->at++;
		return 0;
	}
	if (octal)
		return take_code(quoted, octal, 8);
	if (letter != 'x' && (quoted->is_bytes || !strchr("uUN", letter))) {
		pytoken_put(quoted, '\\');
		return 0;
	}
	quoted->at++;
	switch (letter) {
	case 'x':
		return take_code(quoted, 2, 16);
	case 'u':
		return take_code(quoted, 4, 16);
	case 'U':
		return take_code(quoted, 8, 16);
	}
	return -1; /* \N{name} is not supported */
}

static int take_characters(struct pytokens *tokens, struct quoted *quoted, struct error *error)
{
	const char *start = tokens->token.start;

	while (*quoted->at != quoted->quote) {
		const char *at = quoted->at;
		uint32_t character = (uint32_t)text_next(&quoted->at);

		if (!character)
			return pytokens_refuse(tokens, start, error, "the string is not closed");
		if (quoted->is_bytes && character > 0x7f)
			return pytokens_refuse(tokens, at, error,
					       "bytes can contain only ASCII characters");
		if (character != '\\' || !*quoted->at) {
			pytoken_put(quoted, character);
		} else if (quoted->is_raw) {
			/* In a raw string, a quote behind a backslash does not end the string. */
			pytoken_put(quoted, character);
			pytoken_put(quoted, (uint32_t)text_next(&quoted->at));
		} else if (pytoken_take_escape(quoted) < 0) {
			return pytokens_refuse(tokens, at, error,
					       "invalid or unsupported escape sequence");
		}
	}
	quoted->at++;
	return 0;
}

/*
 * Returns the length of the prefix (r, b, u, rb …) of a string literal; -1: no string begins at
 * start.
 */
static int scan_string_prefix(const char *start)
{
	static const char letters[] = "rRbBuUfFtT";
	int length = 0;

	while (length < 3 && start[length] && strchr(letters, start[length]))
		length++;
	return start[length] == '\'' || start[length] == '"' ? length : -1;
}

/*
 * True if the letters are a valid prefix: u must be the only letter, and no letter may come twice.
 */
static bool is_prefix(const char *start, int length)
{
	char first = (char)(start[0] | 0x20);
	char second = (char)(start[1] | 0x20);

	return length < 2 || (length == 2 && first != second && first != 'u' && second != 'u');
}

static int pytoken_take_string(struct pytokens *tokens, int prefix, struct error *error)
{
	struct pytoken *token = &tokens->token;
	struct quoted quoted = {
		.at = token->start + prefix + 1,
		.quote = token->start[prefix],
	};
	int result;

	if (!is_prefix(token->start, prefix))
		return pytokens_refuse(tokens, token->start, error, "invalid string prefix");
	for (int i = 0; i < prefix; i++) {
		char letter = (char)(token->start[i] | 0x20);

		quoted.is_raw |= letter == 'r';
		quoted.is_bytes |= letter == 'b';
		if (letter == 'f' || letter == 't')
			return pytokens_refuse(tokens, token->start, error,
					       "a formatted string would run code in the process: "
					       "not supported without an agent");
	}
	if (quoted.at[0] == quoted.quote && quoted.at[1] == quoted.quote)
		return pytokens_refuse(tokens, token->start, error,
				       "triple-quoted strings are not supported without an agent");
	result = take_characters(tokens, &quoted, error);
	token->kind = quoted.is_bytes ? PYTOKEN_BYTES : PYTOKEN_STRING;
	token->characters = quoted.characters;
	token->character_count = quoted.count;
	tokens->next = quoted.at;
	return result;
}

static int pytoken_take_symbol(struct pytokens *tokens, struct error *error)
{
	const char *start = tokens->token.start;

	for (size_t i = 0; i < ARRAY_LENGTH(symbols); i++) {
		size_t length = strlen(symbols[i]);

		if (strncmp(start, symbols[i], length) != 0)
			continue;
		tokens->token.kind = PYTOKEN_SYMBOL;
		tokens->next = start + length;
		return 0;
	}
	if ((unsigned char)*start < 0x80)
		return pytokens_refuse(tokens, start, error, "unexpected control character");
	return pytokens_refuse(
		tokens, start, error,
		"names with non-ASCII characters are not supported without an agent");
}

int pytokens_next(struct pytokens *tokens, struct error *error)
{
	struct pytoken *token = &tokens->token;
	const char *start = tokens->next ? tokens->next : tokens->text;
	int prefix, result = 0;

	start += strspn(start, " \t");
	clear_token(token);
	token->start = start;
	tokens->next = start;
	if (!*start)
		return 0;
	prefix = scan_string_prefix(start);
	if (prefix >= 0) {
		result = pytoken_take_string(tokens, prefix, error);
	} else if (pytoken_is_digit(start[start[0] == '.'])) {
		result = pytoken_take_number(tokens, error);
	} else if (pytoken_is_name_start(start[0])) {
		token->kind = PYTOKEN_NAME;
		while (pytoken_is_name(*tokens->next))
			tokens->next++;
	} else {
		result = pytoken_take_symbol(tokens, error);
	}
	token->length = (size_t)(tokens->next - start);
	return result;
}
