#include "backends/cpython/bytecode.h"

#include "banned.h"

#include "backends/cpython/bytecode-private.h"
#include "backends/cpython/cpython.h"
#include "backends/cpython/offsets.h"
#include "backends/cpython/opcodes.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pystring.h"
#include "backends/linux/memory.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/map.h"

#define UNITS_MAXIMUM (1 << 20)
#define TABLE_MAXIMUM (8u << 20) /* bytes of a line or exception table */
#define NAME_MAXIMUM 16384u	 /* characters of a name or path */
#define OBJECT_TYPE 8		 /* ob_type */
#define OBJECT_SIZE 16		 /* ob_size */
/* Maximum chain: INSTRUMENTED_INSTRUCTION may hide INSTRUMENTED_LINE, which hides an opcode. */
#define HIDDEN_MAXIMUM 3

struct bytecode_cache {
	struct memory *memory;
	const struct cpython *python;
	const struct opcode *opcodes;
	struct map *entries;
	unsigned age;
	/* Entries whose address now holds another object; callers may still use these entries. */
	struct entry *gone;
};

/* Identity of a code object; distinguishes two code objects that had the same address. */
struct signature {
	uint64_t type;
	uint64_t name;
	uint64_t file;
	uint64_t lines;
	uint64_t consts;
	uint64_t first_line;
	/*
	 * address of co_code; from 3.11 on, where the code object contains the code: number of
	 * units
	 */
	uint64_t code;
	uint64_t sum; /* FNV-1a hash of the bytecode */
};

struct entry {
	struct bytecode code;
	struct signature signature;
	unsigned age;
	struct entry *next; /* next entry of bytecode_cache.gone */
};

/* A code object while it is being read. */
struct loading {
	const struct bytecode_cache *cache;
	uint64_t address;
	uint64_t first;
	uint8_t head[OFFSETS_CODE_BYTES];
	uint8_t *code; /* opcode and argument of each unit */
	size_t count;
	uint8_t *original_lines;	/* opcodes that INSTRUMENTED_LINE replaced */
	size_t original_size;		/* bytes of original_lines for each unit */
	uint8_t *original_instructions; /* opcodes that INSTRUMENTED_INSTRUCTION replaced */
	bool has_executors;
};

static void bytecode_free_entry(void *memory)
{
	struct entry *entry = memory;

	free(entry->code.calls);
	free(entry->code.returns);
	free(entry->code.units);
	free(entry->code.qualname);
	free(entry->code.name);
	free(entry->code.file);
	free(entry);
}

struct bytecode_cache *bytecode_cache_new(struct memory *memory, const struct cpython *python)
{
	struct bytecode_cache *cache = xcalloc(1, sizeof(*cache));

	cache->memory = memory;
	cache->python = python;
	cache->opcodes = opcodes_find(python->minor);
	cache->entries = map_new(NULL);
	return cache;
}

static void free_value(uint64_t key, void *value, void *data)
{
	(void)key;
	(void)data;
	bytecode_free_entry(value);
}

void bytecode_cache_free(struct bytecode_cache *cache)
{
	if (!cache)
		return;
	map_each(cache->entries, free_value, NULL);
	map_free(cache->entries);
	while (cache->gone) {
		struct entry *entry = cache->gone;
		cache->gone = entry->next;
		bytecode_free_entry(entry);
	}
	free(cache);
}

void bytecode_cache_age(struct bytecode_cache *cache)
{
	cache->age++;
}

size_t bytecode_cache_sweep(struct bytecode_cache *cache,
			    bool (*is_lent)(const struct bytecode *code, void *data), void *data)
{
	struct entry **at = &cache->gone;
	size_t count = 0;

	while (*at) {
		struct entry *entry = *at;

		if (is_lent(&entry->code, data)) {
			at = &entry->next;
			continue;
		}
		*at = entry->next;
		bytecode_free_entry(entry);
		count++;
	}
	return count;
}

static uint64_t head_word(const struct loading *loading, long offset)
{
	return offset < 0 ? 0 : pyreader_word(loading->head, offset);
}

