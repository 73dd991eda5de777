#include "backends/native/elf-file.h"

#include <stdbool.h>
#include <unistd.h>

#include "banned.h"

#define HEADERS_MAXIMUM 256
#define SECTIONS_MAXIMUM 65536
#define SECTIONS_AT_ONCE 64
#define NOTE_BYTES 4096

int elf_file_bytes(const struct elf_file *file, uint64_t offset, void *out, size_t length)
{
	if (offset > INT64_MAX - length)
		return -1;
	return pread(file->fd, out, length, (off_t)offset) == (ssize_t)length ? 0 : -1;
}

static bool is_build_id(const Elf64_Nhdr *note, const uint8_t *name)
{
	return note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof("GNU") &&
	       memcmp(name, "GNU", sizeof("GNU")) == 0 && note->n_descsz > 0 &&
	       note->n_descsz <= ELF_FILE_ID_BYTES;
}

static size_t round_up(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

static void read_notes(struct elf_file *file, const Elf64_Phdr *header)
{
	uint8_t bytes[NOTE_BYTES];
	size_t length = header->p_filesz < sizeof(bytes) ? header->p_filesz : sizeof(bytes);
	Elf64_Nhdr note;

	if (elf_file_bytes(file, header->p_offset, bytes, length) < 0)
		return;
	for (size_t at = 0; at + sizeof(note) <= length;) {
		memcpy(&note, bytes + at, sizeof(note));
		at += sizeof(note);
		if (note.n_namesz > length || note.n_descsz > length ||
		    at + round_up(note.n_namesz) + note.n_descsz > length)
			return;
		const uint8_t *content = bytes + at + round_up(note.n_namesz);
		if (is_build_id(&note, bytes + at)) {
			memcpy(file->id, content, note.n_descsz);
			file->id_length = note.n_descsz;
			return;
		}
		at += round_up(note.n_namesz) + round_up(note.n_descsz);
	}
}

static void take_header(struct elf_file *file, const Elf64_Phdr *header)
{
	if (header->p_type == PT_LOAD && file->segment_count < ELF_FILE_SEGMENTS)
		file->segments[file->segment_count++] = *header;
	else if (header->p_type == PT_GNU_EH_FRAME)
		file->frames = *header;
	else if (header->p_type == PT_NOTE && file->id_length == 0)
		read_notes(file, header);
}

int elf_file_read(struct elf_file *file, int fd)
{
	Elf64_Phdr header;

	*file = (struct elf_file){ .fd = fd };
	if (elf_file_bytes(file, 0, &file->header, sizeof(file->header)) < 0 ||
	    memcmp(file->header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    file->header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    file->header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    file->header.e_phentsize != sizeof(header) || file->header.e_phnum > HEADERS_MAXIMUM)
		return -1;
	for (size_t i = 0; i < file->header.e_phnum; i++) {
		if (elf_file_bytes(file, file->header.e_phoff + i * sizeof(header), &header,
				   sizeof(header)) < 0)
			return -1;
		take_header(file, &header);
	}
	return 0;
}

static int read_section(const struct elf_file *file, uint64_t index, Elf64_Shdr *section)
{
	return elf_file_bytes(file, file->header.e_shoff + index * sizeof(*section), section,
			      sizeof(*section));
}

/* If e_shnum is 0, the number of sections is sh_size of section 0 (elf(5)). */
static uint64_t section_count(const struct elf_file *file)
{
	Elf64_Shdr first;
	uint64_t count = file->header.e_shnum;

	if (file->header.e_shoff == 0 || file->header.e_shentsize != sizeof(first))
		return 0;
	if (count == 0 && read_section(file, 0, &first) == 0)
		count = first.sh_size;
	return count < SECTIONS_MAXIMUM ? count : SECTIONS_MAXIMUM;
}

int elf_file_section(const struct elf_file *file, uint32_t type, Elf64_Shdr *section,
		     Elf64_Shdr *strings)
{
	Elf64_Shdr sections[SECTIONS_AT_ONCE];
	uint64_t count = section_count(file);

	for (uint64_t i = 0; i < count; i += SECTIONS_AT_ONCE) {
		size_t some = count - i < SECTIONS_AT_ONCE ? (size_t)(count - i) : SECTIONS_AT_ONCE;
		if (elf_file_bytes(file, file->header.e_shoff + i * sizeof(*sections), sections,
				   some * sizeof(*sections)) < 0)
			return -1;
		for (size_t j = 0; j < some; j++) {
			if (sections[j].sh_type != type)
				continue;
			*section = sections[j];
			return section->sh_link < count
				       ? read_section(file, section->sh_link, strings)
				       : -1;
		}
	}
	return -1;
}

int elf_file_address(const struct elf_file *file, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const Elf64_Phdr *segment = &file->segments[i];
		/* A mapping begins at the page that contains the segment's start. */
		uint64_t first = segment->p_offset & ~UINT64_C(0xfff);
		if (offset < first || offset >= segment->p_offset + segment->p_filesz)
			continue;
		*address = segment->p_vaddr - segment->p_offset + offset;
		return 0;
	}
	return -1;
}

int elf_file_read_at(const struct elf_file *file, uint64_t address, void *out, size_t length)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const Elf64_Phdr *segment = &file->segments[i];
		uint64_t at = address - segment->p_vaddr;

		if (address >= segment->p_vaddr && at <= segment->p_filesz &&
		    length <= segment->p_filesz - at && at <= UINT64_MAX - segment->p_offset)
			return elf_file_bytes(file, segment->p_offset + at, out, length);
	}
	return -1;
}
