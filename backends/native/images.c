#include "backends/native/images.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "banned.h"

#include "backends/linux/maps.h"
#include "backends/linux/root-file.h"
#include "backends/native/elf-file.h"
#include "backends/native/native.h"
#include "backends/native/symbol-cache.h"
#include "backends/native/symbols.h"
#include "backends/native/unwinder.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/map.h"

#define IMAGES_MAXIMUM 512
#define NAMES_MAXIMUM 100000
#define BYTES_MAXIMUM (UINT64_C(1) << 30)
#define VDSO_MAXIMUM (256u << 10)
#define QUALNAME_MAXIMUM 4000 /* maximum bytes of a function's name in a message */
#define DEBUG_FOLDER "/usr/lib/debug/.build-id"

struct image {
	uint64_t device, inode;
	off_t size;
	uid_t owner;
	char *path;
	struct elf_file elf;
	void *bytes; /* content of the vDSO; NULL: the image has a file */
	size_t byte_count;
	struct symbols *symbols;	    /* NULL: not read yet */
	const struct elf_file *symbol_file; /* &elf or &debug */
	struct elf_file debug;		    /* file with debugging data; fd -1: none */
	bool is_debug_opened;
	struct unwind_file *rules;
	bool is_rules_opened;
	struct unwind_file *lines;
	bool has_all_lines; /* true: lines comes from the debug file, if there is one */
	struct map *names;  /* address -> struct place_name */
	struct symbol_key key;
	bool has_key;	 /* true: names are saved for the next run */
	bool is_unsaved; /* true: names has entries that are not saved yet */
};

struct images {
	const struct unwind_module *module;
	const struct symbol_cache *cache;
	const atomic_bool *is_cancelled;
	struct progress *progress;
	struct image **items;
	size_t count;
	size_t capacity;
	size_t name_count;
	unsigned generation;
};

static void images_free_name(void *value)
{
	struct place_name *name = value;

	free(name->func);
	free(name->qualname);
	free(name->file);
	free(name);
}

static void image_free(const struct images *images, struct image *image)
{
	if (image->lines != image->rules)
		images->module->close(image->lines);
	images->module->close(image->rules);
	symbols_free(image->symbols);
	map_free(image->names);
	if (image->elf.fd >= 0)
		close(image->elf.fd);
	if (image->debug.fd >= 0)
		close(image->debug.fd);
	free(image->bytes);
	free(image->path);
	free(image);
}

struct images *images_new(const struct unwind_module *module, const struct symbol_cache *cache,
			  const atomic_bool *is_cancelled, struct progress *progress)
{
	struct images *images = xcalloc(1, sizeof(*images));

	images->module = module;
	images->cache = cache;
	images->is_cancelled = is_cancelled;
	images->progress = progress;
	return images;
}

static void forget_all(struct images *images)
{
	for (size_t i = 0; i < images->count; i++)
		image_free(images, images->items[i]);
	images->count = 0;
	images->name_count = 0;
	images->generation++;
}

void images_free(struct images *images)
{
	if (!images)
		return;
	forget_all(images);
	free(images->items);
	free(images);
}

/* Sums the bytes of the files that were read: symbols, unwind rules and lines. */
static uint64_t images_count_bytes(const struct images *images)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < images->count; i++) {
		const struct image *image = images->items[i];
		if (image->symbols)
			bytes += symbols_bytes(image->symbols);
		if (image->rules)
			bytes += images->module->size(image->rules);
		if (image->lines && image->lines != image->rules)
			bytes += images->module->size(image->lines);
	}
	return bytes;
}

static bool images_is_full(const struct images *images)
{
	return images->count >= IMAGES_MAXIMUM || images->name_count >= NAMES_MAXIMUM ||
	       images_count_bytes(images) >= BYTES_MAXIMUM;
}

void images_tidy(struct images *images)
{
	if (images_is_full(images))
		forget_all(images);
}

