#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"

#define ERROR_SIZE sizeof(((struct error *)NULL)->message)

/* Removes an incomplete UTF-8 character from the end of a sentence that was cut. */
static void drop_torn_character(char *text)
{
	size_t length = strlen(text);
	size_t start = length;
	size_t wanted;
	unsigned char lead;

	while (start > 0 && length - start < 3 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
		start--;
	if (start == 0)
		return;
	lead = (unsigned char)text[start - 1];
	wanted = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
	if (length - start < wanted)
		text[start - 1] = '\0';
}

/*
 * Stores a finished sentence. Callers format into another buffer, because the format's values may
 * point into *error.
 */
static void error_keep(struct error *error, char *sentence)
{
	if (strlen(sentence) == ERROR_SIZE - 1)
		drop_torn_character(sentence);
	memcpy(error->message, sentence, strlen(sentence) + 1);
}

int error_set(struct error *error, const char *format, ...)
{
	char sentence[ERROR_SIZE];
	va_list values;

	if (!error)
		return -1;
	va_start(values, format);
	if (vsnprintf(sentence, sizeof(sentence), format, values) < 0)
		sentence[0] = '\0';
	va_end(values);
	error_keep(error, sentence);
	return -1;
}

/* Sets *error to the formatted words, followed by ": " and the text behind. */
__attribute__((format(printf, 3, 0))) static void set_with(struct error *error, const char *behind,
							   const char *format, va_list values)
{
	char sentence[ERROR_SIZE];
	int length = vsnprintf(sentence, sizeof(sentence), format, values);

	if (length < 0)
		length = 0;
	if ((size_t)length < sizeof(sentence))
		snprintf(sentence + length, sizeof(sentence) - (size_t)length, ": %s", behind);
	error_keep(error, sentence);
}

int error_set_errno(struct error *error, int number, const char *format, ...)
{
	va_list values;

	if (!error)
		return -1;
	va_start(values, format);
	set_with(error, strerror(number), format, values);
	va_end(values);
	return -1;
}

int error_prefix(struct error *error, const char *format, ...)
{
	va_list values;

	if (!error)
		return -1;
	va_start(values, format);
	set_with(error, error->message, format, values);
	va_end(values);
	return -1;
}

bool error_is_set(const struct error *error)
{
	return error && error->message[0] != '\0';
}

bool reason_set(struct reason *reason, const char *why, const char *fix)
{
	snprintf(reason->why, sizeof(reason->why), "%s", why);
	snprintf(reason->fix, sizeof(reason->fix), "%s", fix);
	return false;
}

int reason_explain(const struct reason *reason, struct error *error)
{
	return error_set(error, "%s%s%s", reason->why, reason->fix[0] ? ": " : "", reason->fix);
}
