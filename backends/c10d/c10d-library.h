/*
 * c10d-library: what the machine code of torch's libraries in a process says: where the pointer to
 * the Flight Recorder is, and at which offset a backend keeps its number of collectives.
 *
 * Both are read from exported functions, which stripped libraries have, too. The pointer is a
 * variable of FlightRecorder::get(), which c10d::dump_fr_trace_json() contains, or calls: the code
 * tests the variable's guard and then loads the variable, the word behind the guard.
 * getSequenceNumberForGroup() only loads the number. x86-64, as compiled by gcc. libtorch_cpu.so
 * and libtorch_cuda.so have one Flight Recorder each: for gloo, and for NCCL.
 */
#ifndef BACKENDS_C10D_C10D_LIBRARY_H
#define BACKENDS_C10D_C10D_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loaded_elf_cache;
struct memory;

struct c10d_library {
	uint64_t recorder; /* address of the pointer to the Flight Recorder; 0: not found */
	int sequence;	   /* offset of the number of collectives in a ProcessGroupGloo or
			    * ProcessGroupNCCL; -1: not found */
};

struct c10d_libraries {
	struct c10d_library gloo; /* libtorch_cpu.so */
	struct c10d_library nccl; /* libtorch_cuda.so */
	bool has_old_strings;	  /* compiled with the ABI of libstdc++ before C++11 */
};

/* Reads the code of the libraries that are loaded; a library that is not loaded has recorder 0 and
 * sequence -1. */
void c10d_libraries_find(struct c10d_libraries *libraries, struct memory *memory,
			 struct loaded_elf_cache *cache);

/*
 * c10d_code: finds the patterns in machine code.
 */

/* Finds the address of the pointer in a function's first bytes, which lie at address. Returns 0, or
 * -1 if the pattern is not there. */
int c10d_code_find_pointer(const uint8_t *code, size_t length, uint64_t address, uint64_t *pointer);
/* Returns the target of the nth call in the bytes, n from 0; 0: there is no nth call. */
uint64_t c10d_code_call(const uint8_t *code, size_t length, uint64_t address, size_t n);
/* Returns the offset that `mov offset(%rdi), %rax; ret` loads; -1: other code. */
int c10d_code_find_offset(const uint8_t *code, size_t length);

#endif
