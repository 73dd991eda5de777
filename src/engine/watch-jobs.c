#include "engine/watch-jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/loop.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "model/job.h"

/* Seconds from SIGTERM to SIGKILL. */
#define END_SECONDS 5.0
#define PREFIX "probetui: "
#define READ_LENGTH 4096
#define OUTPUT_MAXIMUM ((size_t)16 << 20)

extern char **environ;

/* The streams of a process, standard output and standard error. */
enum { STREAMS = 2 };

struct watched {
	struct watched_jobs *jobs;
	char *name; /* of the job; or its launcher's pid, if several jobs have the name */
	pid_t pid;  /* 0: not started, or waited for */
	int status; /* exit status; -1: it runs, or was ended by a signal */
	int fds[STREAMS];
	struct loop_watch *watches[STREAMS]; /* NULL: the stream has ended */
	struct buffer texts[STREAMS]; /* standard output; standard error that is no line yet */
};

struct watched_jobs {
	struct watched *items;
	size_t count;
	const int *signal;
	const struct watched *found; /* the first with a finding; NULL: none has one */
	const struct watched *last;  /* that ended last; NULL: none has ended */
	size_t ended_count;
	bool is_over; /* lines on standard error are not passed on any more */
};

/* Writes the whole lines of standard error, with the job's name behind the program's. */
static void pass_lines(struct watched *watched)
{
	struct buffer *text = &watched->texts[1];
	char *start = text->data;
	char *end;

	while (start && (end = memchr(start, '\n', text->length - (size_t)(start - text->data)))) {
		size_t length = (size_t)(end + 1 - start);
		struct buffer line = BUFFER_INIT;

		if (length > strlen(PREFIX) && memcmp(start, PREFIX, strlen(PREFIX)) == 0) {
			buffer_printf(&line, PREFIX "job %s: ", watched->name);
			buffer_append(&line, start + strlen(PREFIX), length - strlen(PREFIX));
		} else {
			buffer_append(&line, start, length);
		}
		file_write(STDERR_FILENO, line.data, line.length);
		buffer_clear(&line);
		start = end + 1;
	}
	if (start)
		buffer_consume(text, (size_t)(start - text->data));
}

/* Takes the exit status of a process whose streams have ended. */
static void take_end(struct watched *watched)
{
	struct watched_jobs *jobs = watched->jobs;
	int status;

	while (waitpid(watched->pid, &status, 0) < 0 && errno == EINTR)
		;
	watched->pid = 0;
	watched->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	jobs->ended_count++;
	jobs->last = watched;
	if (watched->status == STATUS_FINDING && !jobs->found)
		jobs->found = watched;
}

static void on_text(int fd, int events, void *data)
{
	struct watched *watched = data;
	char bytes[READ_LENGTH];
	ssize_t count = read(fd, bytes, sizeof(bytes));
	int stream = watched->watches[0] && watched->fds[0] == fd ? 0 : 1;

	(void)events;
	if (count < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (count > 0) {
		buffer_append(&watched->texts[stream], bytes, (size_t)count);
		if (stream == 1 && !watched->jobs->is_over)
			pass_lines(watched);
		return;
	}
	loop_watch_stop(watched->watches[stream]);
	close(fd);
	watched->watches[stream] = NULL;
	if (!watched->watches[0] && !watched->watches[1])
		take_end(watched);
}

/* The words of this program's command line with --job NAME; free() the array, not the words. */
static char **words_for(const struct settings *settings, const char *name)
{
	char **words = xcalloc(settings->word_count + 3, sizeof(*words));

	words[0] = settings->words[0];
	words[1] = (char *)(uintptr_t)"--job";
	words[2] = (char *)(uintptr_t)name;
	memcpy(words + 3, settings->words + 1, (settings->word_count - 1) * sizeof(*words));
	return words;
}

/* Starts the process, which gets SIGTERM when this one ends. Returns 0, or an errno value. */
static int watch_jobs_spawn(struct watched *watched, const struct settings *settings,
			    const int *writers)
{
	char **words = words_for(settings, watched->name);
	pid_t parent = getpid();

	watched->pid = fork();
	if (watched->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() == parent && dup2(writers[0], STDOUT_FILENO) >= 0 &&
		    dup2(writers[1], STDERR_FILENO) >= 0)
			execve("/proc/self/exe", words, environ);
		_exit(STATUS_USAGE);
	}
	free(words);
	return watched->pid < 0 ? errno : 0;
}

