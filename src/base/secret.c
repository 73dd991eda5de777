#include "base/secret.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/logline.h"

static const char *const words[] = { "TOKEN",  "KEY", "SECRET", "PASSWORD",
				     "PASSWD", "PWD", "AUTH",	"CREDENTIAL" };
/* A colon behind a name counts as an assignment if the name ends in one of these words. */
static const char *const endings[] = {
	"TOKEN", "KEY",	 "SECRET",	  "PASSWORD",	"PASSWD",
	"PWD",	 "AUTH", "AUTHORIZATION", "CREDENTIAL", "CREDENTIALS"
};
/* Authentication schemes that an Authorization header's value may begin with. */
static const char *const schemes[] = { "Bearer", "Basic", "Digest", "Token" };

/* A shorter word behind "bearer" is unlikely to be a token. */
#define BEARER_MINIMUM 8
#define BASE64 "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
/* Bytes in which the end of a private key is searched: RSA of 16384 bits has 12,000. */
#define PRIVATE_KEY_MAXIMUM 16384
#define PRIVATE_KEY_LINE 80 /* bytes of its first line */
#define KEY_LINE_MINIMUM 24
/* A token has a capital letter or a digit in its first TOKEN_WORD_MAXIMUM characters. */
#define TOKEN_WORD_MAXIMUM 64

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

/* "key" alone is not a secret's name: "api_key: x" has a secret, "invalid key: loss" does not. */
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
 * Returns the number of bytes between a name and its value; 0: no value follows. "KeyError: 3" is
 * not an assignment: a colon counts only behind a closing quote, or behind a name for which
 * secret_is_named() is true.
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

/* Length of a scheme like "Bearer" and of the blanks behind it; 0: text begins with no scheme. */
static size_t scheme_length(const char *text)
{
	for (size_t i = 0; i < ARRAY_LENGTH(schemes); i++) {
		size_t size = strlen(schemes[i]);

		if (strncasecmp(text, schemes[i], size) == 0 && blanks(text + size) > 0)
			return size + blanks(text + size);
	}
	return 0;
}

/*
 * Length of a value: a quoted string with its quotes, or all bytes (an authentication scheme
 * included) up to a blank or a character that ends an argument.
 */
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

/*
 * text begins with a name of length bytes: returns the offset of the secret value behind that name;
 * 0: no secret follows.
 */
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

/* Length of user:password in "://user:password@"; 0: text does not begin like that. */
static size_t credentials_length(const char *text)
{
	size_t length;

	if (strncmp(text, "://", 3) != 0)
		return 0;
	length = strcspn(text + 3, "@/?#\"'<> \t\n");
	return text[3 + length] == '@' ? length : 0;
}

/*
 * Tokens whose format tells that they are secrets: a prefix, and at least so many characters behind
 * it. Most formats are published for secret scanning (GitHub, Hugging Face, AWS, OpenAI, Slack,
 * GitLab, PyPI, npm); "eyJ" begins a JSON Web Token (RFC 7519): base64 of '{"'.
 */
static const struct token {
	const char *prefix;
	size_t minimum;
	const char *others; /* characters that may stand there besides letters and digits */
} tokens[] = {
	{ "ghp_", 30, "" },   { "gho_", 30, "" },     { "ghu_", 30, "" },
	{ "ghs_", 30, "" },   { "ghr_", 30, "" },     { "github_pat_", 22, "_" },
	{ "hf_", 30, "" },    { "AKIA", 16, "" },     { "ASIA", 16, "" },
	{ "sk-", 20, "_-" },  { "sk_live_", 20, "" }, { "xoxb-", 10, "-" },
	{ "xoxp-", 10, "-" }, { "glpat-", 20, "_-" }, { "pypi-", 30, "_-" },
	{ "npm_", 36, "" },   { "AIza", 35, "_-" },   { "eyJ", 20, "_-." },
};

static bool is_of_token(const struct token *token, char character)
{
	return isalnum((unsigned char)character) ||
	       (character != '\0' && strchr(token->others, character));
}

/* Length of a token of a known format that text begins with; 0: it begins with none. */
static size_t token_length(const char *text)
{
	for (size_t i = 0; i < ARRAY_LENGTH(tokens); i++) {
		size_t start = strlen(tokens[i].prefix);
		bool is_random = false; /* a word like sk-learn has only small letters */
		size_t length = start;

		if (strncmp(text, tokens[i].prefix, start) != 0)
			continue;
		while (is_of_token(&tokens[i], text[length])) {
			is_random = is_random || isupper((unsigned char)text[length]) ||
				    isdigit((unsigned char)text[length]);
			/* Words that are no tokens would be read again from each prefix in them. */
			if (!is_random && length - start >= TOKEN_WORD_MAXIMUM)
				break;
			length++;
		}
		if (is_random && length - start >= tokens[i].minimum)
			return length;
	}
	return 0;
}