static int head_integer(const struct loading *loading, long offset)
{
	return (int)(int32_t)head_word(loading, offset);
}

static uint8_t *bytecode_fetch(const struct loading *loading, uint64_t address, size_t length)
{
	uint8_t *bytes = xmalloc(length + 1);

	if (memory_fetch(loading->cache->memory, address, bytes, length) == 0)
		return bytes;
	free(bytes);
	return NULL;
}

static uint64_t fetch_word(const struct loading *loading, uint64_t address)
{
	uint64_t word = 0;

	if (memory_fetch(loading->cache->memory, address, &word, sizeof(word)) < 0)
		return 0;
	return word;
}

/* Address of the bytes in a bytes object; 0: no object, or more than maximum bytes. */
static uint64_t find_bytes(const struct loading *loading, uint64_t object, size_t maximum,
			   size_t *length)
{
	long start = loading->cache->python->offsets.bytes_sval;
	uint64_t size = object ? fetch_word(loading, object + OBJECT_SIZE) : UINT64_MAX;

	*length = (size_t)size;
	return size > maximum ? 0 : object + (uint64_t)start;
}

static uint8_t *fetch_table(const struct loading *loading, long offset, size_t *length)
{
	uint64_t address = find_bytes(loading, head_word(loading, offset), TABLE_MAXIMUM, length);

	return address ? bytecode_fetch(loading, address, *length) : NULL;
}

static char *fetch_text(const struct loading *loading, long offset)
{
	const struct cpython *python = loading->cache->python;
	uint64_t address = head_word(loading, offset);
	uint8_t head[OFFSETS_STRING_BYTES];
	struct buffer text = BUFFER_INIT;
	struct pystring string;

	if (!address ||
	    memory_fetch(loading->cache->memory, address, head,
			 (size_t)python->offsets.ascii_size) < 0 ||
	    pystring_parse(&string, python, address, head) < 0 || !string.data ||
	    string.length > NAME_MAXIMUM)
		return NULL;
	size_t count = (size_t)string.length;
	uint8_t *bytes = bytecode_fetch(loading, string.data, count * string.width);
	if (!bytes)
		return NULL;
	pystring_decode(&text, bytes, count, string.width);
	free(bytes);
	return buffer_take(&text);
}

static int load_head(struct loading *loading)
{
	const struct cpython *python = loading->cache->python;
	size_t size = (size_t)python->offsets.co_size;

	if (size > sizeof(loading->head) ||
	    memory_look(loading->cache->memory, loading->address, loading->head, size) < 0)
		return -1;
	uint64_t type = head_word(loading, OBJECT_TYPE);
	return type && (!python->code_type || type == python->code_type) ? 0 : -1;
}

static int load_code(struct loading *loading)
{
	const struct offsets *offsets = &loading->cache->python->offsets;

	if (offsets->co_code_adaptive >= 0) {
		loading->count = (size_t)head_word(loading, OBJECT_SIZE);
		loading->first = loading->address + (uint64_t)offsets->co_code_adaptive;
	} else {
		uint64_t object = head_word(loading, offsets->co_code);
		loading->first = find_bytes(loading, object, 2 * UNITS_MAXIMUM, &loading->count);
		loading->count /= 2;
	}
	if (!loading->first || !loading->count || loading->count > UNITS_MAXIMUM)
		return -1;
	loading->code = bytecode_fetch(loading, loading->first, 2 * loading->count);
	return loading->code ? 0 : -1;
}

/* Reads the arrays of opcodes that instrumented opcodes have replaced. */
static void load_originals(struct loading *loading)
{
	const struct cpython *python = loading->cache->python;
	const struct offsets *offsets = &python->offsets;
	uint64_t data = head_word(loading, offsets->co_monitoring);
	uint8_t size = 2;

	if (loading->original_lines || loading->original_instructions || !data)
		return;
	uint64_t lines = fetch_word(loading, data + (uint64_t)offsets->mo_lines);
	uint64_t instructions = fetch_word(loading, data + (uint64_t)offsets->mo_instructions);
	/* Since 3.14 the first byte is the number of bytes for each unit. */
	if (lines && python->minor >= 14 &&
	    memory_fetch(loading->cache->memory, lines++, &size, 1) < 0)
		size = 0;
	loading->original_size = size;
	if (lines && size)
		loading->original_lines = bytecode_fetch(loading, lines, loading->count * size);
	if (instructions)
		loading->original_instructions =
			bytecode_fetch(loading, instructions, loading->count);
}

