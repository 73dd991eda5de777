#include "base/crc.h"

#include <zlib.h>

#include "banned.h"

uint32_t crc_add(uint32_t crc, const void *bytes, size_t length)
{
	return (uint32_t)crc32_z(crc, bytes, length);
}

uint32_t crc_combine(uint32_t first, uint32_t second, int64_t length)
{
	return (uint32_t)crc32_combine(first, second, length);
}