/*
 * Length of the lines of a key whose end is missing. After the characters that only a key has, a
 * line belongs to the key if it ends in KEY_LINE_MINIMUM characters of BASE64: logs may have put a
 * prefix before each line.
 */
static size_t key_lines_length(const char *text)
{
	size_t length = strspn(text, BASE64 "\\\r\n ");

	while (length < PRIVATE_KEY_MAXIMUM && text[length] != '\0') {
		size_t end = length + strcspn(text + length, "\n");
		size_t run = 0;

		while (run < end - length && strchr(BASE64, text[end - run - 1]))
			run++;
		if (run < KEY_LINE_MINIMUM)
			break;
		length = end + (text[end] == '\n');
	}
	return length;
}

/*
 * Length of the private key (RFC 7468) behind the line of *label bytes that text begins with; 0:
 * text begins with no such line. In a quoted string, lines end with an escape sequence.
 */
static size_t private_key_length(const char *text, size_t *label)
{
	static const char begin[] = "-----BEGIN ";
	static const char end[] = "PRIVATE KEY-----";
	const char *last;

	if (strncmp(text, begin, strlen(begin)) != 0)
		return 0;
	last = memmem(text, strnlen(text, PRIVATE_KEY_LINE), end, strlen(end));
	if (!last || memchr(text, '\n', (size_t)(last - text)))
		return 0;
	*label = (size_t)(last - text) + strlen(end);
	text += *label;
	last = memmem(text, strnlen(text, PRIVATE_KEY_MAXIMUM), "-----END ", 9);
	return last ? (size_t)(last - text) : key_lines_length(text);
}

/* Appends the mask, and the newlines of what it replaces, so that lines keep their numbers. */
static void mask_content(struct buffer *out, const char *text, size_t length)
{
	buffer_append_string(out, SECRET_MASK);
	for (size_t i = 0; i < length; i++)
		if (text[i] == '\n')
			buffer_append_char(out, '\n');
}

/* Length of the part "[32m" of a terminal's escape sequence (ECMA-48, SGR); 0: it is none. */
static size_t colour_length(const char *text)
{
	size_t length = 1;

	if (text[0] != '[')
		return 0;
	length += strspn(text + 1, "0123456789;");
	return text[length] == 'm' ? length + 1 : 0;
}

/* Appends text with the tokens of known formats and private keys masked. */
static void mask_tokens(struct buffer *out, const char *text)
{
	bool is_start = true;

	while (*text != '\0') {
		size_t label = 0;
		size_t length = is_start ? token_length(text) : 0;

		if (length == 0)
			length = private_key_length(text, &label);
		buffer_append(out, text, label);
		text += label;
		if (length > 0) {
			mask_content(out, text, length);
			text += length;
			is_start = true;
			continue;
		}
		if (*text == '\0')
			return;
		/* A token may begin behind an escape sequence like \n or \x1b[32m, too. */
		length = colour_length(text);
		if (length > 0) {
			buffer_append(out, text, length);
			text += length;
			is_start = true;
			continue;
		}
		is_start = !isalnum((unsigned char)*text);
		if (text[0] == '\\' && text[1] != '\0')
			buffer_append_char(out, *text++);
		buffer_append_char(out, *text++);
	}
}

/* Appends text with what belongs to a secret's name masked, and the credentials of URLs. */
static void mask_named(struct buffer *out, const char *text)
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

