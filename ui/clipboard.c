#include "ui/clipboard.h"

#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"

int clipboard_append(struct buffer *out, const char *text, bool is_tmux, struct error *error)
{
	size_t length = strlen(text);

	if (length > CLIPBOARD_MAXIMUM)
		return error_set(error,
				 "the text is too long for the clipboard: %zu KB (at most %d KB)",
				 length / 1024, CLIPBOARD_MAXIMUM / 1024);
	buffer_append_string(out, "\033]52;c;");
	base64_encode(out, text, length);
	buffer_append_string(out, "\a");
	if (!is_tmux)
		return 0;
	/* tmux's passthrough sequence (DCS tmux;) needs each ESC doubled. */
	buffer_append_string(out, "\033Ptmux;\033\033]52;c;");
	base64_encode(out, text, length);
	buffer_append_string(out, "\a\033\\");
	return 0;
}
