#include "backends/native/symbols.h"

#include <stdint.h>

#include "backends/native/elf-file.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"

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

/* Returns the number of symbols that begin at or before the address. */
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

/*
 * True if symbol contains the address; last: the last symbol that begins at or before the address.
 * A symbol without a size (hand-written code) reaches to the next symbol.
 */
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

#define ANONYMOUS "(anonymous namespace)"
#define OPERATOR "operator"
#define MANGLED_MAXIMUM 4096
/*
 * Maximum bytes of a demangled name; demangling so many takes some tenths of a second. Of 427,000
 * names in torch one in a thousand is longer.
 */
#define MODEST_BYTES (UINT64_C(1) << 25)
/* Maximum letters around each element of a pack: " const volatile*&&, ". */
#define PACK_LETTERS 20

/* Operators whose names contain brackets, longest first. */
static const char *const operators[] = {
	"operator<=>", "operator<<=", "operator>>=", "operator->*", "operator<<", "operator>>",
	"operator<=",  "operator>=",  "operator->",  "operator()",  "operator<",  "operator>",
};

static const char *find_operator(const char *at)
{
	if (strncmp(at, OPERATOR, strlen(OPERATOR)) != 0)
		return NULL;
	for (size_t i = 0; i < ARRAY_LENGTH(operators); i++)
		if (strncmp(at, operators[i], strlen(operators[i])) == 0)
			return operators[i];
	return NULL;
}

/*
 * Returns the position behind the bracket that closes the bracket at *at; if the name was cut, the
 * end of the name.
 */
static const char *skip_brackets(const char *at)
{
	int depth = 0;

	for (; *at; at++) {
		const char *word = find_operator(at);
		if (word) {
			at += strlen(word) - 1;
			continue;
		}
		if (*at == '<' || *at == '(')
			depth++;
		else if ((*at == '>' || *at == ')') && --depth <= 0)
			return at + 1;
	}
	return at;
}

/* True if the space belongs to the name, as in "operator bool" and "operator< <int>". */
static bool is_of_operator(const struct buffer *out, char next)
{
	return next == '<' || (out->length >= strlen(OPERATOR) &&
			       strcmp(out->data + out->length - strlen(OPERATOR), OPERATOR) == 0);
}

char *cpp_name_shorten(const char *name)
{
	struct buffer out = BUFFER_INIT;
	const char *at = name;

	while (*at) {
		const char *word = find_operator(at);
		if (word) {
			buffer_append_string(&out, word);
			at += strlen(word);
		} else if (strncmp(at, ANONYMOUS, strlen(ANONYMOUS)) == 0) {
			buffer_append_string(&out, ANONYMOUS);
			at += strlen(ANONYMOUS);
		} else if (*at == '<') {
			buffer_append_string(&out, "<…>");
			at = skip_brackets(at);
		} else if (*at == '(') {
			at = skip_brackets(at);
			if (strncmp(at, " const", 6) == 0)
				at += 6;
		} else if (strncmp(at, " [", 2) == 0) {
			break; /* a compiler's suffix: " [clone .cold]" */
		} else if (*at == ' ' && !is_of_operator(&out, at[1])) {
			/* The text before the space is the return type. */
			buffer_reset(&out);
			at++;
		} else {
			buffer_append_char(&out, *at++);
		}
	}
	char *result = xstrdup(out.length ? out.data : name);
	buffer_clear(&out);
	return result;
}

static bool cpp_name_is_digit(char letter)
{
	return letter >= '0' && letter <= '9';
}

/*
 * Returns the number of a substitution or parameter: "S_" 0, "S0_" 1, "SA_" 11; SIZE_MAX: neither.
 */
static size_t cpp_name_parse_number(const char *text, size_t *length)
{
	size_t number = 0;
	size_t i = 1;

	for (; cpp_name_is_digit(text[i]) || (text[i] >= 'A' && text[i] <= 'Z'); i++) {
		unsigned digit = cpp_name_is_digit(text[i]) ? (unsigned)(text[i] - '0')
							    : (unsigned)(text[i] - 'A') + 10;
		number = number * 36 + digit;
		if (number > MANGLED_MAXIMUM)
			return SIZE_MAX;
	}
	if (text[i] != '_')
		return SIZE_MAX;
	*length = i + 1;
	return i > 1 ? number + 1 : 0;
}

/*
 * True if text begins a pack expansion ("Dp" or "sp"), whose pattern is written once per template
 * argument.
 */
static bool is_expansion(const char *text)
{
	return strncmp(text, "Dp", 2) == 0 ||
	       (strncmp(text, "sp", 2) == 0 && text[2] && strchr("STcfgs", text[2]));
}

/*
 * Returns the length of a simple pack expansion, "DpT1_" or "DpRKT1_": the elements of a pack, each
 * with at most a few letters around; 0: no such expansion.
 */
static size_t plain_pack(const char *text)
{
	size_t length = 0;
	size_t at = 2;

	if (strncmp(text, "Dp", 2) != 0)
		return 0;
	at += strspn(text + at, "RKPOV");
	if (text[at] != 'T' || cpp_name_parse_number(text + at, &length) == SIZE_MAX)
		return 0;
	return at + length;
}

/*
 * Computes an upper bound of the demangled size. Identifiers within the name are taken for code,
 * too, which only increases the bound. The part that "S2_" repeats was complete when "S2_" was
 * first used, so this part is not longer than everything before; the same bound is taken for "T_".
 */
bool cpp_name_is_modest(const char *mangled)
{
	uint64_t sizes[MANGLED_MAXIMUM];
	size_t known = 0;
	uint64_t size = 0;

	for (size_t i = 0; mangled[i] && size < MODEST_BYTES;) {
		size_t length = 1;
		size_t number = SIZE_MAX;
		uint64_t more = 1;

		if (i >= MANGLED_MAXIMUM)
			return false;
		if (mangled[i] == 'S' || mangled[i] == 'T')
			number = cpp_name_parse_number(mangled + i, &length);
		if (plain_pack(mangled + i) > 0) {
			/* All elements of the pack were written once before. */
			more = size + PACK_LETTERS * i;
			length = plain_pack(mangled + i);
		} else if (is_expansion(mangled + i)) {
			more = (size + 1) * i;
		} else if (number < i && mangled[i] == 'S') {
			while (known <= number)
				sizes[known++] = size;
			more = sizes[number];
		} else if (number < i) {
			more = size;
		} else {
			length = 1;
		}
		size += more;
		i += length;
	}
	return size < MODEST_BYTES;
}
