#include "backends/program.h"

#include "config.h"

#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "backends/launch/job-supervisor.h"
#include "backends/node.h"
#include "banned.h"
#include "base/file.h"
#include "base/log.h"
#include "base/loop.h"
#include "protocol/process.h"

/* Seconds that the exit waits for other threads, which read files. */
#define WORK_SECONDS 0.25
/* Bytes by which the heap grows. */
#define HEAP_STEP (256 << 10)

static const char help[] =
	"Usage: probetui-node\n"
	"\n"
	"The part of probetui that reads, stops and changes processes. probetui\n"
	"starts it, here or through ssh, srun, kubectl or mpirun, and exchanges\n"
	"JSON messages with it on standard input and output, one message a line.\n"
	"It exits when its input ends. It stops or changes a process only on\n"
	"request.\n"
	"\n"
	"  --version   print the version and exit\n"
	"  --help      print this help and exit\n";

static int parse_arguments(int count, char **words)
{
	if (count == 1)
		return -1;
	if (strcmp(words[1], "--version") == 0) {
		puts("probetui-node " PACKAGE_VERSION);
		return 0;
	}
	if (strcmp(words[1], "--help") == 0) {
		fputs(help, stdout);
		return 0;
	}
	fprintf(stderr, "probetui-node: unknown argument \"%s\" (see probetui-node --help)\n",
		words[1]);
	return 2;
}

/*
 * Returns the descriptor, passed as an argument by probetui, that becomes a job's standard input;
 * -1: none.
 */
static int find_job_input(int count, char **words)
{
	char *end;
	long fd;

	if (count != 3 || strcmp(words[1], JOB_INPUT_OPTION) != 0)
		return -1;
	fd = strtol(words[2], &end, 10);
	if (*end != '\0' || fd <= STDERR_FILENO || fd > INT_MAX ||
	    fcntl((int)fd, F_SETFD, FD_CLOEXEC) < 0)
		return -1;
	return (int)fd;
}

/*
 * A closed terminal or Ctrl-C must not kill the node while it has stopped processes: the node exits
 * when its input ends, and first resumes them.
 */
static void become_independent(void)
{
	setsid();
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
}

/*
 * Raises RLIMIT_NOFILE, because each sampled thread keeps up to four files open (task.h). Returns
 * the old limit, which programs started by the node get; 0: unknown.
 */
static uint64_t raise_file_limit(void)
{
	struct rlimit limit;
	uint64_t before;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 0;
	before = limit.rlim_cur;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	return before;
}

/*
 * Makes all threads use the main heap. In other heaps glibc's malloc(3) grows by one page per
 * mprotect(2), which is thousands of calls for the symbols of a torch job; the main heap grows by
 * M_TOP_PAD bytes.
 */
static void share_heap(void)
{
#ifdef M_ARENA_MAX
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_TOP_PAD, HEAP_STEP);
#endif
}

int program_run(int count, char **words)
{
	struct loop *loop;
	struct node *node;
	uint64_t files;
	int job_input;
	int status;

	standard_open();
	if (count > 1 && strcmp(words[1], JOB_SUPERVISOR_OPTION) == 0)
		return job_supervisor_run(count - 2, words + 2);
	job_input = find_job_input(count, words);
	status = job_input >= 0 ? -1 : parse_arguments(count, words);
	if (status >= 0)
		return status;
	if (isatty(STDIN_FILENO)) {
		fputs("probetui-node: standard input is a terminal: run probetui, which starts "
		      "probetui-node\n",
		      stderr);
		return 2;
	}
	log_set_name("probetui-node");
	become_independent();
	share_heap();
	files = raise_file_limit();
	loop = loop_new();
	node = node_new(loop, STDIN_FILENO, STDOUT_FILENO);
	if (node) {
		node_set_file_limit(node, files);
		node_set_job_input(node, job_input);
	}
	status = node ? node_run(node) : 1;
	node_free(node);
	/* All processes are detached and all output is written by now: threads that still read a
	 * file may be killed. */
	if (!loop_end(loop, WORK_SECONDS))
		_exit(status);
	return status;
}
