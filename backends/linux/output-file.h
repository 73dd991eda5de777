/*
 * output-file: the file of a process's standard output or error. A regular file is
 * opened through the process's descriptor (so it may have been renamed or deleted)
 * and read without the process's notice. No other kind of file is ever opened,
 * because opening a pipe or a terminal has effects.
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
	int number; /* of the process's descriptor: 1, 2 */
	int fd;	    /* this process's descriptor of the same file; -1: no file */
	dev_t device;
	ino_t inode;
	off_t at;   /* offset of the next read, bytes */
	char *path; /* of the file, as in /proc/PID/fd; NULL: no file */
	char *why;  /* a sentence: why there is no file to read; NULL: there is one */
};

/* "stdout" or "stderr". */
const char *output_file_category(const struct output_file *stream);
/* Finds and opens the file, or sets why; at is 0. */
void output_file_open(struct output_file *stream, int number, struct procfs *procfs,
		      const struct process *process);
void output_file_close(struct output_file *stream);
/*
 * Only notes which file it is, to be opened after the process's end; path is NULL
 * if it is no regular file.
 */
void output_file_note(struct output_file *stream, int number, struct procfs *procfs,
		      const struct process *process);
/* Opens the noted file, if the path still has the same file; else sets why. */
void output_file_open_noted(struct output_file *stream, const struct output_file *noted);
/* Bytes of the file now; 0 where there is none. */
off_t output_file_size(const struct output_file *stream);
/*
 * True if the process's descriptor now leads to another file, so that the stream
 * should be opened again; false if the process has ended.
 */
bool output_file_has_changed(const struct output_file *stream, const struct process *process);
/* True if the descriptor of this number of another process leads to the same file. */
bool output_file_leads_there(const struct output_file *stream, const struct process *process);
/* Appends at most maximum bytes from at on, and advances at. */
void output_file_read(struct output_file *stream, size_t maximum, struct buffer *out);

#endif
