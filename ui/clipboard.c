#include "ui/clipboard.h"

#include <stdint.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"

static void append_base64(struct buffer *out, const char *text, size_t length)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < length; i += 3) {
		size_t left = length - i;
		uint32_t bits = (uint32_t)(unsigned char)text[i] << 16;

		if (left > 1)
			bits |= (uint32_t)(unsigned char)text[i + 1] << 8;
		if (left > 2)
			bits |= (unsigned char)text[i + 2];
		buffer_append_char(out, digits[bits >> 18]);
		buffer_append_char(out, digits[bits >> 12 & 63]);
		buffer_append_char(out, left > 1 ? digits[bits >> 6 & 63] : '=');
		buffer_append_char(out, left > 2 ? digits[bits & 63] : '=');
	}
}

int clipboard_append(struct buffer *out, const char *text, bool is_tmux, struct error *error)
{
	size_t length = strlen(text);

	if (length > CLIPBOARD_MAXIMUM)
		return error_set(error,
				 "this is too long for a clipboard: %zu KB, and terminals take %d.",
				 length / 1024, CLIPBOARD_MAXIMUM / 1024);
	buffer_append_string(out, "\033]52;c;");
	append_base64(out, text, length);
	buffer_append_string(out, "\a");
	if (!is_tmux)
		return 0;
	/* In the envelope each escape is doubled. */
	buffer_append_string(out, "\033Ptmux;\033\033]52;c;");
	append_base64(out, text, length);
	buffer_append_string(out, "\a\033\\");
	return 0;
}
