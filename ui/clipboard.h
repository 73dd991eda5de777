/*
 * clipboard: puts text into the clipboard of the user's terminal, also through ssh, by the sequence
 * OSC 52 (xterm's ctlseqs, "Manipulate Selection Data").
 */
#ifndef UI_CLIPBOARD_H
#define UI_CLIPBOARD_H

#include <stdbool.h>
#include <stddef.h>

struct buffer;
struct error;

/* Maximum number of bytes that terminals accept: 100,000 characters of base64. */
#define CLIPBOARD_MAXIMUM 74994

/*
 * Appends the sequence. is_tmux: appends it twice, plain for tmux itself (set-clipboard on), and
 * wrapped for the terminal that tmux runs in (allow-passthrough on). Returns 0; -1 and *error: the
 * text is too long.
 */
int clipboard_append(struct buffer *out, const char *text, bool is_tmux, struct error *error);

#endif
