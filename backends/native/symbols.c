#include "backends/native/symbols.h"

#include "banned.h"

#include "backends/native/elf-file.h"
#include "base/alloc.h"

#define SYMBOLS_MAXIMUM (16u << 20)
#define SYMBOLS_AT_ONCE 4096
#define NAME_BYTES 16384
#define NAME_START 128 /* most names are shorter */
#define BACK_MAXIMUM 16

struct symbol {
	uint64_t address;
	uint32_t size;
	uint32_t name : 30; /* offset in the string table */
	uint32_t binding : 2;
};
#define NAME_OFFSET_MAXIMUM (1u << 30)

struct symbols {
	struct symbol *items; /* sorted by address */
	size_t count;
	bool is_whole;
	Elf64_Shdr names;
};

static bool is_function(const Elf64_Sym *symbol)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF &&
	       symbol->st_name != 0 && symbol->st_name < NAME_OFFSET_MAXIMUM;
}

static int symbols_compare(const void *a, const void *b)
{
	const struct symbol *left = a;
	const struct symbol *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return 0;
}

static void symbols_take(struct symbols *symbols, const Elf64_Sym *symbol)
{
	if (!is_function(symbol))
		return;
	symbols->items[symbols->count++] = (struct symbol){
		.address = symbol->st_value,
		.size = symbol->st_size > UINT32_MAX ? UINT32_MAX : (uint32_t)symbol->st_size,
		.name = symbol->st_name,
		.binding = ELF64_ST_BIND(symbol->st_info) & 3,
	};
}

static void symbols_read_all(struct symbols *symbols, const struct elf_file *file,
			     const Elf64_Shdr *section, const atomic_bool *is_cancelled)
{
	Elf64_Sym *some = xmalloc(SYMBOLS_AT_ONCE * sizeof(*some));
	uint64_t left = section->sh_size / sizeof(*some);
	uint64_t at = section->sh_offset;
	size_t room = 0;

	if (left > SYMBOLS_MAXIMUM)
		left = SYMBOLS_MAXIMUM;
	while (left > 0 && !atomic_load(is_cancelled)) {
		size_t count = left < SYMBOLS_AT_ONCE ? (size_t)left : SYMBOLS_AT_ONCE;
		if (elf_file_bytes(file, at, some, count * sizeof(*some)) < 0)
			break;
		if (symbols->count + count > room) {
			room = room * 2 + count;
			symbols->items = xrealloc(symbols->items, room * sizeof(struct symbol));
		}
		for (size_t i = 0; i < count; i++)
			symbols_take(symbols, &some[i]);
		at += count * sizeof(*some);
		left -= count;
	}
	symbols->is_whole = left == 0;
	free(some);
}

struct symbols *symbols_new(const struct elf_file *file, const atomic_bool *is_cancelled)
{
	struct symbols *symbols = xcalloc(1, sizeof(*symbols));
	Elf64_Shdr section;

	if (elf_file_section(file, SHT_SYMTAB, &section, &symbols->names) < 0 &&
	    elf_file_section(file, SHT_DYNSYM, &section, &symbols->names) < 0)
		return symbols;
	symbols_read_all(symbols, file, &section, is_cancelled);
	if (symbols->count == 0)
		return symbols;
	symbols->items = xrealloc(symbols->items, symbols->count * sizeof(struct symbol));
	qsort(symbols->items, symbols->count, sizeof(struct symbol), symbols_compare);
	return symbols;
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	free(symbols->items);
	free(symbols);
}

bool symbols_are_whole(const struct symbols *symbols)
{
	return symbols->is_whole;
}

size_t symbols_count(const struct symbols *symbols)
{
	return symbols->count;
}

size_t symbols_bytes(const struct symbols *symbols)
{
	return symbols->count * sizeof(*symbols->items);
}

/* The number of symbols that begin at or before the address. */
static size_t count_until(const struct symbols *symbols, uint64_t address)
{
	size_t low = 0;
	size_t high = symbols->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (symbols->items[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A symbol without a size (hand-written code) reaches to the next symbol. */
static bool holds(const struct symbol *symbol, const struct symbol *last, uint64_t address)
{
	if (symbol->size == 0)
		return symbol->address == last->address;
	return address - symbol->address < symbol->size;
}

static char *symbols_read_name(const struct symbols *symbols, const struct elf_file *file,
			       const struct symbol *symbol)
{
	uint64_t length = symbols->names.sh_size;
	size_t size = NAME_START;
	char *name = NULL;

	if (symbol->name >= length)
		return NULL;
	length -= symbol->name;
	for (;;) {
		size_t some = length < size ? (size_t)length : size;
		name = xrealloc(name, some + 1);
		if (elf_file_bytes(file, symbols->names.sh_offset + symbol->name, name, some) < 0)
			break;
		name[some] = '\0';
		if (strlen(name) < some || some == length || size >= NAME_BYTES)
			return name;
		size *= 8;
	}
	free(name);
	return NULL;
}

/* Ranks several names of one function: the lowest rank is the name that people know. */
static size_t plainness(const struct symbol *symbol, const char *name)
{
	size_t rank = strspn(name, "_") * 4;

	if (strncmp(name, "_Z", 2) == 0)
		rank = 0;
	if (strncmp(name, "__GI_", 5) == 0)
		rank += 64;
	return rank * 4 + (symbol->binding == STB_GLOBAL ? 0 : symbol->binding == STB_WEAK ? 1 : 2);
}

char *symbols_find(const struct symbols *symbols, const struct elf_file *file, uint64_t address)
{
	size_t end = count_until(symbols, address);
	const struct symbol *last;
	size_t best_rank = SIZE_MAX;
	uint64_t found = 0;
	char *best = NULL;

	if (end == 0)
		return NULL;
	last = &symbols->items[end - 1];
	for (size_t i = end; i > 0 && end - i < BACK_MAXIMUM; i--) {
		const struct symbol *symbol = &symbols->items[i - 1];
		if (best && symbol->address != found)
			break;
		if (!holds(symbol, last, address))
			continue;
		char *name = symbols_read_name(symbols, file, symbol);
		if (name && name[0] && plainness(symbol, name) < best_rank) {
			best_rank = plainness(symbol, name);
			found = symbol->address;
			free(best);
			best = name;
		} else {
			free(name);
		}
	}
	return best;
}
