/* base64: bytes as ASCII (RFC 4648, section 4), with = at the end. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stddef.h>

struct buffer;

/* Appends bytes in base64; nothing more once out's maximum is reached. */
void base64_encode(struct buffer *out, const void *bytes, size_t length);
/* Returns 0; -1: text is not base64, or out's maximum is reached. */
int base64_decode(struct buffer *out, const char *text, size_t length);

#endif
