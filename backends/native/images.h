/*
 * images: the ELF files that processes have mapped. Each file is read once for all these processes;
 * files are told apart by build id, size and owner. Only one thread at a time may use the module
 * (native.c ensures that).
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
	bool is_lasting; /* may be saved: all symbols and lines of its file were read */
};

/* All arguments are borrowed until images_free(). */
struct images *images_new(const struct unwind_module *module, const struct symbol_cache *cache,
			  const atomic_bool *is_cancelled, struct progress *progress);
void images_free(struct images *images);
/*
 * Forgets all files if they exceed the limits. Pointers returned before then become invalid, also
 * those in struct mapping.
 */
void images_tidy(struct images *images);
/* Whether there are names that images_save() has not saved yet. */
bool images_are_unsaved(const struct images *images);
/* Saves the names for the next run (symbol-cache.h). */
void images_save(struct images *images);
/*
 * Returns how often images_tidy() has forgotten the files. Pointers of an earlier generation are
 * invalid.
 */
unsigned images_generation(const struct images *images);

/* Returns the image of a mapping's file; the first call for a file opens it. NULL: the file is
 * unavailable. */
struct image *images_open(struct images *images, struct mapping *mapping, pid_t pid);
/* Returns the bias of a mapping: address in the process minus virtual address in the file. */
uint64_t image_bias(const struct image *image, const struct mapping *mapping);
/* Whether image_index() must be called before image_name() can name the address. */
bool image_is_unread(const struct image *image, uint64_t address);
struct unwind_file *image_rules(struct images *images, struct image *image);
/* Reads the file's symbols. */
void image_index(struct images *images, struct image *image, pid_t pid);
/* Returns the name of a virtual address of the file, borrowed. image_is_unread() must be false for
 * the address. */
const struct place_name *image_name(struct images *images, struct image *image, uint64_t address);

#endif
