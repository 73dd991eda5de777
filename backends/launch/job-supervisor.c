/*
 * job-supervisor: one poll(2) loop over the terminal, the node's socket and SIGCHLD.
 *
 * Output is added to a scrollback, and copied from there to the node or to a file. When the node
 * exits, the whole scrollback is written to the file, so that output that the node has not sent yet
 * is not lost. If struct supervisor's `waits` is set, the terminal is not read while the scrollback
 * is full of output that the reader (what probetui's standard output goes to) has not taken.
 *
 * When the job's process exits, the supervisor reports that, but reaps the process only after the
 * node has acknowledged the exit or has exited itself: until then the node can read the exit status
 * from /proc.
 */
#include "backends/launch/job-supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/launch/job-child.h"
#include "backends/launch/job-output.h"
#include "banned.h"
#include "base/buffer.h"
#include "base/file.h"
#include "base/loop.h"

/* Seconds from SIGTERM to SIGKILL; the question of quit names this time, too. */
#define END_SECONDS 10.0
/* At SIGKILL all children are killed; then, at this interval, the orphans that they have left. */
#define KILL_MILLISECONDS 20
/* Seconds to wait for the node's SUPERVISOR_SEEN. */
#define SEEN_SECONDS 5.0
/* Maximum number of reads of the terminal before the other descriptors are served. */
#define TURN_READS 16

struct supervisor {
	struct job_child job;
	int node;    /* socket to the node; -1: the node has exited */
	int signals; /* signalfd(2) for SIGCHLD */
	int log;     /* descriptor of the output file; -1: not open */
	const char *log_path;
	struct scrollback scrollback;
	struct buffer input;
	uint32_t typed;			     /* number of bytes written to the terminal that are not
					      * reported to the node yet */
	struct supervisor_message_lost lost; /* lost output that is not reported to the node yet */
	double waits;			     /* seconds to wait for the user's reader; 0: no
					      * waiting */
	uint64_t taken;			     /* position in the output up to which the reader has
					      * read */
	double taken_at;		     /* time of the last report of `taken`, or when the
					      * scrollback last had room */
	bool is_diverted;		     /* output is written to the file, too */
	int status;			     /* status of waitpid(2) of the job's process */
	bool has_ended;			     /* the job's process has exited */
	bool is_run_told;		     /* the success or failure of execve(2) was reported to
					      * the node */
	bool is_end_told;
	bool is_reaped;
	bool is_empty;	 /* no process of the job is left */
	bool is_silent;	 /* the last read found no more output in the terminal */
	double ended_at; /* time of the exit; 0: SUPERVISOR_SEEN has acknowledged the exit */
	double kill_at;	 /* time of SIGKILL; 0: none requested */
};

enum watched {
	WATCHED_TERMINAL,
	WATCHED_SIGNALS,
	WATCHED_NODE,
	WATCHED_FAILURE,
	WATCHED_COUNT,
};

static void open_log(struct supervisor *supervisor)
{
	if (supervisor->log < 0 && supervisor->log_path[0] != '\0')
		supervisor->log =
			open(supervisor->log_path,
			     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND | O_CLOEXEC, 0600);
	/* Opening is tried only once: a second try would fail as well. */
	supervisor->log_path = "";
}

/* Closes the socket of a node that has exited: the supervisor continues without a node. */
static void lose_node(struct supervisor *supervisor)
{
	if (supervisor->node < 0)
		return;
	close(supervisor->node);
	supervisor->node = -1;
	/* A job whose program was not started yet is not started without a node. */
	if (supervisor->job.gate >= 0)
		supervisor->log_path = "";
	job_child_forbid(&supervisor->job);
	scrollback_rewind(&supervisor->scrollback);
}