/*
 * Returns the opcode that INSTRUMENTED_LINE or INSTRUMENTED_INSTRUCTION replaced at unit; opcode,
 * if it is neither of these; 0: unknown.
 */
static int find_hidden(struct loading *loading, size_t unit, int opcode)
{
	for (int i = 0; i < HIDDEN_MAXIMUM; i++) {
		int form = loading->cache->opcodes[opcode].form;
		const uint8_t *originals = NULL;
		size_t at = unit;
		if (form != OPCODE_HIDDEN_BY_LINE && form != OPCODE_HIDDEN_BY_INSTRUCTION)
			return opcode;
		load_originals(loading);
		if (form == OPCODE_HIDDEN_BY_INSTRUCTION) {
			originals = loading->original_instructions;
		} else {
			originals = loading->original_lines;
			at *= loading->original_size;
		}
		opcode = originals ? originals[at] : 0;
	}
	return 0;
}

/* Replaces all opcodes by their base form, and clears the caches. */
static int restore_code(struct loading *loading)
{
	for (size_t i = 0; i < loading->count; i++) {
		uint8_t *unit = loading->code + 2 * i;
		const struct opcode *opcode =
			&loading->cache->opcodes[find_hidden(loading, i, unit[0])];
		size_t caches = opcode->caches;
		if (!opcode->base || caches >= loading->count - i)
			return -1;
		unit[0] = opcode->base;
		memset(unit + 2, 0, 2 * caches);
		i += caches;
	}
	return 0;
}

/* Returns the signature without sum, which needs the bytecode. */
static struct signature sign_head(const struct loading *loading)
{
	const struct offsets *offsets = &loading->cache->python->offsets;
	bool is_inside = offsets->co_code_adaptive >= 0;

	return (struct signature){
		.type = head_word(loading, OBJECT_TYPE),
		.name = head_word(loading, offsets->co_name),
		.file = head_word(loading, offsets->co_filename),
		.lines = head_word(loading, offsets->co_linetable),
		.consts = head_word(loading, offsets->co_consts),
		.first_line = (uint64_t)head_integer(loading, offsets->co_firstlineno),
		.code = head_word(loading, is_inside ? OBJECT_SIZE : offsets->co_code),
	};
}

static struct signature bytecode_sign(const struct loading *loading)
{
	struct signature signature = sign_head(loading);

	signature.sum = loading->count;
	/* FNV-1a */
	for (size_t i = 0; i < 2 * loading->count; i++)
		signature.sum = (signature.sum ^ loading->code[i]) * UINT64_C(0x100000001b3);
	return signature;
}

/* Up to 3.10 there is no co_nlocalsplus: co_nlocals, cells and free variables are added up. */
static int count_locals(const struct loading *loading)
{
	const struct offsets *offsets = &loading->cache->python->offsets;
	long names[] = { offsets->co_cellvars, offsets->co_freevars };
	uint64_t count;

	if (offsets->co_nlocalsplus >= 0)
		return head_integer(loading, offsets->co_nlocalsplus);
	count = (uint64_t)head_integer(loading, offsets->co_nlocals);
	for (int i = 0; i < 2; i++)
		count += fetch_word(loading, head_word(loading, names[i]) + OBJECT_SIZE);
	return (int)count;
}

static int fill_units(struct loading *loading, struct bytecode *code)
{
	const struct offsets *offsets = &loading->cache->python->offsets;
	struct bytecode_source source = {
		.minor = loading->cache->python->minor,
		.code = loading->code,
		.count = (int)loading->count,
	};
	int result = -1;
	uint8_t *lines = fetch_table(loading, offsets->co_linetable, &source.lines_length);
	uint8_t *handlers = NULL;

	if (offsets->co_exceptiontable >= 0)
		handlers =
			fetch_table(loading, offsets->co_exceptiontable, &source.handlers_length);
	if (lines && (handlers || offsets->co_exceptiontable < 0)) {
		source.lines = lines;
		source.handlers = handlers;
		result = bytecode_decode(code, &source);
	}
	free(handlers);
	free(lines);
	return result;
}