void secret_mask(struct buffer *out, const char *text)
{
	struct buffer named = BUFFER_INIT;

	mask_named(&named, text);
	mask_tokens(out, named.data ? named.data : "");
	buffer_clear(&named);
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

/*
 * Masks the literals of Python source that belong to a secret's name.
 *
 * Tokens are those of CPython's lexical analysis, as far as needed here: names, numbers, strings
 * with their prefixes and triple quotes, brackets, operators, and the newline that ends a statement
 * outside of brackets. Text that is not valid Python is tokenized approximately, to its end.
 *
 * Each open bracket has a level with a state. A secret's name, or a string with such a name, sets
 * the state of the innermost level to STATE_NAMED. An operator behind the name sets that state to
 * STATE_ASSIGNED or STATE_COMPARED; then literals of this level and of inner levels are masked, up
 * to the comma or the end of the statement. Masked strings keep their quotes and newlines, so that
 * lines keep their numbers and colours.
 */

/* Brackets that are nested deeper share the last level. */
#define LEVELS_MAXIMUM 64
/* A longer string is a text, not a name. */
#define KEY_MAXIMUM 64

enum state {
	STATE_PLAIN,
	STATE_NAMED,	 /* behind the name: password */
	STATE_ANNOTATED, /* behind an annotation: password: str */
	STATE_COMPARED,	 /* behind a comparison: password == */
	STATE_ASSIGNED,	 /* behind an assignment: password =, "password": */
	/* behind an assignment to a tuple, up to the end of the statement: user, password = */
	STATE_UNPACKED,
};

struct level {
	char bracket; /* the opening bracket; 0: none, the top level */
	enum state state;
	bool is_key;	/* the secret's name was in a string */
	bool is_exact;	/* the name ends in a secret's word (api_key, not key_size): numbers are
			 * masked, too */
	bool was_named; /* a secret's name occurred in this statement */
	bool is_tuple;	/* the statement has a comma: user, password */
};

/*
 * Position in a list like ["--password", "hunter2"]: elsewhere, after the option, after its comma.
 */
enum pair { PAIR_NONE, PAIR_KEY, PAIR_COMMA };

struct scan {
	struct buffer *out;
	const char *at;
	struct level levels[LEVELS_MAXIMUM];
	size_t depth;
	size_t more; /* number of open brackets beyond LEVELS_MAXIMUM */
	enum pair pair;
	bool is_value; /* the previous token was an assignment operator */
};

static struct level *top(struct scan *scan)
{
	return &scan->levels[scan->depth];
}

static bool is_masked(const struct scan *scan)
{
	for (size_t i = 0; i <= scan->depth; i++)
		if (scan->levels[i].state >= STATE_COMPARED)
			return true;
	return false;
}

/* Copies length bytes of the text to out without masking. */
static void secret_source_copy(struct scan *scan, size_t length)
{
	buffer_append(scan->out, scan->at, length);
	scan->at += length;
}

static void name_level(struct scan *scan, const char *name, size_t length, bool is_key)
{
	struct level *level = top(scan);

	level->was_named = true;
	if (level->state > STATE_NAMED)
		return;
	level->state = STATE_NAMED;
	level->is_key = is_key;
	level->is_exact = secret_is_named(name, length);
}

static void secret_source_take_name(struct scan *scan, size_t length)
{
	static const char *const ends[] = { "and", "or", "if", "else" };
	struct level *level = top(scan);

	if (secret_is_told(scan->at, length))
		name_level(scan, scan->at, length, false);
	else if (level->state == STATE_NAMED)
		level->state = STATE_PLAIN;
	for (size_t i = 0; i < ARRAY_LENGTH(ends); i++)
		if (level->state == STATE_COMPARED && strlen(ends[i]) == length &&
		    strncmp(scan->at, ends[i], length) == 0)
			level->state = STATE_PLAIN;
	scan->pair = PAIR_NONE;
	scan->is_value = false;
	secret_source_copy(scan, length);
}

static void secret_source_take_number(struct scan *scan, size_t length)
{
	if (scan->is_value && top(scan)->is_exact) {
		buffer_append_string(scan->out, SECRET_MASK);
		scan->at += length;
	} else {
		secret_source_copy(scan, length);
	}
	scan->pair = PAIR_NONE;
	scan->is_value = false;
}

/* Number of quotes around the string whose first quote is at text: 1 or 3. */
static size_t quotes_length(const char *text)
{
	return text[1] == text[0] && text[2] == text[0] ? 3 : 1;
}

/* Number of bytes between the quotes; an unterminated string ends with the line or the text. */
static size_t content_length(const char *text, char quote, size_t quotes)
{
	size_t i;

	for (i = 0; text[i] != '\0'; i++) {
		if (text[i] == quote &&
		    (quotes == 1 || (text[i + 1] == quote && text[i + 2] == quote)))
			return i;
		if (quotes == 1 && text[i] == '\n')
			return i;
		if (text[i] == '\\' && text[i + 1] != '\0')
			i++;
	}
	return i;
}

static bool is_key(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("_-.", text[i]))
			return false;
	return length <= KEY_MAXIMUM && secret_is_told(text, length);
}

/* Masks secrets that a comment or a string quotes: "Authorization: Bearer abc". */
static void secret_source_mask_text(struct buffer *out, const char *text, size_t length)
{
	char *part = xstrndup(text, length);

	secret_mask(out, part);
	free(part);
}