/* Sends a packet to the node. Returns false if the socket is full: the caller tries again later. */
static bool job_supervisor_send_packet(struct supervisor *supervisor,
				       enum supervisor_message_kind kind, const void *bytes,
				       size_t length)
{
	char packet[SUPERVISOR_MAXIMUM];
	ssize_t count;

	if (supervisor->node < 0)
		return true;
	packet[0] = (char)kind;
	if (length > 0)
		memcpy(packet + 1, bytes, length);
	do {
		count = send(supervisor->node, packet, length + 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (count < 0 && errno == EINTR);
	if (count >= 0)
		return true;
	if (errno == EAGAIN || errno == ENOBUFS)
		return false;
	lose_node(supervisor);
	return true;
}

/* Sends the waiting output to the node. Returns true if all of it was sent. */
static bool job_supervisor_send_output(struct supervisor *supervisor)
{
	char bytes[SUPERVISOR_DATA_MAXIMUM];
	size_t length;

	supervisor->lost.count += scrollback_take_lost(&supervisor->scrollback);
	supervisor->lost.is_kept = supervisor->is_diverted && supervisor->log >= 0;
	if (supervisor->lost.count > 0 &&
	    !job_supervisor_send_packet(supervisor, SUPERVISOR_LOST, &supervisor->lost,
					sizeof(supervisor->lost)))
		return false;
	supervisor->lost.count = 0;
	while (supervisor->node >= 0 &&
	       (length = scrollback_peek(&supervisor->scrollback, bytes, sizeof(bytes))) > 0) {
		if (!job_supervisor_send_packet(supervisor, SUPERVISOR_OUTPUT, bytes, length))
			return false;
		if (supervisor->node >= 0)
			scrollback_skip(&supervisor->scrollback, length);
	}
	return true;
}

/* True if there is a reader to wait for (`waits`) that has not read all output. */
static bool is_owed(const struct supervisor *supervisor)
{
	return supervisor->waits > 0 && supervisor->taken < supervisor->scrollback.end;
}

/* Writes the output to the file. Errors are ignored, because a full disk must not block the job. */
static void write_output(struct supervisor *supervisor)
{
	char bytes[SUPERVISOR_DATA_MAXIMUM];
	size_t length;

	if (!supervisor->is_empty || is_owed(supervisor))
		open_log(supervisor);
	scrollback_take_lost(&supervisor->scrollback);
	while ((length = scrollback_peek(&supervisor->scrollback, bytes, sizeof(bytes))) > 0) {
		if (supervisor->log >= 0)
			file_write(supervisor->log, bytes, length);
		scrollback_skip(&supervisor->scrollback, length);
	}
}

/* Sends a signal (0: none) to all children: the job's process and adopted orphans. Returns the
 * number of children. */
static int signal_children(int number)
{
	char path[64];
	FILE *file;
	int count = 0;
	int pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	file = fopen(path, "re");
	while (file && fscanf(file, "%d", &pid) == 1) {
		if (number > 0)
			kill(pid, number);
		count++;
	}
	if (file)
		fclose(file);
	return count;
}

/*
 * Reports the end of the job. The job's process is a child until it is reaped, but is not counted
 * in other_count.
 */
static bool send_end(struct supervisor *supervisor)
{
	struct supervisor_message_end end = {
		.status = supervisor->status,
		.other_count = signal_children(0) - !supervisor->is_reaped,
	};

	return job_supervisor_send_packet(supervisor, SUPERVISOR_ENDED, &end, sizeof(end));
}

/* Sends what waits for the node; the output is sent before the report of the job's end. */
static void job_supervisor_send_some(struct supervisor *supervisor)
{
	if (supervisor->typed > 0 &&
	    job_supervisor_send_packet(supervisor, SUPERVISOR_TYPED, &supervisor->typed,
				       sizeof(supervisor->typed)))
		supervisor->typed = 0;
	if (!supervisor->is_run_told && supervisor->job.failure < 0)
		supervisor->is_run_told =
			job_supervisor_send_packet(supervisor, SUPERVISOR_RUNS, NULL, 0);
	if (supervisor->node >= 0 && job_supervisor_send_output(supervisor) &&
	    supervisor->has_ended && supervisor->is_silent && !supervisor->is_end_told)
		supervisor->is_end_told = send_end(supervisor);
}

/*
 * True if the terminal must not be read, because the scrollback is full of output that the reader
 * has not taken.
 */
static bool is_held_up(const struct supervisor *supervisor)
{
	return supervisor->waits > 0 && supervisor->node >= 0 && !supervisor->is_diverted &&
	       supervisor->scrollback.end - supervisor->taken + SUPERVISOR_MAXIMUM >
		       SCROLLBACK_BYTES;
}

/*
 * Writes to the file the output that the reader has not taken; it is still sent to the node, too.
 */
static void keep_output(struct supervisor *supervisor)
{
	struct scrollback *scrollback = &supervisor->scrollback;
	uint64_t sent = scrollback->sent;
	char bytes[SUPERVISOR_DATA_MAXIMUM];
	size_t length;

	open_log(supervisor);
	scrollback_rewind_to(scrollback, scrollback->kept > supervisor->taken ? scrollback->kept
									      : supervisor->taken);
	while ((length = scrollback_peek(scrollback, bytes, sizeof(bytes))) > 0) {
		if (supervisor->log >= 0)
			file_write(supervisor->log, bytes, length);
		scrollback_skip(scrollback, length);
	}
	scrollback->kept = scrollback->end;
	scrollback->sent = sent;
}

/*
 * If the reader has not read for `waits` seconds, output is written to the file, so that the job
 * continues.
 */
static void divert_if_due(struct supervisor *supervisor)
{
	if (!is_held_up(supervisor)) {
		if (!supervisor->is_diverted)
			supervisor->taken_at = loop_now();
		if (supervisor->taken == supervisor->scrollback.end)
			supervisor->is_diverted = false;
		return;
	}
	if (loop_now() < supervisor->taken_at + supervisor->waits)
		return;
	supervisor->is_diverted = true;
	keep_output(supervisor);
}

static void take_taken(struct supervisor *supervisor, const char *bytes, size_t length)
{
	uint64_t taken;

	if (length != sizeof(taken))
		return;
	memcpy(&taken, bytes, sizeof(taken));
	if (taken <= supervisor->taken || taken > supervisor->scrollback.end)
		return;
	supervisor->taken = taken;
	supervisor->taken_at = loop_now();
}

/* Reads the terminal. Returns true if there may be more output. */
static bool job_supervisor_read_terminal(struct supervisor *supervisor)
{
	char bytes[SUPERVISOR_MAXIMUM];
	ssize_t count = 1;

	for (int i = 0; i < TURN_READS && count > 0; i++) {
		if (is_held_up(supervisor))
			return true;
		count = read(supervisor->job.master, bytes, sizeof(bytes));
		if (count > 0)
			scrollback_add(&supervisor->scrollback, bytes, (size_t)count);
		if (count > 0 && supervisor->is_diverted)
			keep_output(supervisor);
		if (count < 0 && errno == EINTR)
			count = 1;
	}
	return count > 0;
}

static void write_terminal(struct supervisor *supervisor)
{
	while (supervisor->input.length > 0) {
		ssize_t count = write(supervisor->job.master, supervisor->input.data,
				      supervisor->input.length);

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return;
		buffer_consume(&supervisor->input, (size_t)count);
		supervisor->typed += (uint32_t)count;
	}
}

/* Kills all children if kill_at is reached. The children of killed children become children of the
 * supervisor (subreaper), and are killed in the next round. */
static void kill_if_due(struct supervisor *supervisor)
{
	if (supervisor->kill_at <= 0 || loop_now() < supervisor->kill_at)
		return;
	if (supervisor->job.pid > 0 && !supervisor->is_reaped)
		kill(-supervisor->job.pid, SIGKILL);
	signal_children(SIGKILL);
}

static void begin_end(struct supervisor *supervisor, bool is_killed)
{
	double at = loop_now() + (is_killed ? 0 : END_SECONDS);

	job_child_forbid(&supervisor->job);
	if (supervisor->job.pid > 0 && !supervisor->is_reaped) {
		kill(-supervisor->job.pid, SIGTERM);
		kill(-supervisor->job.pid, SIGCONT);
	} else {
		signal_children(SIGTERM);
	}
	if (supervisor->kill_at <= 0 || at < supervisor->kill_at)
		supervisor->kill_at = at;
}

static void take_size(struct supervisor *supervisor, const char *bytes, size_t length)
{
	uint16_t size[2];

	if (length != sizeof(size))
		return;
	memcpy(size, bytes, sizeof(size));
	job_child_resize(&supervisor->job, size[0], size[1]);
}

static void job_supervisor_take_packet(struct supervisor *supervisor, const char *packet,
				       size_t length)
{
	switch ((enum supervisor_message_kind)packet[0]) {
	case SUPERVISOR_GO:
		job_child_go(&supervisor->job);
		break;
	case SUPERVISOR_INPUT:
		buffer_append(&supervisor->input, packet + 1, length - 1);
		write_terminal(supervisor);
		break;
	case SUPERVISOR_SIZE:
		take_size(supervisor, packet + 1, length - 1);
		break;
	case SUPERVISOR_END:
		begin_end(supervisor, length > 1 && packet[1] != 0);
		break;
	case SUPERVISOR_SEEN:
		supervisor->ended_at = 0;
		break;
	case SUPERVISOR_TAKEN:
		take_taken(supervisor, packet + 1, length - 1);
		break;
	case SUPERVISOR_WAITS:
	case SUPERVISOR_RUNS:
	case SUPERVISOR_REFUSED:
	case SUPERVISOR_OUTPUT:
	case SUPERVISOR_LOST:
	case SUPERVISOR_TYPED:
	case SUPERVISOR_ENDED:
	case SUPERVISOR_EMPTY:
		break;
	}
}

static void read_node(struct supervisor *supervisor)
{
	char packet[SUPERVISOR_MAXIMUM];

	while (supervisor->node >= 0) {
		ssize_t count = recv(supervisor->node, packet, sizeof(packet), MSG_DONTWAIT);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0 && errno == EAGAIN)
			return;
		if (count <= 0)
			lose_node(supervisor);
		else
			job_supervisor_take_packet(supervisor, packet, (size_t)count);
	}
}

/* Reports SUPERVISOR_REFUSED if execve(2) has failed. */
static void take_outcome(struct supervisor *supervisor)
{
	int number = job_child_outcome(&supervisor->job);

	if (number > 0)
		supervisor->is_run_told = job_supervisor_send_packet(supervisor, SUPERVISOR_REFUSED,
								     &number, sizeof(number));
}

/* True if the job's process may be reaped: until then the node reads the zombie in /proc. */
static bool may_reap(const struct supervisor *supervisor)
{
	return supervisor->node < 0 || supervisor->ended_at == 0 ||
	       loop_now() > supervisor->ended_at + SEEN_SECONDS;
}

static void note_end(struct supervisor *supervisor, const siginfo_t *about)
{
	supervisor->has_ended = true;
	supervisor->ended_at = loop_now();
	supervisor->status =
		about->si_code == CLD_EXITED ? (about->si_status & 0xff) << 8 : about->si_status;
}

/*
 * Resumes a job that ^Z (SIGTSTP) has stopped, because the user has no shell with fg. A job stopped
 * by SIGSTOP stays stopped.
 */
static void job_supervisor_take_stop(struct supervisor *supervisor, const siginfo_t *about)
{
	if (about->si_pid == supervisor->job.pid && about->si_status != SIGSTOP)
		kill(-supervisor->job.pid, SIGCONT);
	waitid(P_PID, (id_t)about->si_pid, &(siginfo_t){ .si_pid = 0 }, WSTOPPED | WNOHANG);
}

static void reap(struct supervisor *supervisor)
{
	for (;;) {
		siginfo_t about = { .si_pid = 0 };

		if (waitid(P_ALL, 0, &about, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) < 0) {
			supervisor->is_empty = errno == ECHILD;
			return;
		}
		if (about.si_pid == 0)
			return;
		if (about.si_code == CLD_STOPPED) {
			job_supervisor_take_stop(supervisor, &about);
			continue;
		}
		if (about.si_pid == supervisor->job.pid) {
			if (!supervisor->has_ended)
				note_end(supervisor, &about);
			if (!may_reap(supervisor))
				return;
			supervisor->is_reaped = true;
		}
		waitid(P_PID, (id_t)about.si_pid, &about, WEXITED | WNOHANG);
	}
}

static void drain_signals(struct supervisor *supervisor)
{
	struct signalfd_siginfo information;

	while (read(supervisor->signals, &information, sizeof(information)) > 0)
		continue;
}

static int milliseconds_until(double at)
{
	double left = at - loop_now();

	return left > 0 ? (int)(left * 1000) + 1 : 0;
}

static int timeout_of(const struct supervisor *supervisor)
{
	if (supervisor->has_ended && !supervisor->is_reaped)
		return KILL_MILLISECONDS;
	if (supervisor->kill_at > 0)
		return loop_now() < supervisor->kill_at
			       ? (int)((supervisor->kill_at - loop_now()) * 1000) + 1
			       : KILL_MILLISECONDS;
	if (is_held_up(supervisor))
		return milliseconds_until(supervisor->taken_at + supervisor->waits);
	return -1;
}

static void wait_for_events(struct supervisor *supervisor)
{
	bool has_input = supervisor->input.length > 0;
	bool has_output =
		supervisor->node >= 0 &&
		(supervisor->scrollback.sent < supervisor->scrollback.end ||
		 supervisor->typed > 0 || (supervisor->has_ended && !supervisor->is_end_told));
	short output = is_held_up(supervisor) ? 0 : POLLIN;
	struct pollfd watched[WATCHED_COUNT] = {
		[WATCHED_TERMINAL] = { .fd = supervisor->job.master,
				       .events = (short)(output | (has_input ? POLLOUT : 0)) },
		[WATCHED_SIGNALS] = { .fd = supervisor->signals, .events = POLLIN },
		[WATCHED_NODE] = { .fd = supervisor->node,
				   .events = (short)(POLLIN | (has_output ? POLLOUT : 0)) },
		[WATCHED_FAILURE] = { .fd = supervisor->job.failure, .events = POLLIN },
	};

	poll(watched, WATCHED_COUNT, timeout_of(supervisor));
	if (watched[WATCHED_FAILURE].revents)
		take_outcome(supervisor);
	if (watched[WATCHED_SIGNALS].revents)
		drain_signals(supervisor);
	if (watched[WATCHED_NODE].revents & (POLLIN | POLLHUP | POLLERR))
		read_node(supervisor);
}

/*
 * One turn: reaps ended processes before it reads the terminal, so that all output that was written
 * before a process ended is read after its end was noticed.
 */
static void job_supervisor_turn(struct supervisor *supervisor)
{
	wait_for_events(supervisor);
	reap(supervisor);
	/* The result of execve(2) is reported before the exit. */
	if (supervisor->has_ended && supervisor->job.failure >= 0)
		take_outcome(supervisor);
	write_terminal(supervisor);
	divert_if_due(supervisor);
	/*
	 * Written before the terminal is read: new output would overwrite the old output in the
	 * scrollback.
	 */
	if (supervisor->node < 0)
		write_output(supervisor);
	supervisor->is_silent = !job_supervisor_read_terminal(supervisor);
	kill_if_due(supervisor);
	job_supervisor_send_some(supervisor);
	if (supervisor->node >= 0)
		return;
	/*
	 * Reaps first, because the file is opened only if processes are left or a reader lacks
	 * output.
	 */
	reap(supervisor);
	write_output(supervisor);
}

/* True if the supervisor may exit; SUPERVISOR_EMPTY was then sent to the node, if there is one. */
static bool job_supervisor_is_over(struct supervisor *supervisor)
{
	if (!supervisor->is_empty || !supervisor->is_silent)
		return false;
	if (supervisor->node < 0)
		return true;
	if (!supervisor->is_end_told && supervisor->has_ended)
		return false;
	return job_supervisor_send_packet(supervisor, SUPERVISOR_EMPTY, NULL, 0);
}

static void job_supervisor_prepare(struct supervisor *supervisor)
{
	sigset_t all;
	sigset_t child;

	/* Signals to the supervisor must not end the job. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	supervisor->signals = signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	supervisor->node = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(STDIN_FILENO);
	if (open("/dev/null", O_RDWR | O_CLOEXEC) < 0)
		return;
	scrollback_init(&supervisor->scrollback);
	buffer_init(&supervisor->input, SUPERVISOR_INPUT_MAXIMUM);
}

static int job_supervisor_start(struct supervisor *supervisor, char **words)
{
	struct job_child_options options = {
		.rows = (unsigned short)strtoul(words[JOB_SUPERVISOR_ROWS], NULL, 10),
		.columns = (unsigned short)strtoul(words[JOB_SUPERVISOR_COLUMNS], NULL, 10),
		.files = strtoull(words[JOB_SUPERVISOR_FILES], NULL, 10),
		.directory = words[JOB_SUPERVISOR_DIRECTORY],
		.input = (int)strtol(words[JOB_SUPERVISOR_INPUT], NULL, 10),
		.argv = words + JOB_SUPERVISOR_PROGRAM,
	};
	int result;

	if (options.input >= 0)
		fcntl(options.input, F_SETFD, FD_CLOEXEC);
	result = job_child_start(&supervisor->job, &options);
	/* Only the job's process reads this descriptor. */
	if (options.input >= 0)
		close(options.input);
	if (result != 0)
		job_supervisor_send_packet(supervisor, SUPERVISOR_REFUSED, &result, sizeof(result));
	else
		job_supervisor_send_packet(supervisor, SUPERVISOR_WAITS, &supervisor->job.pid,
					   sizeof(supervisor->job.pid));
	return result;
}

int job_supervisor_run(int count, char **words)
{
	struct supervisor supervisor = { .log = -1 };

	if (count <= JOB_SUPERVISOR_PROGRAM)
		return 2;
	supervisor.log_path = words[JOB_SUPERVISOR_LOG];
	supervisor.waits = strtod(words[JOB_SUPERVISOR_WAITS], NULL);
	job_supervisor_prepare(&supervisor);
	if (job_supervisor_start(&supervisor, words) == 0) {
		do {
			job_supervisor_turn(&supervisor);
		} while (!job_supervisor_is_over(&supervisor));
	}
	buffer_clear(&supervisor.input);
	scrollback_clear(&supervisor.scrollback);
	return 0;
}