static int fill_code(struct loading *loading, struct bytecode *code)
{
	const struct offsets *offsets = &loading->cache->python->offsets;

	code->address = loading->address;
	code->first = loading->first;
	code->file = fetch_text(loading, offsets->co_filename);
	code->name = fetch_text(loading, offsets->co_name);
	if (!code->file || !code->name)
		return -1;
	code->qualname = fetch_text(loading, offsets->co_qualname);
	if (!code->qualname)
		code->qualname = xstrdup(code->name);
	code->first_line = head_integer(loading, offsets->co_firstlineno);
	code->flags = head_integer(loading, offsets->co_flags);
	code->locals_count = count_locals(loading);
	return fill_units(loading, code);
}

/* Moves an entry to cache->gone, because its address now holds another object or none. */
static void retire(struct bytecode_cache *cache, struct entry *entry)
{
	map_remove(cache->entries, entry->code.address);
	entry->next = cache->gone;
	cache->gone = entry;
}

static struct entry *bytecode_refresh(struct loading *loading, struct entry *entry)
{
	struct bytecode_cache *cache = (struct bytecode_cache *)loading->cache;
	bool is_read =
		load_head(loading) == 0 && load_code(loading) == 0 && restore_code(loading) == 0;
	struct signature signature = { .type = 0 };

	if (is_read)
		signature = bytecode_sign(loading);
	if (entry && is_read && memcmp(&entry->signature, &signature, sizeof(signature)) == 0)
		return entry;
	if (entry)
		retire(cache, entry);
	if (!is_read)
		return NULL;
	entry = xcalloc(1, sizeof(*entry));
	entry->signature = signature;
	if (fill_code(loading, &entry->code) < 0) {
		bytecode_free_entry(entry);
		return NULL;
	}
	map_put(cache->entries, loading->address, entry);
	return entry;
}

/* Compares all of the signature except sum; costs one small read. */
static bool bytecode_is_same(struct loading *loading, const struct entry *entry)
{
	struct signature signature;

	if (load_head(loading) < 0)
		return false;
	signature = sign_head(loading);
	signature.sum = entry->signature.sum;
	return memcmp(&entry->signature, &signature, sizeof(signature)) == 0;
}

static const struct bytecode *bytecode_look(struct bytecode_cache *cache, uint64_t address,
					    struct entry *entry)
{
	if (!address || !cache->opcodes)
		return NULL;
	struct loading *loading = xcalloc(1, sizeof(*loading));
	loading->cache = cache;
	loading->address = address;
	if (!entry || entry->age != cache->age || !bytecode_is_same(loading, entry))
		entry = bytecode_refresh(loading, entry);
	if (entry)
		entry->age = cache->age;
	free(loading->original_instructions);
	free(loading->original_lines);
	free(loading->code);
	free(loading);
	return entry ? &entry->code : NULL;
}

const struct bytecode *bytecode_find(struct bytecode_cache *cache, uint64_t address)
{
	struct entry *entry = map_find(cache->entries, address);

	if (entry && entry->age == cache->age)
		return &entry->code;
	return bytecode_look(cache, address, entry);
}

const struct bytecode *bytecode_meet(struct bytecode_cache *cache, uint64_t address)
{
	return bytecode_look(cache, address, map_find(cache->entries, address));
}

bool bytecode_hides_next(struct bytecode_cache *cache, const struct bytecode *code, int unit)
{
	uint8_t opcode;

	if (unit < 0 || unit >= code->count ||
	    memory_fetch(cache->memory, code->first + 2 * (uint64_t)unit, &opcode, 1) < 0)
		return false;
	return cache->opcodes[opcode].form == OPCODE_SUPER;
}