bool images_are_unsaved(const struct images *images)
{
	for (size_t i = 0; i < images->count; i++)
		if (images->items[i]->is_unsaved)
			return true;
	return false;
}

void images_save(struct images *images)
{
	for (size_t i = 0; i < images->count; i++) {
		struct image *image = images->items[i];

		if (image->is_unsaved)
			symbol_cache_save(images->cache, &image->key, image->names);
		image->is_unsaved = false;
	}
	symbol_cache_trim(images->cache);
}

unsigned images_generation(const struct images *images)
{
	return images->generation;
}

/*
 * True if two images are the same inode, or the same build of the same owner. The path must be
 * equal, too: frames show the path, and the process can choose it.
 */
static bool images_is_same(const struct image *a, const struct image *b)
{
	if (a->size != b->size || a->owner != b->owner || strcmp(a->path, b->path) != 0)
		return false;
	if (a->elf.id_length && b->elf.id_length)
		return a->elf.id_length == b->elf.id_length &&
		       memcmp(a->elf.id, b->elf.id, a->elf.id_length) == 0;
	return a->device == b->device && a->inode == b->inode;
}

static struct image *images_find_same(struct images *images, const struct image *image)
{
	for (size_t i = 0; i < images->count; i++)
		if (images_is_same(images->items[i], image))
			return images->items[i];
	return NULL;
}

static struct image *images_keep(struct images *images, struct image *owned_image)
{
	struct image *same = images_find_same(images, owned_image);

	if (same) {
		image_free(images, owned_image);
		return same;
	}
	ARRAY_GROW(images->items, images->count, images->capacity);
	return images->items[images->count++] = owned_image;
}

static void drop_end(char *text, const char *end)
{
	size_t length = strlen(text);

	if (length > strlen(end) && strcmp(text + length - strlen(end), end) == 0)
		text[length - strlen(end)] = '\0';
}

static struct image *make_image(const struct mapping *mapping)
{
	struct image *image = xcalloc(1, sizeof(*image));

	image->device = mapping->device;
	image->inode = mapping->inode;
	image->path = xstrdup(mapping->path);
	drop_end(image->path, " (deleted)");
	image->elf.fd = -1;
	image->debug.fd = -1;
	image->names = map_new(images_free_name);
	return image;
}

/* Returns the user of the process; root if unknown. */
static uid_t images_find_user(pid_t pid)
{
	char path[32];
	struct stat about;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return stat(path, &about) == 0 ? about.st_uid : 0;
}

/*
 * The vDSO exists only in memory, where the process may have overwritten the vDSO: so the process's
 * user counts as the owner.
 */
static struct image *open_vdso(struct images *images, const struct mapping *mapping, pid_t pid)
{
	struct image *image = make_image(mapping);
	struct iovec here;
	struct iovec there;

	image->byte_count = mapping->end - mapping->start;
	if (image->byte_count > VDSO_MAXIMUM)
		image->byte_count = VDSO_MAXIMUM;
	image->bytes = xmalloc(image->byte_count);
	here = (struct iovec){ image->bytes, image->byte_count };
	there = (struct iovec){ (void *)(uintptr_t)mapping->start, image->byte_count };
	if (process_vm_readv(pid, &here, 1, &there, 1, 0) != (ssize_t)image->byte_count) {
		image_free(images, image);
		return NULL;
	}
	image->size = (off_t)image->byte_count;
	image->owner = images_find_user(pid);
	return images_keep(images, image);
}

/*
 * Opens the file with the data that `strip` removed, from the system's folder for debuggers. A
 * process may have its own root directory with its own files, and the result serves all processes
 * that run the image: so the file must belong to root or to the image's owner.
 */
