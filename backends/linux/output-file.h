/*
 * output-file: the file of a process's standard output or error. A regular file is opened through
 * /proc/PID/fd, so that a renamed or deleted file can be read as well; the process does not notice.
 * No other kind of file is ever opened, because opening a pipe or a terminal has effects.
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
	int number; /* number of the process's descriptor: 1 or 2 */
	int fd;	    /* this process's descriptor of the same file; -1: no file */
	dev_t device;
	ino_t inode;
	off_t at;   /* offset of the next read, bytes */
	char *path; /* path of the file, as in /proc/PID/fd; NULL: no file */
	char *why;  /* a sentence: why there is no file to read; NULL: there is a file */
};

/* Returns "stdout" or "stderr". */
const char *output_file_category(const struct output_file *stream);
/* Finds and opens the file, or sets stream->why; sets stream->at to 0. */
void output_file_open(struct output_file *stream, int number, struct procfs *procfs,
		      const struct process *process);
void output_file_close(struct output_file *stream);
/*
 * Notes which file it is without opening the file, so that it can be opened after the process's
 * end. stream->path is NULL if it is not a regular file.
 */
void output_file_note(struct output_file *stream, int number, struct procfs *procfs,
		      const struct process *process);
/* Opens the noted file if the same file is still at the path; else sets stream->why. */
void output_file_open_noted(struct output_file *stream, const struct output_file *noted);
/* Returns the present size of the file in bytes; 0: no file. */
off_t output_file_size(const struct output_file *stream);
/*
 * Returns true if the process's descriptor now refers to another file, so that the stream should be
 * reopened; false if not, or if the process has ended.
 */
bool output_file_has_changed(const struct output_file *stream, const struct process *process);
/* Whether, in another process, the descriptor with the same number refers to the same file. */
bool output_file_leads_there(const struct output_file *stream, const struct process *process);
/* Appends at most `maximum` bytes from the offset stream->at on, and advances stream->at. */
void output_file_read(struct output_file *stream, size_t maximum, struct buffer *out);

#endif