/* prefix is the number of letters before the string's quote. */
static void secret_source_take_string(struct scan *scan, size_t prefix)
{
	char quote = scan->at[prefix];
	size_t quotes = quotes_length(scan->at + prefix);
	size_t before = prefix + quotes;
	size_t length = content_length(scan->at + before, quote, quotes);
	const char *text = scan->at + before;
	bool names = is_key(text, length);

	secret_source_copy(scan, before);
	if (length > 0 && (is_masked(scan) || (scan->pair == PAIR_COMMA && !names)))
		mask_content(scan->out, text, length);
	else
		secret_source_mask_text(scan->out, text, length);
	scan->at += length;
	if (*scan->at == quote)
		secret_source_copy(scan, quotes);
	if (names)
		name_level(scan, text, length, true);
	scan->pair = names ? PAIR_KEY : PAIR_NONE;
	scan->is_value = false;
}

static void open_bracket(struct scan *scan)
{
	scan->pair = PAIR_NONE;
	scan->is_value = false;
	if (scan->depth + 1 == LEVELS_MAXIMUM)
		scan->more++;
	else
		scan->levels[++scan->depth] = (struct level){ .bracket = *scan->at };
	secret_source_copy(scan, 1);
}

static void close_bracket(struct scan *scan)
{
	const struct level inner = *top(scan);
	struct level *level;

	scan->pair = PAIR_NONE;
	scan->is_value = false;
	secret_source_copy(scan, 1);
	if (scan->more > 0) {
		scan->more--;
		return;
	}
	if (scan->depth == 0)
		return;
	scan->depth--;
	level = top(scan);
	/* Names in parentheses may be a tuple that is assigned to: (user, password) = ... */
	level->was_named |= inner.bracket == '(' && inner.was_named;
	/* A string as key names the value that is assigned: config["password"] = ... */
	if (inner.bracket == '[' && inner.state == STATE_NAMED && inner.is_key &&
	    level->state <= STATE_NAMED) {
		level->state = STATE_NAMED;
		level->is_exact = inner.is_exact;
	}
}

static void end_statement(struct scan *scan)
{
	scan->pair = PAIR_NONE;
	scan->is_value = false;
	if (scan->depth == 0 && scan->more == 0)
		scan->levels[0] = (struct level){ .bracket = 0 };
}

static void take_comma(struct scan *scan)
{
	struct level *level = top(scan);

	if (level->state != STATE_UNPACKED)
		level->state = STATE_PLAIN;
	level->is_tuple = true;
	scan->pair = scan->pair == PAIR_KEY ? PAIR_COMMA : PAIR_NONE;
}

/* The colon of a dict's item, an annotation, a slice, or a statement (`if token:`). */
static void take_colon(struct scan *scan)
{
	struct level *level = top(scan);
	bool is_item = level->bracket == '{';

	if (!is_item)
		level->was_named = false;
	if (level->state == STATE_NAMED && is_item)
		level->state = STATE_ASSIGNED;
	else if (level->state == STATE_NAMED && level->bracket != '[')
		level->state = STATE_ANNOTATED;
	else if (level->state < STATE_ANNOTATED || level->state == STATE_COMPARED)
		level->state = STATE_PLAIN;
	scan->is_value = level->state == STATE_ASSIGNED;
}

static void take_assignment(struct scan *scan)
{
	struct level *level = top(scan);

	bool is_named = level->state == STATE_NAMED || level->state == STATE_ANNOTATED;

	if (is_named && (scan->depth > 0 || !level->is_tuple))
		level->state = STATE_ASSIGNED;
	else if (scan->depth == 0 && level->was_named && level->state < STATE_ASSIGNED)
		level->state = STATE_UNPACKED;
	scan->is_value = level->state == STATE_ASSIGNED;
}

static void secret_source_take_comparison(struct scan *scan)
{
	struct level *level = top(scan);

	if (level->state == STATE_NAMED)
		level->state = level->is_exact ? STATE_COMPARED : STATE_PLAIN;
}

static void take_sign(struct scan *scan)
{
	struct level *level = top(scan);

	/* is_value stays true, so that password = -1 is masked, too. */
	if (level->state == STATE_NAMED)
		level->state = STATE_PLAIN;
}

static void take_other(struct scan *scan)
{
	take_sign(scan);
	scan->is_value = false;
}

static void take_dot(struct scan *scan)
{
	scan->is_value = false;
}