static int find_debug(const struct image *image, pid_t pid)
{
	char path[sizeof(DEBUG_FOLDER) + 2 * ELF_FILE_ID_BYTES + 16];
	size_t at;
	int found;
	int fd = -1;

	if (image->elf.id_length < 2)
		return -1;
	at = (size_t)snprintf(path, sizeof(path), DEBUG_FOLDER "/%02x/", image->elf.id[0]);
	for (size_t i = 1; i < image->elf.id_length; i++)
		at += (size_t)snprintf(path + at, sizeof(path) - at, "%02x", image->elf.id[i]);
	snprintf(path + at, sizeof(path) - at, ".debug");
	found = root_file_find(pid, "root", path);
	if (found < 0)
		return -1;
	struct stat about;
	if (fstat(found, &about) == 0 && S_ISREG(about.st_mode) &&
	    (about.st_uid == 0 || about.st_uid == image->owner))
		fd = root_file_open(found);
	close(found);
	return fd;
}

static void open_debug(struct image *image, pid_t pid)
{
	int fd;

	if (image->is_debug_opened)
		return;
	image->is_debug_opened = true;
	fd = find_debug(image, pid);
	if (fd >= 0 && elf_file_read(&image->debug, fd) == 0 &&
	    image->debug.id_length == image->elf.id_length &&
	    memcmp(image->debug.id, image->elf.id, image->elf.id_length) == 0)
		return;
	if (fd >= 0)
		close(fd);
	image->debug.fd = -1;
}

static const char *images_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Makes a name for an address without a function, "libc.so.6+0x123"; to be freed. */
static char *images_make_place(const struct image *image, uint64_t address)
{
	return xasprintf("%s+0x%llx", images_base_name(image->path), (unsigned long long)address);
}

/*
 * Fills in the texts that contain the image's path: the cache leaves them out, because copies of a
 * file have different paths.
 */
static void images_complete(uint64_t address, void *value, void *data)
{
	struct place_name *name = value;
	const struct image *image = data;

	if (!name->func)
		name->func = images_make_place(image, address);
	if (!name->file)
		name->file = xstrdup(image->path);
}

/* Loads the names that earlier runs have saved. */
static void recall_names(struct images *images, struct image *image, pid_t pid)
{
	open_debug(image, pid);
	image->has_key = symbol_key_set(&image->key, &image->elf,
					image->debug.fd >= 0 ? &image->debug : NULL) == 0;
	if (!image->has_key)
		return;
	images->name_count += symbol_cache_load(images->cache, &image->key, image->names);
	map_each(image->names, images_complete, image);
}

static struct image *images_open_file(struct images *images, const struct mapping *mapping,
				      pid_t pid)
{
	int fd = mapping_open(mapping, pid);
	struct image *image;
	struct stat about;

	if (fd < 0)
		return NULL;
	image = make_image(mapping);
	if (fstat(fd, &about) < 0 || elf_file_read(&image->elf, fd) < 0) {
		close(fd);
		image->elf.fd = -1;
		image_free(images, image);
		return NULL;
	}
	image->size = about.st_size;
	image->owner = about.st_uid;
	if (!images_find_same(images, image))
		recall_names(images, image, pid);
	return images_keep(images, image);
}

struct image *images_open(struct images *images, struct mapping *mapping, pid_t pid)
{
	if (mapping->is_looked_up)
		return mapping->image;
	mapping->is_looked_up = true;
	/* A limit within one job; images_tidy() makes room before the next job. */
	if (images->count >= 2 * IMAGES_MAXIMUM)
		return NULL;
	mapping->image = mapping->is_vdso ? open_vdso(images, mapping, pid)
					  : images_open_file(images, mapping, pid);
	return mapping->image;
}

uint64_t image_bias(const struct image *image, const struct mapping *mapping)
{
	uint64_t address = mapping->offset;

	if (!image->bytes)
		elf_file_address(&image->elf, mapping->offset, &address);
	return mapping->start - address;
}

