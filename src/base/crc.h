/*
 * crc: the CRC-32 of zlib, gzip and Python's zlib.crc32(), over zlib. Parts
 * may be summed apart, and put together.
 */
#ifndef BASE_CRC_H
#define BASE_CRC_H

#include <stddef.h>
#include <stdint.h>

/* Continues from crc, which is 0 at first; any thread may. */
uint32_t crc_add(uint32_t crc, const void *bytes, size_t length);
/* Of two parts in a row, of which the second has so many bytes. */
uint32_t crc_combine(uint32_t first, uint32_t second, int64_t length);

#endif
