/*
 * fuzz: what every fuzz target is: one function that is given any bytes, and
 * neither crashes nor hangs on them, whatever they are. libFuzzer names it
 * (https://llvm.org/docs/LibFuzzer.html); driver.c runs it on files.
 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
