/*
 * image: a process image made of a fuzzer's input: some pages of this process
 * at an address that never changes, so that inputs can hold pointers into
 * them. The readers of backend `ptrace` are then let loose on ourselves.
 *
 * An input is a list of records of ten bytes: the number of an eight-byte word
 * (16 bit) and its value (64 bit), both little endian. All other words are 0.
 * The value IMAGE_TID stands for the number of the thread that reads.
 */
#ifndef FUZZ_IMAGE_H
#define FUZZ_IMAGE_H

#include <stddef.h>
#include <stdint.h>

struct cpython;
struct memory;

#define IMAGE_START UINT64_C(0x200000000000)
#define IMAGE_SIZE ((size_t)1 << 19)
#define IMAGE_TID UINT64_C(0x6469742d656d6f73)

/*
 * Replaces the image by the records behind the first byte, which chooses
 * python's version (minor and offsets are set). The memory to read it by, to
 * be freed; NULL: there is no byte.
 */
struct memory *image_open(struct cpython *python, const uint8_t *data, size_t size);
/* Replaces the image by bytes as they are. */
void image_fill_bytes(const uint8_t *data, size_t size);

#endif
