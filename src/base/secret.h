/*
 * secret: what a name tells of, so that its value is not written down.
 *
 * A name tells of a secret when token, key, secret, password, passwd, pwd, auth
 * or credential is part of it, in any case. Text from elsewhere (a traceback,
 * an error's message) is masked where it assigns to such a name (NAME=value,
 * "NAME": value, --NAME value, api_key: value), behind Bearer, and in who an
 * address logs in as (https://user:password@host). In Python source literals
 * alone are masked: in what is assigned to such a name or passed by it, under
 * such a key, compared with it, or behind it in a list of texts; and other
 * strings and comments as any text is.
 */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

struct buffer;

#define SECRET_MASK "<masked>"

bool secret_is_told(const char *text, size_t length);
/* The name ends in one of the words: api_key, and neither key nor key_size. */
bool secret_is_named(const char *name, size_t length);
/* Appends text, which is several lines perhaps, with values masked. */
void secret_mask(struct buffer *out, const char *text);
/* Appends Python source with literals masked; its lines keep their numbers. */
void secret_mask_source(struct buffer *out, const char *text);
/* True when text tells of a secret, or something of it would be masked. */
bool secret_is_in(const char *text);

#endif