struct unwind_file *image_rules(struct images *images, struct image *image)
{
	if (image->is_rules_opened)
		return image->rules;
	image->is_rules_opened = true;
	if (images_count_bytes(images) >= BYTES_MAXIMUM)
		return NULL;
	if (image->bytes)
		image->rules = images->module->open_image(image->bytes, image->byte_count);
	else
		image->rules = images->module->open(image->elf.fd);
	return image->rules;
}

bool image_is_unread(const struct image *image, uint64_t address)
{
	return !image->symbols && !image->bytes && !map_find(image->names, address);
}

static void read_symbols(const struct images *images, struct image *image,
			 const struct elf_file *file)
{
	symbols_free(image->symbols);
	image->symbols = symbols_new(file, images->is_cancelled);
	image->symbol_file = file;
}

void image_index(struct images *images, struct image *image, pid_t pid)
{
	if (image->symbols || image->bytes)
		return;
	progress_say(images->progress, images_base_name(image->path));
	open_debug(image, pid);
	if (image->debug.fd >= 0)
		read_symbols(images, image, &image->debug);
	if (!image->symbols || symbols_count(image->symbols) == 0)
		read_symbols(images, image, &image->elf);
	/* Symbols whose reading was cancelled are incomplete: the next call reads them again. */
	if (atomic_load(images->is_cancelled)) {
		symbols_free(image->symbols);
		image->symbols = NULL;
	}
}

static struct unwind_file *open_lines(struct images *images, struct image *image)
{
	if (image->lines)
		return image->lines;
	if (image->debug.fd >= 0 && images_count_bytes(images) < BYTES_MAXIMUM)
		image->lines = images->module->open(image->debug.fd);
	image->has_all_lines = image->lines || image->debug.fd < 0;
	if (!image->lines)
		image->lines = image_rules(images, image);
	return image->lines;
}

static char *find_symbol(const struct image *image, uint64_t address)
{
	return image->symbols ? symbols_find(image->symbols, image->symbol_file, address) : NULL;
}

/* Removes the version of a symbol, as in "pthread_cond_wait@@GLIBC_2.3.2". */
static void drop_version(char *name)
{
	char *at = strchr(name, '@');

	if (at && at != name)
		*at = '\0';
}

static void images_take_symbol(const struct images *images, struct place_name *name,
			       char *owned_symbol)
{
	char *plain;

	name->has_symbol = true;
	drop_version(owned_symbol);
	plain = cpp_name_is_modest(owned_symbol) ? images->module->demangle(owned_symbol) : NULL;
	name->func = plain ? cpp_name_shorten(plain) : xstrdup(owned_symbol);
	if (plain)
		name->qualname = xstrndup(plain, QUALNAME_MAXIMUM);
	if (strlen(name->func) > QUALNAME_MAXIMUM)
		name->func[QUALNAME_MAXIMUM] = '\0';
	free(plain);
	free(owned_symbol);
}

static struct place_name *images_make_name(struct images *images, struct image *image,
					   uint64_t address)
{
	struct place_name *name = xcalloc(1, sizeof(*name));
	char path[4000];
	struct unwind_file *lines = open_lines(images, image);
	char *symbol = find_symbol(image, address);

	if (symbol)
		images_take_symbol(images, name, symbol);
	else
		name->func = images_make_place(image, address);
	if (lines && !image->bytes)
		name->lineno = images->module->line(lines, address, path, sizeof(path));
	name->file = xstrdup(name->lineno > 0 ? path : image->path);
	name->is_lasting = lines && image->has_all_lines && image->symbols &&
			   symbols_are_whole(image->symbols);
	return name;
}

const struct place_name *image_name(struct images *images, struct image *image, uint64_t address)
{
	struct place_name *name = map_find(image->names, address);

	if (name)
		return name;
	name = images_make_name(images, image, address);
	map_put(image->names, address, name);
	image->is_unsaved |= image->has_key && name->is_lasting;
	images->name_count++;
	return name;
}
