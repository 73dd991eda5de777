/*
 * job-supervisor: one poll(2) over the terminal, the node, and the children's ends.
 *
 * Output goes into a backlog first, and from there to the node or the file.
 * When the node goes, the whole backlog is written to the file, so that what
 * was on its way is not lost: with `waits` the terminal is not read while what
 * the reader has not taken fills the backlog.
 *
 * The job's own end is looked at, told, and waited for only when the node has
 * seen it (or is gone): until then the node can still read from /proc how it
 * ended.
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

#include "banned.h"
#include "backends/launch/job-child.h"
#include "backends/launch/scrollback.h"
#include "backends/launch/supervisor-messages.h"
#include "base/buffer.h"
#include "base/file.h"
#include "base/loop.h"

/* Who is asked to end has so long; a sentence of the screen says it. */
#define END_SECONDS 10.0
/* Then all are killed, and who they leave behind, looked for so often. */
#define KILL_MILLISECONDS 20
/* A node that does not say that it has seen the end. */
#define SEEN_SECONDS 5.0
/* Then the other descriptors have their turn. */
#define TURN_READS 16

struct keeper {
	struct job_child job;
	int node;    /* -1: gone */
	int signals; /* SIGCHLD */
	int log;     /* -1: not opened */
	const char *log_path;
	struct scrollback backlog;
	struct buffer input;
	uint32_t typed;			     /* of the input, not told of yet */
	struct supervisor_message_lost lost; /* not told of yet */
	double waits;			     /* seconds; 0: not for the reader */
	uint64_t taken;			     /* of the backlog, by the reader */
	double taken_at;		     /* when that was told last, or there was room */
	bool is_diverted;		     /* all goes to the file as well */
	int status;			     /* of waitpid(2) */
	bool has_ended;			     /* the job's process */
	bool is_run_told;		     /* that it runs, or why not */
	bool is_end_told;
	bool is_reaped;
	bool is_empty;	/* no process is left */
	bool is_silent; /* and nothing comes from the terminal any more */
	double ended_at;
	double kill_at; /* 0: not asked for */
};

enum watched {
	WATCHED_TERMINAL,
	WATCHED_SIGNALS,
	WATCHED_NODE,
	WATCHED_FAILURE,
	WATCHED_COUNT,
};

static void open_log(struct keeper *keeper)
{
	if (keeper->log < 0 && keeper->log_path[0] != '\0')
		keeper->log =
			open(keeper->log_path,
			     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND | O_CLOEXEC, 0600);
	/* Once is enough: another try would fail as well. */
	keeper->log_path = "";
}

/* From now on we are alone. */
static void lose_node(struct keeper *keeper)
{
	if (keeper->node < 0)
		return;
	close(keeper->node);
	keeper->node = -1;
	/* A job that was not begun yet is not begun without a node. */
	if (keeper->job.gate >= 0)
		keeper->log_path = "";
	job_child_forbid(&keeper->job);
	scrollback_rewind(&keeper->backlog);
}

