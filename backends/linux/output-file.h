/*
 * output-file: where a process's standard output or error goes. Where that is a
 * regular file it is opened, as the process itself has it (so it may have been
 * renamed or deleted), and read behind the process's back: no other kind of
 * file is ever opened, since to open a pipe or a terminal is to do something
 * with it.
 */
#ifndef BACKENDS_LINUX_OUTPUT_FILE_H
#define BACKENDS_LINUX_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct buffer;
struct process;
struct procfs;

struct output_file {
	int number; /* of the descriptor: 1, 2 */
	int fd;	    /* ours, of the same file; -1: it is none */
	dev_t device;
	ino_t inode;
	off_t at;   /* what is before it was read, or left out */
	char *path; /* of the file, as the kernel names it; NULL */
	char *why;  /* there is no file to read: a sentence; NULL */
};

/* "stdout" or "stderr". */
const char *output_file_category(const struct output_file *stream);
/* Finds out and opens it; at is the file's beginning. */
void output_file_open(struct output_file *stream, int number, struct procfs *procfs,
		      const struct process *process);
void output_file_close(struct output_file *stream);
/*
 * Only notes which file it is, to be opened when the process has ended: path
 * is NULL where it is none.
 */
void output_file_note(struct output_file *stream, int number, struct procfs *procfs,
		      const struct process *process);
/* Opens what was noted, if that very file is still there; else why is set. */
void output_file_open_noted(struct output_file *stream, const struct output_file *noted);
/* Bytes of the file now; 0 where there is none. */
off_t output_file_size(const struct output_file *stream);
/*
 * True when the process's descriptor leads elsewhere by now, so that the
 * stream should be opened anew; false when it has ended.
 */
bool output_file_has_changed(const struct output_file *stream, const struct process *process);
/* True when that descriptor of another process leads to the same file. */
bool output_file_leads_there(const struct output_file *stream, const struct process *process);
/* Appends at most maximum bytes from at on, and moves at behind them. */
void output_file_read(struct output_file *stream, size_t maximum, struct buffer *out);

#endif
