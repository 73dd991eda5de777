/*
 * images: the ELF files that processes run, each read once for all processes that have mapped it.
 * Files are told apart by build id, size and owner. Used by one thread at a time (native.c ensures
 * that).
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

/* Function, file and line of one address; valid as long as its images. */
struct place_name {
	char *func;	/* short name, or "FILE+0xADDRESS"; never NULL */
	char *qualname; /* full C++ name; NULL: not C++ */
	char *file;	/* source file, else the ELF file */
	int lineno;	/* 0: unknown */
	bool has_symbol;
	bool is_lasting; /* from a file whose symbols and lines were all read: may be saved */
};

/* Borrows all arguments as long as images exists. */
struct images *images_new(const struct unwind_module *module, const struct symbol_cache *cache,
			  const atomic_bool *is_cancelled, struct progress *progress);
void images_free(struct images *images);
/*
 * Forgets all files if they exceed the limits. Pointers returned before become invalid, also those
 * in mappings.
 */
void images_tidy(struct images *images);
/* Whether there are new names that images_save() would save. */
bool images_are_unsaved(const struct images *images);
/* Saves the names for the next run (symbol-cache.h). */
void images_save(struct images *images);
/*
 * How often images_tidy() has forgotten the files: pointers of an earlier generation are
 * invalid.
 */
unsigned images_generation(const struct images *images);

/* Opens the file of a mapping at the first call; NULL: the file is unavailable. */
struct image *images_open(struct images *images, struct mapping *mapping, pid_t pid);
/* Address in the process minus virtual address in the file. */
uint64_t image_bias(const struct image *image, const struct mapping *mapping);
/* Whether image_name() of the address needs image_index() first. */
bool image_is_unread(const struct image *image, uint64_t address);
struct unwind_file *image_rules(struct images *images, struct image *image);
/* Reads the file's symbols. */
void image_index(struct images *images, struct image *image, pid_t pid);
/* The name of a virtual address of the file for which image_is_unread() is false; borrowed. */
const struct place_name *image_name(struct images *images, struct image *image, uint64_t address);

#endif