/* False: the node takes nothing now. */
static bool send_packet(struct keeper *keeper, enum supervisor_message_kind kind, const void *bytes,
			size_t length)
{
	char packet[SUPERVISOR_MAXIMUM];
	ssize_t count;

	if (keeper->node < 0)
		return true;
	packet[0] = (char)kind;
	if (length > 0)
		memcpy(packet + 1, bytes, length);
	do {
		count = send(keeper->node, packet, length + 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (count < 0 && errno == EINTR);
	if (count >= 0)
		return true;
	if (errno == EAGAIN || errno == ENOBUFS)
		return false;
	lose_node(keeper);
	return true;
}

/* True when nothing of it waits any more. */
static bool send_output(struct keeper *keeper)
{
	char bytes[SUPERVISOR_DATA_MAXIMUM];
	size_t length;

	keeper->lost.count += scrollback_take_lost(&keeper->backlog);
	keeper->lost.is_kept = keeper->is_diverted && keeper->log >= 0;
	if (keeper->lost.count > 0 &&
	    !send_packet(keeper, SUPERVISOR_LOST, &keeper->lost, sizeof(keeper->lost)))
		return false;
	keeper->lost.count = 0;
	while (keeper->node >= 0 &&
	       (length = scrollback_peek(&keeper->backlog, bytes, sizeof(bytes))) > 0) {
		if (!send_packet(keeper, SUPERVISOR_OUTPUT, bytes, length))
			return false;
		if (keeper->node >= 0)
			scrollback_skip(&keeper->backlog, length);
	}
	return true;
}

/* Output that a reader waited for and did not get. */
static bool is_owed(const struct keeper *keeper)
{
	return keeper->waits > 0 && keeper->taken < keeper->backlog.end;
}

/* A full disk must not hold the job up: what does not fit is left out. */
static void write_output(struct keeper *keeper)
{
	char bytes[SUPERVISOR_DATA_MAXIMUM];
	size_t length;

	if (!keeper->is_empty || is_owed(keeper))
		open_log(keeper);
	scrollback_take_lost(&keeper->backlog);
	while ((length = scrollback_peek(&keeper->backlog, bytes, sizeof(bytes))) > 0) {
		if (keeper->log >= 0)
			file_write(keeper->log, bytes, length);
		scrollback_skip(&keeper->backlog, length);
	}
}

/* Of the job, and those that were left to us; 0: only to count them. */
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

/* The job's process is one of our children until it is waited for. */
static bool send_end(struct keeper *keeper)
{
	struct supervisor_message_end end = {
		.status = keeper->status,
		.other_count = signal_children(0) - !keeper->is_reaped,
	};

	return send_packet(keeper, SUPERVISOR_ENDED, &end, sizeof(end));
}

/* Output first, then what is said of it. */
static void send_some(struct keeper *keeper)
{
	if (keeper->typed > 0 &&
	    send_packet(keeper, SUPERVISOR_TYPED, &keeper->typed, sizeof(keeper->typed)))
		keeper->typed = 0;
	if (!keeper->is_run_told && keeper->job.failure < 0)
		keeper->is_run_told = send_packet(keeper, SUPERVISOR_RUNS, NULL, 0);
	if (keeper->node >= 0 && send_output(keeper) && keeper->has_ended && keeper->is_silent &&
	    !keeper->is_end_told)
		keeper->is_end_told = send_end(keeper);
}

/* The job has to wait: what the reader has not taken fills the backlog. */
static bool is_held_up(const struct keeper *keeper)
{
	return keeper->waits > 0 && keeper->node >= 0 && !keeper->is_diverted &&
	       keeper->backlog.end - keeper->taken + SUPERVISOR_MAXIMUM > SCROLLBACK_BYTES;
}

/* From what the reader lacks on; the same bytes still go to the node. */
static void keep_output(struct keeper *keeper)
{
	struct scrollback *backlog = &keeper->backlog;
	uint64_t sent = backlog->sent;
	char bytes[SUPERVISOR_DATA_MAXIMUM];
	size_t length;

	open_log(keeper);
	scrollback_rewind_to(backlog,
			     backlog->kept > keeper->taken ? backlog->kept : keeper->taken);
	while ((length = scrollback_peek(backlog, bytes, sizeof(bytes))) > 0) {
		if (keeper->log >= 0)
			file_write(keeper->log, bytes, length);
		scrollback_skip(backlog, length);
	}
	backlog->kept = backlog->end;
	backlog->sent = sent;
}

/* A reader that has stopped for good does not hold the job up for good. */
static void divert_if_due(struct keeper *keeper)
{
	if (!is_held_up(keeper)) {
		if (!keeper->is_diverted)
			keeper->taken_at = loop_now();
		if (keeper->taken == keeper->backlog.end)
			keeper->is_diverted = false;
		return;
	}
	if (loop_now() < keeper->taken_at + keeper->waits)
		return;
	keeper->is_diverted = true;
	keep_output(keeper);
}

static void take_taken(struct keeper *keeper, const char *bytes, size_t length)
{
	uint64_t taken;

	if (length != sizeof(taken))
		return;
	memcpy(&taken, bytes, sizeof(taken));
	if (taken <= keeper->taken || taken > keeper->backlog.end)
		return;
	keeper->taken = taken;
	keeper->taken_at = loop_now();
}

/* True: there may be more. */
static bool read_terminal(struct keeper *keeper)
{
	char bytes[SUPERVISOR_MAXIMUM];
	ssize_t count = 1;

	for (int i = 0; i < TURN_READS && count > 0; i++) {
		if (is_held_up(keeper))
			return true;
		count = read(keeper->job.master, bytes, sizeof(bytes));
		if (count > 0)
			scrollback_add(&keeper->backlog, bytes, (size_t)count);
		if (count > 0 && keeper->is_diverted)
			keep_output(keeper);
		if (count < 0 && errno == EINTR)
			count = 1;
	}
	return count > 0;
}

static void write_terminal(struct keeper *keeper)
{
	while (keeper->input.length > 0) {
		ssize_t count = write(keeper->job.master, keeper->input.data, keeper->input.length);

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return;
		buffer_consume(&keeper->input, (size_t)count);
		keeper->typed += (uint32_t)count;
	}
}

/* Those of killed children are ours then, and die in the next round. */
static void kill_if_due(struct keeper *keeper)
{
	if (keeper->kill_at <= 0 || loop_now() < keeper->kill_at)
		return;
	if (keeper->job.pid > 0 && !keeper->is_reaped)
		kill(-keeper->job.pid, SIGKILL);
	signal_children(SIGKILL);
}

static void begin_end(struct keeper *keeper, bool is_killed)
{
	double at = loop_now() + (is_killed ? 0 : END_SECONDS);

	job_child_forbid(&keeper->job);
	if (keeper->job.pid > 0 && !keeper->is_reaped) {
		kill(-keeper->job.pid, SIGTERM);
		kill(-keeper->job.pid, SIGCONT);
	} else {
		signal_children(SIGTERM);
	}
	if (keeper->kill_at <= 0 || at < keeper->kill_at)
		keeper->kill_at = at;
}

static void take_size(struct keeper *keeper, const char *bytes, size_t length)
{
	uint16_t size[2];

	if (length != sizeof(size))
		return;
	memcpy(size, bytes, sizeof(size));
	job_child_resize(&keeper->job, size[0], size[1]);
}

static void take_packet(struct keeper *keeper, const char *packet, size_t length)
{
	switch ((enum supervisor_message_kind)packet[0]) {
	case SUPERVISOR_GO:
		job_child_go(&keeper->job);
		break;
	case SUPERVISOR_INPUT:
		buffer_append(&keeper->input, packet + 1, length - 1);
		write_terminal(keeper);
		break;
	case SUPERVISOR_SIZE:
		take_size(keeper, packet + 1, length - 1);
		break;
	case SUPERVISOR_END:
		begin_end(keeper, length > 1 && packet[1] != 0);
		break;
	case SUPERVISOR_SEEN:
		keeper->ended_at = 0;
		break;
	case SUPERVISOR_TAKEN:
		take_taken(keeper, packet + 1, length - 1);
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

static void read_node(struct keeper *keeper)
{
	char packet[SUPERVISOR_MAXIMUM];

	while (keeper->node >= 0) {
		ssize_t count = recv(keeper->node, packet, sizeof(packet), MSG_DONTWAIT);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0 && errno == EAGAIN)
			return;
		if (count <= 0)
			lose_node(keeper);
		else
			take_packet(keeper, packet, (size_t)count);
	}
}

/* A program that could not be run is no job. */
static void take_outcome(struct keeper *keeper)
{
	int number = job_child_outcome(&keeper->job);

	if (number > 0)
		keeper->is_run_told =
			send_packet(keeper, SUPERVISOR_REFUSED, &number, sizeof(number));
}

/* The node may look at it while it is a zombie. */
static bool may_reap(const struct keeper *keeper)
{
	return keeper->node < 0 || keeper->ended_at == 0 ||
	       loop_now() > keeper->ended_at + SEEN_SECONDS;
}

static void note_end(struct keeper *keeper, const siginfo_t *about)
{
	keeper->has_ended = true;
	keeper->ended_at = loop_now();
	keeper->status =
		about->si_code == CLD_EXITED ? (about->si_status & 0xff) << 8 : about->si_status;
}

/*
 * Nobody could bring back a job that ^Z has stopped: it is no shell's. One
 * that somebody stopped on purpose (SIGSTOP) stays so.
 */
static void take_stop(struct keeper *keeper, const siginfo_t *about)
{
	if (about->si_pid == keeper->job.pid && about->si_status != SIGSTOP)
		kill(-keeper->job.pid, SIGCONT);
	waitid(P_PID, (id_t)about->si_pid, &(siginfo_t){ .si_pid = 0 }, WSTOPPED | WNOHANG);
}

static void reap(struct keeper *keeper)
{
	for (;;) {
		siginfo_t about = { .si_pid = 0 };

		if (waitid(P_ALL, 0, &about, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) < 0) {
			keeper->is_empty = errno == ECHILD;
			return;
		}
		if (about.si_pid == 0)
			return;
		if (about.si_code == CLD_STOPPED) {
			take_stop(keeper, &about);
			continue;
		}
		if (about.si_pid == keeper->job.pid) {
			if (!keeper->has_ended)
				note_end(keeper, &about);
			if (!may_reap(keeper))
				return;
			keeper->is_reaped = true;
		}
		waitid(P_PID, (id_t)about.si_pid, &about, WEXITED | WNOHANG);
	}
}

static void drain_signals(struct keeper *keeper)
{
	struct signalfd_siginfo information;

	while (read(keeper->signals, &information, sizeof(information)) > 0)
		continue;
}

static int milliseconds_until(double at)
{
	double left = at - loop_now();

	return left > 0 ? (int)(left * 1000) + 1 : 0;
}

static int timeout_of(const struct keeper *keeper)
{
	if (keeper->has_ended && !keeper->is_reaped)
		return KILL_MILLISECONDS;
	if (keeper->kill_at > 0)
		return loop_now() < keeper->kill_at
			       ? (int)((keeper->kill_at - loop_now()) * 1000) + 1
			       : KILL_MILLISECONDS;
	if (is_held_up(keeper))
		return milliseconds_until(keeper->taken_at + keeper->waits);
	return -1;
}

static void wait_for_events(struct keeper *keeper)
{
	bool has_input = keeper->input.length > 0;
	bool has_output = keeper->node >= 0 &&
			  (keeper->backlog.sent < keeper->backlog.end || keeper->typed > 0 ||
			   (keeper->has_ended && !keeper->is_end_told));
	short output = is_held_up(keeper) ? 0 : POLLIN;
	struct pollfd watched[WATCHED_COUNT] = {
		[WATCHED_TERMINAL] = { .fd = keeper->job.master,
				       .events = (short)(output | (has_input ? POLLOUT : 0)) },
		[WATCHED_SIGNALS] = { .fd = keeper->signals, .events = POLLIN },
		[WATCHED_NODE] = { .fd = keeper->node,
				   .events = (short)(POLLIN | (has_output ? POLLOUT : 0)) },
		[WATCHED_FAILURE] = { .fd = keeper->job.failure, .events = POLLIN },
	};

	poll(watched, WATCHED_COUNT, timeout_of(keeper));
	if (watched[WATCHED_FAILURE].revents)
		take_outcome(keeper);
	if (watched[WATCHED_SIGNALS].revents)
		drain_signals(keeper);
	if (watched[WATCHED_NODE].revents & (POLLIN | POLLHUP | POLLERR))
		read_node(keeper);
}

/*
 * Ends are looked for before the terminal is read: what a process wrote
 * before its end is read after that was seen.
 */
static void turn(struct keeper *keeper)
{
	wait_for_events(keeper);
	reap(keeper);
	/* That it ran is told before that it ended. */
	if (keeper->has_ended && keeper->job.failure >= 0)
		take_outcome(keeper);
	write_terminal(keeper);
	divert_if_due(keeper);
	/* What comes now would take the place of what is not written yet. */
	if (keeper->node < 0)
		write_output(keeper);
	keeper->is_silent = !read_terminal(keeper);
	kill_if_due(keeper);
	send_some(keeper);
	if (keeper->node >= 0)
		return;
	/* Who is still there decides whether anything is worth keeping. */
	reap(keeper);
	write_output(keeper);
}

/* The node hears the last of it. */
static bool is_over(struct keeper *keeper)
{
	if (!keeper->is_empty || !keeper->is_silent)
		return false;
	if (keeper->node < 0)
		return true;
	if (!keeper->is_end_told && keeper->has_ended)
		return false;
	return send_packet(keeper, SUPERVISOR_EMPTY, NULL, 0);
}

static void prepare(struct keeper *keeper)
{
	sigset_t all;
	sigset_t child;

	/* Whatever somebody sends us, the job is not to suffer from it. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	keeper->signals = signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	keeper->node = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(STDIN_FILENO);
	if (open("/dev/null", O_RDWR | O_CLOEXEC) < 0)
		return;
	scrollback_init(&keeper->backlog);
	buffer_init(&keeper->input, SUPERVISOR_INPUT_MAXIMUM);
}

static int start(struct keeper *keeper, char **words)
{
	struct job_child_wishes wishes = {
		.rows = (unsigned short)strtoul(words[JOB_SUPERVISOR_ROWS], NULL, 10),
		.columns = (unsigned short)strtoul(words[JOB_SUPERVISOR_COLUMNS], NULL, 10),
		.files = strtoull(words[JOB_SUPERVISOR_FILES], NULL, 10),
		.directory = words[JOB_SUPERVISOR_DIRECTORY],
		.input = (int)strtol(words[JOB_SUPERVISOR_INPUT], NULL, 10),
		.argv = words + JOB_SUPERVISOR_PROGRAM,
	};
	int result;

	if (wishes.input >= 0)
		fcntl(wishes.input, F_SETFD, FD_CLOEXEC);
	result = job_child_start(&keeper->job, &wishes);
	/* Only the job reads it. */
	if (wishes.input >= 0)
		close(wishes.input);
	if (result != 0)
		send_packet(keeper, SUPERVISOR_REFUSED, &result, sizeof(result));
	else
		send_packet(keeper, SUPERVISOR_WAITS, &keeper->job.pid, sizeof(keeper->job.pid));
	return result;
}

int job_supervisor_run(int count, char **words)
{
	struct keeper keeper = { .log = -1 };

	if (count <= JOB_SUPERVISOR_PROGRAM)
		return 2;
	keeper.log_path = words[JOB_SUPERVISOR_LOG];
	keeper.waits = strtod(words[JOB_SUPERVISOR_WAITS], NULL);
	prepare(&keeper);
	if (start(&keeper, words) == 0) {
		do {
			turn(&keeper);
		} while (!is_over(&keeper));
	}
	buffer_clear(&keeper.input);
	scrollback_clear(&keeper.backlog);
	return 0;
}
