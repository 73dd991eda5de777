/*
 * secret: masks the values of secrets in texts that are stored or shown.
 *
 * A name is a secret's name if it contains token, key, secret, password, passwd, pwd,
 * auth or credential, in any case. In text from elsewhere (a traceback, an error's
 * message) these values are masked: assignments to such a name (NAME=value, "NAME":
 * value, --NAME value, api_key: value), the word behind Bearer, the credentials of a
 * URL (https://user:password@host), tokens of known formats (ghp_..., hf_..., AKIA...,
 * sk-..., eyJ...) and private keys (RFC 7468), wherever they stand. In Python source only literals
 * are masked: those assigned to such a name, passed or compared with it, under such a key, or
 * behind such a string in a list; other strings and comments are masked like other text.
 */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

struct buffer;

#define SECRET_MASK "<masked>"

/* True if text contains one of the words of a secret's name (above), in any case. */
bool secret_is_told(const char *text, size_t length);
/* True if the name ends in one of these words, as api_key does; false for the bare name "key". */
bool secret_is_named(const char *name, size_t length);
/* Appends text, which may have several lines, with values masked. */
void secret_mask(struct buffer *out, const char *text);
/* Appends Python source with the literals of secrets masked; lines keep their numbers. */
void secret_mask_source(struct buffer *out, const char *text);
/*
 * Appends what Python has printed: lines of source code of tracebacks, indented by four, are masked
 * as source, also behind the prefixes of ranks and the margins of exception groups; other lines as
 * text.
 */
void secret_mask_traceback(struct buffer *out, const char *text);
/* True if text contains one of these words, or if secret_mask() would change text. */
bool secret_is_in(const char *text);

#endif
