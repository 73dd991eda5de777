#include "backends/native/symbol-cache.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "config.h"

#include "banned.h"

#include "backends/native/images.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/file.h"
#include "base/map.h"
#include "base/pack.h"

/* Raise this number when names are made differently, or when the file's layout changes. */
#define FORMAT 1
/*
 * If the last change of a file is older than this, any later change gets another time: file times
 * are as exact as kernel ticks, at most 10 ms.
 */
#define SETTLED_NANOSECONDS UINT64_C(2000000000)
#define TEXT_MAXIMUM 4096 /* maximum bytes of one name or path */
#define FILES_MAXIMUM 4096
/*
 * Room for a file name: 16 hexadecimal digits; while the file is written, NEW_NAME, pid, "-" and
 * these digits.
 */
#define NAME_SIZE 64
#define NEW_NAME ".new-"
#define FOLDER "symbols"

struct symbol_cache {
	bool is_opened;
	int folder; /* file descriptor; -1: nothing is cached */
};

struct header {
	char magic[12];
	char version[20];
	uint32_t format;
	uint32_t crc; /* CRC of the key and the entries */
	struct symbol_key key;
};

/*
 * Followed by the texts func, qualname and file, without terminators. A text of length 0 is NULL.
 */
struct entry {
	uint64_t address;
	uint32_t lineno;
	uint16_t func, qualname, file; /* lengths of the texts */
	uint16_t has_symbol;
	uint32_t unused;
};

static_assert(sizeof(struct symbol_key) ==
		      ELF_FILE_ID_BYTES + sizeof(uint64_t) + 2 * sizeof(struct symbol_identity),
	      "a key has no padding");
static_assert(sizeof(struct header) == 40 + sizeof(struct symbol_key), "a header has no padding");
static_assert(sizeof(struct entry) == 24, "an entry has no padding");

static uint64_t nanoseconds(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
}

static int symbol_cache_identify(struct symbol_identity *identity, int fd)
{
	struct timespec now;
	struct stat about;

	if (fstat(fd, &about) < 0 || clock_gettime(CLOCK_REALTIME, &now) < 0)
		return -1;
	*identity = (struct symbol_identity){
		.device = about.st_dev,
		.inode = about.st_ino,
		.size = (uint64_t)about.st_size,
		.owner = about.st_uid,
		.modified = nanoseconds(&about.st_mtim),
		.changed = nanoseconds(&about.st_ctim),
	};
	return identity->changed + SETTLED_NANOSECONDS < nanoseconds(&now) ? 0 : -1;
}

int symbol_key_set(struct symbol_key *key, const struct elf_file *image,
		   const struct elf_file *debug)
{
	*key = (struct symbol_key){ .id_length = image->id_length };
	memcpy(key->id, image->id, image->id_length);
	if (image->id_length == 0 || symbol_cache_identify(&key->image, image->fd) < 0)
		return -1;
	return debug ? symbol_cache_identify(&key->debug, debug->fd) : 0;
}

struct symbol_cache *symbol_cache_new(void)
{
	struct symbol_cache *cache = xcalloc(1, sizeof(*cache));

	cache->folder = -1;
	return cache;
}

void symbol_cache_open(struct symbol_cache *cache)
{
	if (!cache->is_opened)
		cache->folder = file_cache_folder(FOLDER);
	cache->is_opened = true;
}

void symbol_cache_free(struct symbol_cache *cache)
{
	if (!cache)
		return;
	if (cache->folder >= 0)
		close(cache->folder);
	free(cache);
}

static void symbol_cache_make_name(char name[NAME_SIZE], const struct symbol_key *key)
{
	const uint8_t *bytes = (const void *)key;
	uint64_t hash = HASH_START;
	uint64_t word;

	for (size_t at = 0; at < sizeof(*key); at += sizeof(word)) {
		memcpy(&word, bytes + at, sizeof(word));
		hash = hash_number(hash, word);
	}
	snprintf(name, NAME_SIZE, "%016llx", (unsigned long long)hash);
}

static void make_header(struct header *header, const struct symbol_key *key, const void *entries,
			size_t length)
{
	*header = (struct header){ .magic = "probetui", .format = FORMAT };
	snprintf(header->version, sizeof(header->version), "%s", PACKAGE_VERSION);
	header->key = *key;
	header->crc = crc_add(crc_add(0, key, sizeof(*key)), entries, length);
}