static int start(struct watched *watched, struct engine *engine, struct error *error)
{
	int pipes[STREAMS][2] = { { -1, -1 }, { -1, -1 } };
	int writers[STREAMS];
	int result = 0;

	for (int i = 0; i < STREAMS && result == 0; i++)
		result = pipe2(pipes[i], O_CLOEXEC) < 0 ? errno : 0;
	for (int i = 0; i < STREAMS; i++)
		writers[i] = pipes[i][1];
	if (result == 0)
		result = watch_jobs_spawn(watched, &engine->settings, writers);
	for (int i = 0; i < STREAMS; i++) {
		if (pipes[i][1] >= 0)
			close(pipes[i][1]);
		watched->fds[i] = pipes[i][0];
		if (result == 0)
			watched->watches[i] = loop_watch(engine->loop, pipes[i][0], LOOP_READABLE,
							 on_text, watched);
		else if (pipes[i][0] >= 0)
			close(pipes[i][0]);
	}
	if (result != 0)
		watched->pid = 0;
	return result == 0
		       ? 0
		       : error_set_errno(error, result, "cannot watch the job %s", watched->name);
}

static bool is_over(const struct watched_jobs *jobs)
{
	return *jobs->signal != 0 || jobs->found || jobs->ended_count == jobs->count;
}

static void signal_all(const struct watched_jobs *jobs, int number)
{
	for (size_t i = 0; i < jobs->count; i++) {
		if (jobs->items[i].pid > 0)
			kill(jobs->items[i].pid, number);
	}
}

static void kill_all(void *data)
{
	signal_all(data, SIGKILL);
}

/* Ends the processes that still watch. */
static void end_all(struct watched_jobs *jobs, struct loop *loop)
{
	struct loop_timer *timer;

	jobs->is_over = true;
	signal_all(jobs, SIGTERM);
	timer = loop_timer(loop, END_SECONDS, 0, kill_all, jobs);
	while (jobs->ended_count < jobs->count)
		loop_turn(loop);
	loop_timer_stop(timer);
}

/* The job's name, or its launcher's pid, whichever names no other job; free() it. NULL: neither. */
static char *name_of(const struct session *session, const struct job *job)
{
	char pid[24];

	if (job->name && job->name[0] != '\0' && job_count_named(session, job->name) == 1)
		return xstrdup(job->name);
	snprintf(pid, sizeof(pid), "%ld", (long)job->launcher_pid);
	return job->launcher_pid > 0 && job_count_named(session, pid) == 1 ? xstrdup(pid) : NULL;
}

static int start_all(struct watched_jobs *jobs, struct engine *engine, struct error *error)
{
	const struct session *session = &engine->session;

	for (size_t i = 0; i < session->job_count; i++) {
		struct watched *watched = &jobs->items[jobs->count];

		watched->jobs = jobs;
		watched->status = -1;
		watched->name = name_of(session, &session->jobs[i]);
		if (!watched->name)
			return error_set(error,
					 "several jobs have no name of their own: select the "
					 "processes of one with --pid");
		buffer_init(&watched->texts[0], OUTPUT_MAXIMUM);
		jobs->count++;
		if (start(watched, engine, error) < 0) {
			jobs->ended_count++;
			return -1;
		}
	}
	return 0;
}

static void watched_jobs_clear(struct watched_jobs *jobs)
{
	for (size_t i = 0; i < jobs->count; i++) {
		free(jobs->items[i].name);
		for (int j = 0; j < STREAMS; j++)
			buffer_clear(&jobs->items[i].texts[j]);
	}
	free(jobs->items);
}

/* The first process whose watch failed, in the order of jobs; else the one that ended last. */
static const struct watched *find_failed(const struct watched_jobs *jobs)
{
	for (size_t i = 0; i < jobs->count; i++) {
		const struct watched *watched = &jobs->items[i];

		if (watched->status != STATUS_DONE)
			return watched;
	}
	return jobs->last;
}

int watch_jobs(struct command_context *context, const int *signal, struct error *error)
{
	struct engine *engine = context->engine;
	struct watched_jobs jobs = { .signal = signal };
	const struct watched *shown;
	int result;

	if (engine->settings.record || engine->settings.script)
		return error_set(error, "%s with several jobs: select one with --job",
				 engine->settings.record ? "--record" : "a script's wait --stuck");
	jobs.items = xcalloc(engine->session.job_count, sizeof(*jobs.items));
	result = start_all(&jobs, engine, error);
	while (result == 0 && !is_over(&jobs))
		loop_turn(engine->loop);
	shown = jobs.found ? jobs.found : find_failed(&jobs);
	end_all(&jobs, engine->loop);
	if (result == 0 && *signal == 0 && shown) {
		buffer_append(context->out, shown->texts[0].data, shown->texts[0].length);
		context->status = shown->status < 0 ? STATUS_NOTHING : shown->status;
	}
	watched_jobs_clear(&jobs);
	return result;
}
