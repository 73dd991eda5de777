#include "backends/native/loaded-elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include "banned.h"

#include "backends/linux/memory.h"
#include "base/alloc.h"
#include "base/map.h"

#define IDENTITY_BYTES 1024
#define HEADERS_MAXIMUM 64
#define DYNAMIC_MAXIMUM 256
#define CHAIN_MAXIMUM 4096
#define LIBRARIES_MAXIMUM 4096
#define SECTIONS_MAXIMUM 256
#define NAMES_MAXIMUM 8192

/* FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
#define ELF_HASH_START 0xcbf29ce484222325u
#define HASH_PRIME 0x100000001b3u

/*
 * Virtual address of each symbol, by file and name. Values are stored plus 1, because a map's value
 * is never NULL; ABSENT: the file lacks the name.
 */
struct loaded_elf_cache {
	struct map *addresses;
};
#define ABSENT UINT64_MAX

struct loaded_elf_cache *loaded_elf_cache_new(void)
{
	struct loaded_elf_cache *cache = xcalloc(1, sizeof(*cache));

	cache->addresses = map_new(NULL);
	return cache;
}

void loaded_elf_cache_free(struct loaded_elf_cache *cache)
{
	if (!cache)
		return;
	map_free(cache->addresses);
	free(cache);
}

static uint64_t loaded_elf_hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
	const unsigned char *byte = bytes;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ byte[i]) * HASH_PRIME;
	return hash;
}

static void loaded_elf_identify(struct loaded_elf_image *image, struct memory *memory)
{
	unsigned char bytes[IDENTITY_BYTES];

	if (image->cache && image->start &&
	    memory_fetch(memory, image->start, bytes, sizeof(bytes)) == 0 &&
	    memcmp(bytes, ELFMAG, SELFMAG) == 0)
		image->identity = loaded_elf_hash_bytes(ELF_HASH_START, bytes, sizeof(bytes));
	image->start = 0;
}

/* The key of a name in the cache; 0: the file is not identified. */
static uint64_t cache_key(const struct loaded_elf_image *image, const char *name)
{
	return image->identity ? loaded_elf_hash_bytes(image->identity, name, strlen(name)) | 1 : 0;
}

/* In memory, glibc adds the bias to the addresses in the dynamic section, musl does not. */
static uint64_t biased(const struct loaded_elf_image *image, uint64_t address)
{
	return address < image->bias ? address + image->bias : address;
}

/* Reads the dynamic section on the first call; later calls do nothing. */
static int read_dynamic(struct loaded_elf_image *image, struct memory *memory)
{
	uint64_t address = image->dynamic;

	image->dynamic = 0;
	if (!address)
		return 0;
	for (int i = 0; i < DYNAMIC_MAXIMUM; i++) {
		Elf64_Dyn entry;
		if (memory_read(memory, address + i * sizeof(entry), &entry, sizeof(entry)) < 0)
			return -1;
		switch (entry.d_tag) {
		case DT_NULL:
			return 0;
		case DT_SYMTAB:
			image->symbols = biased(image, entry.d_un.d_ptr);
			break;
		case DT_STRTAB:
			image->strings = biased(image, entry.d_un.d_ptr);
			break;
		case DT_GNU_HASH:
			image->hash = biased(image, entry.d_un.d_ptr);
			break;
		case DT_DEBUG:
			image->debug = entry.d_un.d_ptr;
			break;
		}
	}
	return 0;
}

/* The bias is the program headers' address minus their virtual address. */
static int read_headers(struct loaded_elf_image *image, struct memory *memory, uint64_t address,
			uint64_t count)
{
	Elf64_Phdr headers[HEADERS_MAXIMUM];

	if (count == 0 || count > HEADERS_MAXIMUM) {
		errno = ENOEXEC;
		return -1;
	}
	if (memory_read(memory, address, headers, count * sizeof(*headers)) < 0)
		return -1;
	for (uint64_t i = 0; i < count; i++) {
		const Elf64_Phdr *header = &headers[i];
		if (header->p_type == PT_PHDR)
			image->bias = address - header->p_vaddr;
		else if (header->p_type == PT_LOAD && header->p_offset == 0)
			image->bias = address - sizeof(Elf64_Ehdr) - header->p_vaddr;
		else if (header->p_type == PT_DYNAMIC)
			image->dynamic = header->p_vaddr;
	}
	if (image->dynamic)
		image->dynamic += image->bias;
	image->start = address - sizeof(Elf64_Ehdr);
	return 0;
}

