#include "model/classmark.h"

#include <string.h>

#include "banned.h"
#include "base/array.h"

struct form {
	int32_t codepoint;
	const char *text;
	char ascii; /* for terminals without Unicode */
};

static const struct form forms[] = {
	{ 0x25cf, "\u25cf", 'o' }, { 0x25c6, "\u25c6", '*' }, { 0x25b2, "\u25b2", '^' },
	{ 0x25bc, "\u25bc", 'v' }, { 0x2605, "\u2605", '+' }, { 0x271a, "\u271a", 'x' },
};

/* Marks of further classes; without o, v and x, which are ASCII marks of other classes. */
static const char letters[] = "abcdefghijklmnpqrstuwyz";

int32_t classmark(int mark)
{
	size_t count = ARRAY_LENGTH(forms);

	if (mark < 0)
		return '?';
	if ((size_t)mark < count)
		return forms[mark].codepoint;
	return letters[((size_t)mark - count) % strlen(letters)];
}

int classmark_find(const char *text, size_t length)
{
	const char *letter;

	for (size_t i = 0; i < ARRAY_LENGTH(forms); i++) {
		if ((length == 1 && *text == forms[i].ascii) ||
		    (length == strlen(forms[i].text) && memcmp(text, forms[i].text, length) == 0))
			return (int)i;
	}
	letter = length == 1 ? memchr(letters, *text, strlen(letters)) : NULL;
	return letter ? (int)(ARRAY_LENGTH(forms) + (size_t)(letter - letters)) : -1;
}