/* Opens a cache file that belongs to the user, and that no other user may write; -1: none. */
static int open_kept(const struct symbol_cache *cache, const char *name, size_t *length)
{
	/* Without a folder (-1) openat() fails with EBADF. */
	int fd = openat(cache->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat about;

	if (fd < 0)
		return -1;
	if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
	    (about.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
	    about.st_size >= (off_t)sizeof(struct header) &&
	    about.st_size <= SYMBOL_CACHE_FILE_MAXIMUM) {
		*length = (size_t)about.st_size;
		return fd;
	}
	close(fd);
	return -1;
}

/* Reads a cache file, to be freed; NULL: missing, damaged, or of another key. */
static char *symbol_cache_read_kept(const struct symbol_cache *cache, const struct symbol_key *key,
				    size_t *length)
{
	char name[NAME_SIZE];
	struct header header;
	char *bytes;
	int fd;

	symbol_cache_make_name(name, key);
	fd = open_kept(cache, name, length);
	if (fd < 0)
		return NULL;
	bytes = xmalloc(*length);
	if (pread(fd, bytes, *length, 0) == (ssize_t)*length) {
		make_header(&header, key, bytes + sizeof(header), *length - sizeof(header));
		if (memcmp(bytes, &header, sizeof(header)) == 0) {
			close(fd);
			return bytes;
		}
	}
	close(fd);
	free(bytes);
	return NULL;
}

/* The part of a cache file that is not parsed yet. */
struct rest {
	const char *at;
	size_t length;
};

static const char *symbol_cache_take_bytes(struct rest *rest, size_t length)
{
	const char *bytes = rest->at;

	if (rest->length < length)
		return NULL;
	rest->at += length;
	rest->length -= length;
	return bytes;
}

static bool symbol_cache_is_text(const char *bytes, size_t length)
{
	return bytes && length <= TEXT_MAXIMUM && !memchr(bytes, '\0', length);
}

static char *symbol_cache_copy_text(const char *bytes, size_t length)
{
	return length > 0 ? xstrndup(bytes, length) : NULL;
}

/* Parses the next entry; NULL: malformed. */
static struct place_name *symbol_cache_take_entry(struct rest *rest, uint64_t *address)
{
	const char *bytes = symbol_cache_take_bytes(rest, sizeof(struct entry));
	struct place_name *name;
	struct entry entry;
	const char *qualname;
	const char *func;
	const char *file;

	if (!bytes)
		return NULL;
	memcpy(&entry, bytes, sizeof(entry));
	func = symbol_cache_take_bytes(rest, entry.func);
	qualname = symbol_cache_take_bytes(rest, entry.qualname);
	file = symbol_cache_take_bytes(rest, entry.file);
	if (!symbol_cache_is_text(func, entry.func) ||
	    !symbol_cache_is_text(qualname, entry.qualname) ||
	    !symbol_cache_is_text(file, entry.file) || entry.lineno > INT32_MAX ||
	    (entry.func > 0) != entry.has_symbol || (entry.file > 0) != (entry.lineno > 0))
		return NULL;
	name = xcalloc(1, sizeof(*name));
	*name = (struct place_name){
		.func = symbol_cache_copy_text(func, entry.func),
		.qualname = symbol_cache_copy_text(qualname, entry.qualname),
		.file = symbol_cache_copy_text(file, entry.file),
		.lineno = (int)entry.lineno,
		.has_symbol = entry.has_symbol,
		.is_lasting = true,
	};
	*address = entry.address;
	return name;
}

size_t symbol_cache_load(const struct symbol_cache *cache, const struct symbol_key *key,
			 struct map *names)
{
	struct place_name *name;
	uint64_t address;
	size_t count = 0;
	size_t length;
	char *bytes = symbol_cache_read_kept(cache, key, &length);

	if (!bytes)
		return 0;
	struct rest rest = { bytes + sizeof(struct header), length - sizeof(struct header) };
	while ((name = symbol_cache_take_entry(&rest, &address))) {
		map_put(names, address, name);
		count++;
	}
	free(bytes);
	return count;
}

/* The entries to write; is_full: the entries exceed the size of a cache file. */
struct entries {
	struct buffer bytes;
	bool is_full;
};

static size_t text_length(const char *text)
{
	return text ? strlen(text) : 0;
}

static void symbol_cache_append_text(struct buffer *out, const char *text)
{
	if (text)
		buffer_append_string(out, text);
}

/*
 * Sets the lengths of the texts; false: a text is too long, or contradicts the entry, so the entry
 * is not cached.
 */
static bool set_lengths(struct entry *entry, const char *func, const char *qualname,
			const char *file)
{
	entry->func = (uint16_t)text_length(func);
	entry->qualname = (uint16_t)text_length(qualname);
	entry->file = (uint16_t)text_length(file);
	return text_length(func) <= TEXT_MAXIMUM && text_length(qualname) <= TEXT_MAXIMUM &&
	       text_length(file) <= TEXT_MAXIMUM && (entry->func > 0) == entry->has_symbol &&
	       (entry->file > 0) == (entry->lineno > 0);
}

static void symbol_cache_add_entry(uint64_t address, void *value, void *data)
{
	const struct place_name *name = value;
	const char *func = name->has_symbol ? name->func : NULL;
	const char *file = name->lineno > 0 ? name->file : NULL;
	struct entries *out = data;
	struct entry entry = {
		.address = address,
		.lineno = name->lineno > 0 ? (uint32_t)name->lineno : 0,
		.has_symbol = name->has_symbol,
	};

	if (!name->is_lasting || out->is_full || !set_lengths(&entry, func, name->qualname, file))
		return;
	buffer_append(&out->bytes, &entry, sizeof(entry));
	symbol_cache_append_text(&out->bytes, func);
	symbol_cache_append_text(&out->bytes, name->qualname);
	symbol_cache_append_text(&out->bytes, file);
	out->is_full = out->bytes.length > SYMBOL_CACHE_FILE_MAXIMUM - sizeof(struct header);
}

static void write_kept(const struct symbol_cache *cache, const char *name,
		       const struct header *header, const struct buffer *entries)
{
	char new_name[NAME_SIZE];
	bool is_written;
	int fd;

	snprintf(new_name, sizeof(new_name), NEW_NAME "%d-%s", (int)getpid(), name);
	unlinkat(cache->folder, new_name, 0);
	fd = openat(cache->folder, new_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return;
	is_written = file_write(fd, (const void *)header, sizeof(*header)) == 0 &&
		     file_write(fd, entries->data, entries->length) == 0;
	is_written = close(fd) == 0 && is_written;
	if (!is_written || renameat(cache->folder, new_name, cache->folder, name) < 0)
		unlinkat(cache->folder, new_name, 0);
}

struct kept {
	char name[NAME_SIZE];
	uint64_t modified;
	uint64_t size;
};

static int compare_age(const void *a, const void *b)
{
	const struct kept *left = a;
	const struct kept *right = b;

	return (left->modified > right->modified) - (left->modified < right->modified);
}

/* Lists all regular files of the folder, also incomplete ones of a killed process. */
static size_t list_kept(const struct symbol_cache *cache, struct kept **items)
{
	int fd = openat(cache->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
	size_t capacity = 0;
	size_t count = 0;
	struct dirent *entry;
	struct stat about;

	*items = NULL;
	if (!folder && fd >= 0)
		close(fd);
	while (folder && count < FILES_MAXIMUM && (entry = readdir(folder))) {
		if (strlen(entry->d_name) >= NAME_SIZE ||
		    fstatat(cache->folder, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(about.st_mode))
			continue;
		ARRAY_GROW(*items, count, capacity);
		struct kept *kept = &(*items)[count++];
		snprintf(kept->name, sizeof(kept->name), "%s", entry->d_name);
		kept->modified = nanoseconds(&about.st_mtim);
		kept->size = (uint64_t)about.st_size;
	}
	if (folder)
		closedir(folder);
	return count;
}

void symbol_cache_trim(const struct symbol_cache *cache)
{
	struct kept *items;
	size_t count;
	uint64_t sum = 0;

	if (cache->folder < 0)
		return;
	count = list_kept(cache, &items);
	for (size_t i = 0; i < count; i++)
		sum += items[i].size;
	if (sum > SYMBOL_CACHE_MAXIMUM || count == FILES_MAXIMUM) {
		qsort(items, count, sizeof(*items), compare_age);
		/* Removes a quarter at once: otherwise each further file would need a listing. */
		for (size_t i = 0;
		     i < count && (sum > SYMBOL_CACHE_MAXIMUM / 4 * 3 || i < count / 4); i++) {
			unlinkat(cache->folder, items[i].name, 0);
			sum -= items[i].size;
		}
	}
	free(items);
}

void symbol_cache_save(const struct symbol_cache *cache, const struct symbol_key *key,
		       const struct map *names)
{
	struct entries entries = { .bytes = BUFFER_INIT };
	struct header header;
	char name[NAME_SIZE];

	if (cache->folder < 0)
		return;
	symbol_cache_make_name(name, key);
	map_each(names, symbol_cache_add_entry, &entries);
	if (entries.is_full) {
		unlinkat(cache->folder, name, 0);
	} else {
		make_header(&header, key, entries.bytes.data, entries.bytes.length);
		write_kept(cache, name, &header, &entries.bytes);
	}
	buffer_clear(&entries.bytes);
}
