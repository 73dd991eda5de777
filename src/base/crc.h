/*
 * crc: the CRC-32 of zlib, gzip and Python's zlib.crc32(), over zlib. The sums of
 * separate parts can be combined.
 */
#ifndef BASE_CRC_H
#define BASE_CRC_H

#include <stddef.h>
#include <stdint.h>

/* Continues a sum from crc (0 at first). Thread-safe. */
uint32_t crc_add(uint32_t crc, const void *bytes, size_t length);
/* Combines the sums of two adjacent parts; length is the second part's, in bytes. */
uint32_t crc_combine(uint32_t first, uint32_t second, int64_t length);

#endif
