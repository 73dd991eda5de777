#include "backends/native/frame-table.h"

#include <dwarf.h>
#include <stdlib.h>

#include "banned.h"

#define RULES_MAXIMUM (64u << 10) /* maximum bytes of a CIE or FDE */
#define LENGTH_SIZE sizeof(uint32_t)

/* The header that almost all linkers write; libdw reads files that have another header. */
struct table_header {
	uint8_t version;
	uint8_t pointer_encoding;
	uint8_t count_encoding;
	uint8_t table_encoding;
	int32_t pointer;
	uint32_t count;
};

/* Both members are offsets from the table's address. */
struct table_row {
	int32_t function;
	int32_t entry;
};

int frame_table_open(struct frame_table *table, int fd)
{
	struct table_header header;
	const Elf64_Phdr *segment = &table->file.frames;
	uint64_t count;

	*table = (struct frame_table){ .address = 0 };
	if (elf_file_read(&table->file, fd) < 0 || segment->p_filesz < sizeof(header) ||
	    elf_file_read_at(&table->file, segment->p_vaddr, &header, sizeof(header)) < 0 ||
	    header.version != 1 || (header.pointer_encoding & 0x0f) != DW_EH_PE_sdata4 ||
	    header.count_encoding != DW_EH_PE_udata4 ||
	    header.table_encoding != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		return -1;
	count = (segment->p_filesz - sizeof(header)) / sizeof(struct table_row);
	table->count = header.count < count ? header.count : count;
	table->address = segment->p_vaddr;
	return table->count > 0 ? 0 : -1;
}

static int read_row(const struct frame_table *table, uint64_t index, struct table_row *row)
{
	return elf_file_read_at(&table->file,
				table->address + sizeof(struct table_header) + index * sizeof(*row),
				row, sizeof(*row));
}

uint64_t frame_table_find(const struct frame_table *table, uint64_t address)
{
	uint64_t low = 0;
	uint64_t high = table->count;
	uint64_t found = 0;
	struct table_row row;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (read_row(table, middle, &row) < 0)
			return 0;
		if (table->address + (uint64_t)(int64_t)row.function <= address) {
			found = table->address + (uint64_t)(int64_t)row.entry;
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return found;
}

/*
 * Returns the length of the CIE or FDE at address, its length field included; 0: too long, or
 * unreadable.
 */
static size_t frame_table_measure(const struct frame_table *table, uint64_t address, uint32_t *id)
{
	/* length of the CIE or FDE, then 0 (CIE) or the distance to the CIE (FDE) */
	uint32_t words[2];

	if (elf_file_read_at(&table->file, address, words, sizeof(words)) < 0 ||
	    words[0] < sizeof(*id) || words[0] > RULES_MAXIMUM)
		return 0;
	*id = words[1];
	return LENGTH_SIZE + words[0];
}

static const char section_names[] = "\0.eh_frame\0.shstrtab";
enum { NAME_FRAMES = 1, NAME_NAMES = 11, SECTION_COUNT = 3 };

struct extract {
	Elf64_Ehdr header;
	Elf64_Shdr sections[SECTION_COUNT];
	char names[24];
	uint8_t rules[]; /* the CIE, the FDE, and 0 as the terminator */
};

static void frame_table_describe(struct extract *extract, const Elf64_Ehdr *header,
				 uint64_t address, size_t length)
{
	extract->header = *header;
	extract->header.e_phoff = 0;
	extract->header.e_phnum = 0;
	extract->header.e_shoff = offsetof(struct extract, sections);
	extract->header.e_shentsize = sizeof(extract->sections[0]);
	extract->header.e_shnum = SECTION_COUNT;
	extract->header.e_shstrndx = 2;
	extract->sections[1] = (Elf64_Shdr){
		.sh_name = NAME_FRAMES,
		.sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC,
		.sh_addr = address,
		.sh_offset = offsetof(struct extract, rules),
		.sh_size = length,
		.sh_addralign = 1,
	};
	extract->sections[2] = (Elf64_Shdr){
		.sh_name = NAME_NAMES,
		.sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct extract, names),
		.sh_size = sizeof(section_names),
		.sh_addralign = 1,
	};
	memcpy(extract->names, section_names, sizeof(section_names));
}

/*
 * An FDE contains addresses relative to its own address, so the FDE keeps that address in the new
 * file.
 */
void *frame_table_extract(const struct frame_table *table, uint64_t entry, size_t *length)
{
	struct extract *extract;
	uint32_t back;
	uint32_t id;
	size_t size = frame_table_measure(table, entry, &back);
	uint64_t common = entry + LENGTH_SIZE - back;
	size_t common_size = size > 0 ? frame_table_measure(table, common, &id) : 0;
	size_t all = common_size + size + LENGTH_SIZE;

	if (common_size == 0 || id != 0)
		return NULL;
	extract = calloc(1, sizeof(*extract) + all);
	if (!extract)
		return NULL;
	frame_table_describe(extract, &table->file.header, entry - common_size, all);
	if (elf_file_read_at(&table->file, common, extract->rules, common_size) < 0 ||
	    elf_file_read_at(&table->file, entry, extract->rules + common_size, size) < 0) {
		free(extract);
		return NULL;
	}
	/* The FDE's second word is the distance back to its CIE. */
	back = (uint32_t)(common_size + LENGTH_SIZE);
	memcpy(extract->rules + common_size + LENGTH_SIZE, &back, sizeof(back));
	*length = sizeof(*extract) + all;
	return extract;
}
