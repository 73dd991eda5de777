/*
 * clipboard: text for the clipboard of the terminal that a person sits at,
 * through any ssh between: OSC 52 (xterm's ctlseqs, "Manipulate Selection
 * Data").
 */
#ifndef UI_CLIPBOARD_H
#define UI_CLIPBOARD_H

#include <stdbool.h>
#include <stddef.h>

struct buffer;
struct error;

/* What terminals take at most: 100,000 characters of base64. */
#define CLIPBOARD_MAXIMUM 74994

/*
 * Appends the sequence. In tmux it is sent twice: tmux takes the one
 * (set-clipboard on), and hands the other through (allow-passthrough on).
 * -1 and a sentence when the text is too long.
 */
int clipboard_append(struct buffer *out, const char *text, bool is_tmux, struct error *error);

#endif