int loaded_elf_program(struct loaded_elf_image *image, struct memory *memory,
		       struct loaded_elf_cache *cache)
{
	char path[32];
	Elf64_auxv_t vector[64];
	uint64_t address = 0;
	uint64_t count = 0;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)memory_pid(memory));
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t got = read(fd, vector, sizeof(vector));
	if (got < 0)
		memory_note_failure(memory, errno);
	close(fd);
	if (got < 0)
		return -1;
	for (size_t i = 0; i < (size_t)got / sizeof(*vector); i++) {
		if (vector[i].a_type == AT_PHDR)
			address = vector[i].a_un.a_val;
		else if (vector[i].a_type == AT_PHNUM)
			count = vector[i].a_un.a_val;
	}
	*image = (struct loaded_elf_image){ .cache = cache };
	return read_headers(image, memory, address, count);
}

int loaded_elf_mapped(struct loaded_elf_image *image, struct memory *memory, uint64_t start)
{
	Elf64_Ehdr header;

	if (memory_read(memory, start, &header, sizeof(header)) < 0 ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phoff != sizeof(header))
		return -1;
	*image = (struct loaded_elf_image){ .cache = NULL };
	return read_headers(image, memory, start + header.e_phoff, header.e_phnum);
}

static uint32_t hash_name(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

static bool is_symbol(const struct loaded_elf_image *image, struct memory *memory, uint32_t index,
		      const char *name, uint64_t *address)
{
	Elf64_Sym symbol;
	char text[64];
	size_t size = strlen(name) + 1;

	if (size > sizeof(text) ||
	    memory_read(memory, image->symbols + index * sizeof(symbol), &symbol, sizeof(symbol)) <
		    0 ||
	    symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0 ||
	    memory_read(memory, image->strings + symbol.st_name, text, size) < 0 ||
	    memcmp(text, name, size) != 0)
		return false;
	*address = image->bias + symbol.st_value;
	return true;
}

/*
 * Returns the index of the first symbol in the bucket of hash, and sets *chain to the address of
 * that symbol's hash; 0: none.
 */
static uint32_t find_bucket(const struct loaded_elf_image *image, struct memory *memory,
			    uint32_t hash, uint64_t *chain)
{
	struct {
		uint32_t buckets;
		uint32_t first;
		uint32_t bloom_words;
		uint32_t bloom_shift;
	} head;
	uint64_t bloom;
	uint32_t index;

	if (memory_read(memory, image->hash, &head, sizeof(head)) < 0 || head.buckets == 0 ||
	    head.bloom_words == 0)
		return 0;
	uint64_t words = image->hash + sizeof(head);
	if (memory_read_u64(memory, words + hash / 64 % head.bloom_words * 8, &bloom) < 0 ||
	    !(bloom >> (hash % 64) & 1) || !(bloom >> ((hash >> (head.bloom_shift & 31)) % 64) & 1))
		return 0;
	uint64_t buckets = words + head.bloom_words * 8u;
	if (memory_read_u32(memory, buckets + hash % head.buckets * 4, &index) < 0 ||
	    index < head.first)
		return 0;
	*chain = buckets + (head.buckets + (uint64_t)index - head.first) * 4;
	return index;
}

static int loaded_elf_look_up(const struct loaded_elf_image *image, struct memory *memory,
			      const char *name, uint64_t *address)
{
	uint64_t chain = 0;
	uint32_t hash = hash_name(name);

	if (!image->hash || !image->symbols || !image->strings)
		return -1;
	uint32_t index = find_bucket(image, memory, hash, &chain);
	for (int i = 0; index && i < CHAIN_MAXIMUM; i++, index++, chain += 4) {
		uint32_t entry;
		if (memory_read_u32(memory, chain, &entry) < 0)
			return -1;
		if ((entry | 1) == (hash | 1) && is_symbol(image, memory, index, name, address))
			return 0;
		if (entry & 1)
			return -1;
	}
	return -1;
}

int loaded_elf_symbol(struct loaded_elf_image *image, struct memory *memory, const char *name,
		      uint64_t *address)
{
	uint64_t known = 0;
	uint8_t byte;

	loaded_elf_identify(image, memory);
	uint64_t key = cache_key(image, name);
	if (key)
		known = (uintptr_t)map_find(image->cache->addresses, key);
	if (known == ABSENT)
		return -1;
	if (known) {
		*address = image->bias + known - 1;
		return 0;
	}
	if (read_dynamic(image, memory) < 0)
		return -1;
	int before = memory_take_failure(memory);
	int result = loaded_elf_look_up(image, memory, name, address);
	int failure = memory_take_failure(memory);
	memory_note_failure(memory, before ? before : failure);
	known = result < 0 ? ABSENT : *address - image->bias + 1;
	/*
	 * A symbol that was unreadable is not absent: the result is for other processes only if no
	 * read has failed, and the process is still readable.
	 */
	if (key && !failure && memory_fetch(memory, image->bias, &byte, 1) == 0)
		map_put(image->cache->addresses, key, (void *)(uintptr_t)known);
	return result;
}

static void loaded_elf_read_text(struct memory *memory, uint64_t address, char *out, size_t size)
{
	size_t i = 0;
	uint8_t byte;

	while (i + 1 < size && memory_read_u8(memory, address + i, &byte) == 0 && byte)
		out[i++] = (char)byte;
	out[i] = '\0';
}

void loaded_elf_each_library(struct loaded_elf_image *program, struct memory *memory,
			     bool (*each)(struct loaded_elf_image *image, const char *name,
					  void *data),
			     void *data)
{
	struct link_map map;
	uint64_t next = 0;
	char name[1024];

	if (read_dynamic(program, memory) < 0 || !program->debug ||
	    memory_read_u64(memory, program->debug + offsetof(struct r_debug, r_map), &next) < 0)
		return;
	for (int i = 0; next && i < LIBRARIES_MAXIMUM; i++) {
		if (memory_read(memory, next, &map, sizeof(map)) < 0)
			return;
		next = (uintptr_t)map.l_next;
		if (i == 0 || !map.l_ld)
			continue;
		struct loaded_elf_image image = {
			.cache = program->cache,
			.start = map.l_addr,
			.bias = map.l_addr,
			.dynamic = (uintptr_t)map.l_ld,
		};
		loaded_elf_read_text(memory, (uintptr_t)map.l_name, name, sizeof(name));
		if (!each(&image, name, data))
			return;
	}
}

int loaded_elf_file_section(int fd, const char *name, uint64_t *address)
{
	Elf64_Ehdr header;
	Elf64_Shdr sections[SECTIONS_MAXIMUM];
	char names[NAMES_MAXIMUM + 1];

	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(*sections) ||
	    header.e_shnum > SECTIONS_MAXIMUM || header.e_shstrndx >= header.e_shnum)
		return -1;
	ssize_t size = (ssize_t)(header.e_shnum * sizeof(*sections));
	if (pread(fd, sections, (size_t)size, (off_t)header.e_shoff) != size)
		return -1;
	ssize_t got = pread(fd, names, NAMES_MAXIMUM, (off_t)sections[header.e_shstrndx].sh_offset);
	names[got > 0 ? got : 0] = '\0';
	for (int i = 0; i < header.e_shnum; i++) {
		if (got <= 0 || sections[i].sh_name >= (size_t)got ||
		    strcmp(names + sections[i].sh_name, name) != 0)
			continue;
		*address = sections[i].sh_addr;
		return 0;
	}
	return -1;
}