/* Longer operators come before their prefixes; take_other() takes all other characters. */
static const struct {
	const char *text;
	void (*take)(struct scan *scan);
} operators[] = {
	{ "**=", take_assignment },
	{ "//=", take_assignment },
	{ ">>=", take_assignment },
	{ "<<=", take_assignment },
	{ "==", secret_source_take_comparison },
	{ "!=", secret_source_take_comparison },
	{ "<=", take_other },
	{ ">=", take_other },
	{ "->", take_other },
	{ ":=", take_assignment },
	{ "+=", take_assignment },
	{ "-=", take_assignment },
	{ "*=", take_assignment },
	{ "/=", take_assignment },
	{ "%=", take_assignment },
	{ "&=", take_assignment },
	{ "|=", take_assignment },
	{ "^=", take_assignment },
	{ "@=", take_assignment },
	{ "=", take_assignment },
	{ ":", take_colon },
	{ ",", take_comma },
	{ ";", end_statement },
	{ "\n", end_statement },
	{ ".", take_dot },
	{ "-", take_sign },
	{ "+", take_sign },
};

static void take_operator(struct scan *scan)
{
	for (size_t i = 0; i < ARRAY_LENGTH(operators); i++) {
		size_t length = strlen(operators[i].text);

		if (strncmp(scan->at, operators[i].text, length) != 0)
			continue;
		if (operators[i].take != take_comma)
			scan->pair = PAIR_NONE;
		operators[i].take(scan);
		secret_source_copy(scan, length);
		return;
	}
	scan->pair = PAIR_NONE;
	take_other(scan);
	secret_source_copy(scan, 1);
}

/* Length of a word of letters, digits and _; every non-ASCII byte counts as a letter. */
static size_t secret_source_word_length(const char *text)
{
	size_t length = 0;

	while (isalnum((unsigned char)text[length]) || text[length] == '_' ||
	       (unsigned char)text[length] >= 0x80)
		length++;
	return length;
}

/* Length of a number like 1, 1_000, 0x1f or 1.5e3; an exponent's sign is taken as an operator. */
static size_t number_length(const char *text)
{
	size_t length = secret_source_word_length(text);

	while (text[length] == '.')
		length += 1 + secret_source_word_length(text + length + 1);
	return length;
}

/* Sets *prefix to the number of letters before a string's quote; false: no string begins here. */
static bool find_string(const char *text, size_t *prefix)
{
	*prefix = strspn(text, "rRbBuUfFtT");
	return *prefix <= 2 && (text[*prefix] == '"' || text[*prefix] == '\'');
}

static void take_comment(struct scan *scan)
{
	size_t length = strcspn(scan->at, "\n");

	secret_source_mask_text(scan->out, scan->at, length);
	scan->at += length;
}

static void secret_source_take_token(struct scan *scan)
{
	size_t prefix;

	if (strchr(" \t\r\f", *scan->at))
		secret_source_copy(scan, 1);
	else if (scan->at[0] == '\\' && scan->at[1] == '\n')
		secret_source_copy(scan, 2);
	else if (*scan->at == '#')
		take_comment(scan);
	else if (find_string(scan->at, &prefix))
		secret_source_take_string(scan, prefix);
	else if (isdigit((unsigned char)*scan->at))
		secret_source_take_number(scan, number_length(scan->at));
	else if (secret_source_word_length(scan->at) > 0)
		secret_source_take_name(scan, secret_source_word_length(scan->at));
	else if (strchr("([{", *scan->at))
		open_bracket(scan);
	else if (strchr(")]}", *scan->at))
		close_bracket(scan);
	else
		take_operator(scan);
}

void secret_mask_source(struct buffer *out, const char *text)
{
	struct scan scan = { .out = out, .at = text };

	while (*scan.at != '\0')
		secret_source_take_token(&scan);
}

/*
 * Offset of the text behind the prefixes of ranks and the margin of an exception group, if that
 * text is source code, which tracebacks indent by four; 0: it is none.
 */
static size_t source_offset(const char *bytes, size_t length)
{
	struct logline line;
	size_t margin;

	logline_read(&line, bytes, length);
	margin = logline_margin(line.text, line.length);
	for (size_t skipped = 0; skipped <= margin + 1; skipped += margin + 1) {
		if (line.length >= skipped + 4 && strncmp(line.text + skipped, "    ", 4) == 0)
			return line.prefix + skipped + 4;
		if (margin == 0)
			break;
	}
	return 0;
}

void secret_mask_traceback(struct buffer *out, const char *text)
{
	struct buffer lines = BUFFER_INIT;

	while (*text != '\0') {
		size_t length = strcspn(text, "\n");
		size_t source = source_offset(text, length);
		char *line;

		length += text[length] == '\n';
		line = xstrndup(text + source, length - source);
		buffer_append(&lines, text, source);
		if (source > 0)
			secret_mask_source(&lines, line);
		else
			buffer_append_string(&lines, line);
		free(line);
		text += length;
	}
	secret_mask(out, lines.data ? lines.data : "");
	buffer_clear(&lines);
}
