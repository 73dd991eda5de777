/*
 * text: width, escaping and cutting of strings for a terminal. Over utf8proc, which no
 * other file includes.
 *
 * Widths are columns: 0 for combining characters, 2 for wide ones. Text from outside goes
 * through text_escape before it is drawn or printed. A control character that a caller
 * forgot to escape counts as one column.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;

/* True if all bytes are valid UTF-8, without surrogates and overlong forms. */
bool text_is_utf8(const char *bytes, size_t length);
/* Returns the number of bytes at the end that begin a UTF-8 character without completing it. */
size_t text_unfinished(const char *bytes, size_t length);
/* Columns of one code point: 0, 1 or 2. */
int text_codepoint_width(int32_t codepoint);
/* Columns of a string. */
int text_width(const char *string);
/*
 * Returns the next code point (U+FFFD for a bad byte) and moves *string behind it; at the NUL
 * returns 0 and does not move *string.
 */
int32_t text_next(const char **string);
/* Bytes of the longest prefix of at most width columns. */
size_t text_fit(const char *string, int width);
/* Appends a code point as UTF-8. */
void text_put_codepoint(struct buffer *out, int32_t codepoint);
/*
 * True as in Python's str.isprintable(): false for control, format, surrogate, private-use and
 * unassigned code points, and for separators other than the space.
 */
bool text_is_printable(int32_t codepoint);

/*
 * Appends bytes so that they are safe to show. C0 controls (also newline and tab) become ^X and DEL
 * ^?; C1 and bidi controls, zero width characters, line and paragraph separators become <202e>; bad
 * UTF-8 becomes <ff>.
 */
void text_escape(struct buffer *out, const char *bytes, size_t length);
/* text_escape() for bytes that begin a line: a tab becomes blanks up to the next multiple of 8. */
void text_append_line(struct buffer *out, const char *bytes, size_t length);
/* Bytes of the longest prefix that needs no escape. */
size_t text_plain_prefix(const char *bytes, size_t length);
/* True if text_escape() would change nothing. */
bool text_is_plain(const char *bytes, size_t length);

/*
 * Returns the length of the control sequence (CSI or OSC, ECMA-48) that bytes begins with: colours,
 * movements of the cursor; 0: none, or an incomplete one.
 */
size_t text_sequence(const char *bytes, size_t length);

/* Appends string cut to width columns, ending in "…" when cut. */
void text_cut(struct buffer *out, const char *string, int width);
/*
 * Appends path in at most width columns: "…" replaces folders in the middle; the file name is kept
 * whole as long as it fits.
 */
void text_cut_path(struct buffer *out, const char *path, int width);

/* Appends a number with commas: 1024 -> "1,024". */
void text_count(struct buffer *out, uint64_t count);
/* Appends a size in bytes: "264 B" "1.0 KB" "412 MB": at most seven columns. */
void text_size(struct buffer *out, uint64_t bytes);
/* Appends string in lower case, for comparisons that ignore case. */
void text_lower(struct buffer *out, const char *string);
int32_t text_codepoint_lower(int32_t codepoint);
/* True if text_lower() would change string. */
bool text_has_capital(const char *string);
/* Appends an age in seconds: "0s" "34s" "4m" "9h" "3d": at most four columns. */
void text_age(struct buffer *out, double seconds);
/* Appends seconds with a unit, for a sentence: "34 s", "9 min", "4 h", "3 d". */
void text_duration(struct buffer *out, double seconds);
/* Appends seconds like a clock: "0:34", "1:02:03". */
void text_clock(struct buffer *out, double seconds);

/*
 * Returns the seconds of "60", "60s", "5m", "5min" or "2h": a number without or with a unit (s, m,
 * min, h). NaN: text is neither.
 */
double text_seconds(const char *text);

#endif
