/*
 * images: the ELF files that processes run, each read once for all processes
 * and all ranks that have it mapped. Files are told apart by build id, size
 * and owner. Used by one thread at a time (native.c sees to that).
 */
#ifndef BACKENDS_NATIVE_IMAGES_H
#define BACKENDS_NATIVE_IMAGES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct image;
struct images;
struct mapping;
struct progress;
struct symbol_cache;
struct unwind_file;
struct unwind_module;

/* What is known of one address; lives as long as its images. */
struct place_name {
	char *func;	/* short, never NULL */
	char *qualname; /* whole, of C++; else NULL */
	char *file;	/* source file, else the library's */
	int lineno;	/* 0: unknown */
	bool has_symbol;
	bool is_lasting; /* the symbol comes from a file that was read completely (the result stays
			    valid) */
};

/* Borrows all for its life. */
struct images *images_new(const struct unwind_module *module, const struct symbol_cache *cache,
			  const atomic_bool *is_cancelled, struct progress *progress);
void images_free(struct images *images);
/*
 * Forgets everything when it is too much. What was lent before is void, also
 * what mappings point to.
 */
void images_tidy(struct images *images);
/* Whether names were found that images_save() would keep. */
bool images_are_unsaved(const struct images *images);
/* Keeps the names for the next run. */
void images_save(struct images *images);
/* How often images_tidy() has forgotten, to know what is void. */
unsigned images_generation(const struct images *images);

/* The file of a mapping, opened at the first time; NULL: it cannot be had. */
struct image *images_open(struct images *images, struct mapping *mapping, pid_t pid);
/* Address in the process less that in the file. */
uint64_t image_bias(const struct image *image, const struct mapping *mapping);
/* Whether the symbols have to be read before image_name(). */
bool image_is_unread(const struct image *image, uint64_t address);
struct unwind_file *image_rules(struct images *images, struct image *image);
/* Reads the symbols. */
void image_index(struct images *images, struct image *image, pid_t pid);
/* Lends what is at the file's address; it is not unread. */
const struct place_name *image_name(struct images *images, struct image *image, uint64_t address);

#endif
