/*
 * trampoline-x86_64: the trampoline (trampoline.h) in instructions of x86-64 (System V ABI).
 *
 * The trampoline ends with a jump to munmap(2), which unmaps the trampoline's own page and returns
 * 0 to the trampoline's caller.
 */
#include "backends/inject/trampoline.h"

#include "banned.h"

#include "backends/inject/inject.h"

#ifdef __x86_64__

#include <sys/syscall.h>

#define WORD_BYTES 8
#define WAIT_NS 1000000
#define TIME_BYTES (2 * WORD_BYTES) /* sizeof(struct timespec) */
#define TIME (TRAMPOLINE_TEXT - TIME_BYTES)

struct code {
	uint8_t *bytes;
	size_t length;
};

static void trampoline_x86_64_put(struct code *code, const void *bytes, size_t length)
{
	memcpy(code->bytes + code->length, bytes, length);
	code->length += length;
}

#define PUT(code, ...)                                                                             \
	trampoline_x86_64_put(code, (const uint8_t[]){ __VA_ARGS__ },                              \
			      sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void put_word(struct code *code, uint64_t word)
{
	trampoline_x86_64_put(code, &word, WORD_BYTES);
}

static void put_call(struct code *code, uint64_t function)
{
	PUT(code, 0x48, 0xb8); /* mov rax, … */
	put_word(code, function);
	PUT(code, 0xff, 0xd0); /* call rax */
}

static void put_first_argument(struct code *code, uint64_t value)
{
	PUT(code, 0x48, 0xbf); /* mov rdi, … */
	put_word(code, value);
}

/* Adds the system call nanosleep(2). The function of the C library would change errno. */
static void put_wait(struct code *code, uint64_t address)
{
	const uint64_t time[] = { 0, WAIT_NS };

	memcpy(code->bytes + TIME, time, sizeof(time));
	put_first_argument(code, address + TIME);
	PUT(code, 0x31, 0xf6);			 /* xor esi, esi */
	PUT(code, 0xb8, SYS_nanosleep, 0, 0, 0); /* mov eax, … */
	PUT(code, 0x0f, 0x05);			 /* syscall */
}

static void put_end(struct code *code, uint64_t address, uint64_t unmap)
{
	put_first_argument(code, address);
	PUT(code, 0x48, 0xbe); /* mov rsi, … */
	put_word(code, TRAMPOLINE_BYTES);
	PUT(code, 0x5b);       /* pop rbx */
	PUT(code, 0x48, 0xb8); /* mov rax, … */
	put_word(code, unmap);
	PUT(code, 0xff, 0xe0); /* jmp rax */
}

int trampoline_make(uint8_t page[TRAMPOLINE_BYTES], uint64_t address, const struct callees *callees,
		    const char *text, bool with_gil)
{
	struct code code = { page, 0 };
	size_t length = strlen(text) + 1;

	if (length > TRAMPOLINE_BYTES - TRAMPOLINE_TEXT)
		return -1;
	memset(page, 0, TRAMPOLINE_BYTES);
	PUT(&code, 0x53); /* push rbx, which also aligns the stack */
	if (with_gil) {
		put_wait(&code, address);
		put_call(&code, callees->take_gil);
		PUT(&code, 0x89, 0xc3); /* mov ebx, eax */
	}
	put_first_argument(&code, address + TRAMPOLINE_TEXT);
	put_call(&code, callees->run);
	if (with_gil) {
		PUT(&code, 0x89, 0xdf); /* mov edi, ebx */
		put_call(&code, callees->leave_gil);
	}
	put_end(&code, address, callees->unmap);
	memcpy(page + TRAMPOLINE_TEXT, text, length);
	return 0;
}

#else

int trampoline_make(uint8_t page[TRAMPOLINE_BYTES], uint64_t address, const struct callees *callees,
		    const char *text, bool with_gil)
{
	(void)page;
	(void)address;
	(void)callees;
	(void)text;
	(void)with_gil;
	return -1;
}

#endif
