/*
 * classmark: the character that stands for a class of ranks, by verdict.h's
 * `mark`: the majority, the outlier, then the further ones.
 */
#ifndef MODEL_CLASSMARK_H
#define MODEL_CLASSMARK_H

#include <stddef.h>
#include <stdint.h>

/* As a code point; '?' below 0. */
int32_t classmark(int mark);
/* The mark that a person typed, on any terminal's form of it; -1: none. */
int classmark_find(const char *text, size_t length);

#endif
