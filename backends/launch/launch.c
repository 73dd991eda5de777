#include "backends/launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backends/launch/job-output.h"
#include "backends/launch/job-supervisor.h"
#include "backends/linux/exit-watch.h"
#include "backends/linux/procfs.h"
#include "backends/node.h"
#include "backends/process-table.h"
#include "backends/ptrace/breakpoint-table.h"
#include "backends/ptrace/launched-programs.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/loop.h"
#include "protocol/message.h"
#include "protocol/process.h"

#define WORDS_MAXIMUM 4096
#define ROWS_DEFAULT 24
#define COLUMNS_DEFAULT 80
#define SIZE_MAXIMUM 1000
/* Maximum number of bytes of input that are queued while the job does not read. */
#define TYPED_MAXIMUM ((size_t)1 << 20)
#define WAITS_MAXIMUM 86400.0
/* Seconds after which a packet is sent again if the socket was full. */
#define RETRY_SECONDS 0.05
/* Maximum number of packets received in one turn of the loop. */
#define TURN_PACKETS 16

struct launch {
	struct node *node;
	pid_t supervisor;	  /* pid of the supervisor; 0: none */
	int socket;		  /* socket to the supervisor; -1: none */
	struct loop_watch *watch; /* watches the socket; NULL: it is not read, because `out` is
				   * full */
	struct exit_watch *exit;  /* of the supervisor */
	struct launched state;
	struct job_output *out;
	struct buffer typed; /* input that is not sent to the supervisor yet */
	size_t untyped;	     /* number of bytes sent that the supervisor has not reported as
			      * typed */
	uint64_t taken;	     /* number of bytes of output that the user's reader has read */
	bool is_taken_told;
	struct loop_timer *retry; /* sends waiting packets again; NULL: no packet waits */
	struct launched_programs *starts;
	struct message request; /* `launch` request that is not answered yet */
	bool is_asked;		/* `request` is valid */
	bool has_status;
	int status; /* status of waitpid(2) for the job's process */
};

static void on_packet(int fd, int events, void *data);

/* Watches the supervisor's socket again, because the output has room. */
static void on_room(void *data)
{
	struct launch *launch = data;

	if (launch->socket >= 0 && !launch->watch)
		launch->watch = loop_watch(node_loop(launch->node), launch->socket, LOOP_READABLE,
					   on_packet, launch);
}

struct launch *launch_new(struct node *node)
{
	struct launch *launch = xcalloc(1, sizeof(*launch));

	launch->node = node;
	launch->socket = -1;
	launched_init(&launch->state);
	launch->is_taken_told = true;
	launch->out = job_output_new(node, on_room, launch);
	buffer_init(&launch->typed, TYPED_MAXIMUM);
	launch->starts = launched_programs_new(node);
	return launch;
}

static void close_socket(struct launch *launch)
{
	if (launch->watch)
		loop_watch_stop(launch->watch);
	launch->watch = NULL;
	if (launch->socket >= 0)
		close(launch->socket);
	launch->socket = -1;
	if (launch->retry)
		loop_timer_stop(launch->retry);
	launch->retry = NULL;
	buffer_reset(&launch->typed);
}

void launch_free(struct launch *launch)
{
	if (!launch)
		return;
	launched_programs_free(launch->starts);
	close_socket(launch);
	exit_watch_free(launch->exit);
	job_output_free(launch->out);
	buffer_clear(&launch->typed);
	launched_clear(&launch->state);
	if (launch->is_asked)
		message_clear(&launch->request);
	free(launch);
}

struct launched_programs *launch_starts(const struct launch *launch)
{
	return launch ? launch->starts : NULL;
}

pid_t launch_root(const struct launch *launch)
{
	return launch ? launch->supervisor : 0;
}

bool launch_ended(const struct launch *launch, pid_t pid, int *status)
{
	if (!launch || !launch->has_status || launch->state.pid != pid)
		return false;
	*status = launch->status;
	return true;
}

static void launch_tell(struct launch *launch)
{
	node_emit(launch->node, EVENT_JOB, launched_to_json(&launch->state));
}

/* Answers `launch`, when the result of the execve(2) is known. */
static void launch_answer(struct launch *launch, const char *error)
{
	if (!launch->is_asked)
		return;
	launch->is_asked = false;
	if (!error)
		launch_tell(launch);
	node_respond(launch->node, &launch->request,
		     error ? NULL : launched_to_json(&launch->state), error);
	message_clear(&launch->request);
}

static int launch_send_packet(struct launch *launch, enum supervisor_message_kind kind,
			      const void *bytes, size_t length)
{
	char packet[SUPERVISOR_MAXIMUM];

	packet[0] = (char)kind;
	if (length > 0)
		memcpy(packet + 1, bytes, length);
	return send(launch->socket, packet, length + 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -1 : 0;
}

static void type_some(struct launch *launch);
static void tell_taken(struct launch *launch);

static void launch_on_retry(void *data)
{
	struct launch *launch = data;

	loop_timer_stop(launch->retry);
	launch->retry = NULL;
	type_some(launch);
	tell_taken(launch);
}

static void retry_later(struct launch *launch)
{
	if (!launch->retry)
		launch->retry = loop_timer(node_loop(launch->node), RETRY_SECONDS, 0,
					   launch_on_retry, launch);
}

static void tell_taken(struct launch *launch)
{
	if (launch->is_taken_told || launch->socket < 0)
		return;
	launch->is_taken_told = launch_send_packet(launch, SUPERVISOR_TAKEN, &launch->taken,
						   sizeof(launch->taken)) == 0;
	if (!launch->is_taken_told)
		retry_later(launch);
}

/* Sends queued input to the supervisor, as much as the supervisor accepts. */
static void type_some(struct launch *launch)
{
	while (launch->typed.length > 0 && launch->untyped < SUPERVISOR_INPUT_MAXIMUM) {
		size_t length = SUPERVISOR_INPUT_MAXIMUM - launch->untyped;

		if (length > SUPERVISOR_DATA_MAXIMUM)
			length = SUPERVISOR_DATA_MAXIMUM;
		if (length > launch->typed.length)
			length = launch->typed.length;
		if (launch_send_packet(launch, SUPERVISOR_INPUT, launch->typed.data, length) < 0) {
			retry_later(launch);
			return;
		}
		launch->untyped += length;
		buffer_consume(&launch->typed, length);
	}
}

static void take_typed(struct launch *launch, const char *bytes, size_t length)
{
	uint32_t count = 0;

	if (length == sizeof(count))
		memcpy(&count, bytes, sizeof(count));
	launch->untyped -= count < launch->untyped ? count : launch->untyped;
	type_some(launch);
}

static void launch_refuse(struct launch *launch, int number)
{
	struct error error = ERROR_INIT;

	error_set_errno(&error, number, "cannot run %.200s", launch->state.program);
	launch->state.state = LAUNCHED_NONE;
	launch_answer(launch, error.message);
}

static void launch_take_end(struct launch *launch, const char *bytes, size_t length)
{
	struct launched *state = &launch->state;
	struct supervisor_message_end end = { .status = 0 };
	int status;

	if (state->state != LAUNCHED_RUNNING)
		return;
	if (length == sizeof(end))
		memcpy(&end, bytes, sizeof(end));
	status = end.status;
	job_output_flush(launch->out);
	state->state = LAUNCHED_ENDED;
	state->has_others = end.other_count > 0;
	if (WIFSIGNALED(status))
		state->exit_signal = WTERMSIG(status);
	else
		state->exit_code = WEXITSTATUS(status);
	launch->status = status;
	launch->has_status = true;
	/* If the process is a rank, the exit of the rank is reported before that of the job. */
	process_table_check_now(node_process_table(launch->node), state->pid);
	launch_tell(launch);
	launch_send_packet(launch, SUPERVISOR_SEEN, NULL, 0);
}

static void take_empty(struct launch *launch)
{
	if (!launch->state.has_others)
		return;
	launch->state.has_others = false;
	launch_tell(launch);
}

/* Sets the path of the job's terminal, which identifies the output of ranks. The process may have
 * exited already; then the path stays unset. */
static void name_terminal(struct launch *launch)
{
	char path[64];

	if (procfs_link(node_procfs(launch->node), launch->state.pid, "fd/1", path, sizeof(path)) ==
	    0)
		launch->state.terminal = xstrdup(path);
}

/* Returns the int that the packet contains; 0: its length is not that of an int. */
static int launch_take_number(const char *bytes, size_t length)
{
	int number = 0;

	if (length == sizeof(number))
		memcpy(&number, bytes, sizeof(number));
	return number;
}

static void launch_take_lost(struct launch *launch, const char *bytes, size_t length)
{
	struct supervisor_message_lost lost = { .count = 0 };

	if (length == sizeof(lost))
		memcpy(&lost, bytes, sizeof(lost));
	job_output_leave_out(launch->out, lost.count, lost.is_kept ? launch->state.log : NULL);
}

static void launch_take_packet(struct launch *launch, const char *packet, size_t length)
{
	const char *bytes = packet + 1;
	int number = launch_take_number(bytes, length - 1);

	switch ((enum supervisor_message_kind)packet[0]) {
	case SUPERVISOR_WAITS:
		launch->state.pid = number;
		launched_programs_follow(launch->starts, number);
		launch_send_packet(launch, SUPERVISOR_GO, NULL, 0);
		break;
	case SUPERVISOR_RUNS:
		launch->state.state = LAUNCHED_RUNNING;
		name_terminal(launch);
		launch_answer(launch, NULL);
		break;
	case SUPERVISOR_REFUSED:
		launch_refuse(launch, number);
		break;
	case SUPERVISOR_OUTPUT:
		job_output_add(launch->out, bytes, length - 1);
		break;
	case SUPERVISOR_LOST:
		launch_take_lost(launch, bytes, length - 1);
		break;
	case SUPERVISOR_TYPED:
		take_typed(launch, bytes, length - 1);
		break;
	case SUPERVISOR_ENDED:
		launch_take_end(launch, bytes, length - 1);
		break;
	case SUPERVISOR_EMPTY:
		take_empty(launch);
		break;
	case SUPERVISOR_GO:
	case SUPERVISOR_INPUT:
	case SUPERVISOR_SIZE:
	case SUPERVISOR_END:
	case SUPERVISOR_SEEN:
	case SUPERVISOR_TAKEN:
		break;
	}
}

/* Called when the supervisor has exited or was killed. */
static void lose_supervisor(struct launch *launch)
{
	close_socket(launch);
	job_output_flush(launch->out);
	launch_answer(launch, "the job could not be started: probetui's job supervisor has exited");
	if (launch->state.state != LAUNCHED_RUNNING)
		return;
	launch->state.state = LAUNCHED_LOST;
	launch->state.error = xstrdup("probetui's job supervisor has exited: the job has lost its "
				      "terminal, and may exit");
	launch_tell(launch);
}

static void on_packet(int fd, int events, void *data)
{
	struct launch *launch = data;
	char packet[SUPERVISOR_MAXIMUM];
	ssize_t count = 1;

	(void)events;
	for (int i = 0; i < TURN_PACKETS && count > 0; i++) {
		if (job_output_is_full(launch->out)) {
			loop_watch_stop(launch->watch);
			launch->watch = NULL;
			break;
		}
		count = recv(fd, packet, sizeof(packet), MSG_DONTWAIT);
		if (count > 0)
			launch_take_packet(launch, packet, (size_t)count);
	}
	if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR))
		lose_supervisor(launch);
	node_flush(launch->node);
}

static void on_supervisor_ended(pid_t pid, void *data)
{
	(void)data;
	waitpid(pid, &(int){ 0 }, WNOHANG);
}

/* Returns a path like "DIR/20250131-235959-4183.log", to free(); NULL: no folder for the file. */
static char *make_log_path(struct node *node)
{
	struct error error = ERROR_INIT;
	char *folder = file_state_folder("jobs", &error);
	time_t now = time(NULL);
	struct tm local;
	char stamp[32] = "";
	char *path;

	if (!folder) {
		error_prefix(&error, "the job's output cannot be kept after probetui exits");
		node_say(node, error.message);
		return NULL;
	}
	if (localtime_r(&now, &local))
		strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &local);
	path = xasprintf("%s/%s-%d.log", folder, stamp, (int)getpid());
	free(folder);
	return path;
}

static uint16_t launch_size_of(const struct message *request, const char *key, int fallback)
{
	int64_t value = json_get_integer(request->body, key, fallback);

	return value > 0 && value <= SIZE_MAXIMUM ? (uint16_t)value : (uint16_t)fallback;
}

/*
 * Returns for how many seconds the job waits if the reader of its output does not read; 0: no
 * waiting.
 */
static double waits_of(const struct message *request)
{
	double waits = json_get_real(request->body, "waits", 0);

	return waits > 0 && waits <= WAITS_MAXIMUM ? waits : 0;
}

#define OWNED_WORDS 5

/* Returns the supervisor's argv, to free(); its strings belong to launch, request and owned. */
static char **make_words(const struct launch *launch, const struct message *request, int input,
			 char **owned)
{
	const json_t *argv = json_object_get(request->body, "argv");
	size_t count = json_array_size(argv);
	char **words = xcalloc(count + JOB_SUPERVISOR_PROGRAM + 3, sizeof(*words));
	char **word = words;

	owned[0] = xasprintf("%d", launch->state.rows);
	owned[1] = xasprintf("%d", launch->state.columns);
	owned[2] = xasprintf("%" PRIu64, node_file_limit(launch->node));
	owned[3] = xasprintf("%.3f", waits_of(request));
	owned[4] = xasprintf("%d", input);
	*word++ = (char *)(uintptr_t)"probetui-node";
	*word++ = (char *)(uintptr_t)JOB_SUPERVISOR_OPTION;
	for (int i = 0; i < 3; i++)
		*word++ = owned[i];
	*word++ = launch->state.log ? launch->state.log : (char *)(uintptr_t)"";
	*word++ = (char *)(uintptr_t)json_get_string(request->body, "directory", "");
	*word++ = owned[3];
	*word++ = owned[4];
	for (size_t i = 0; i < count; i++)
		*word++ = (char *)(uintptr_t)json_string_value(json_array_get(argv, i));
	return words;
}

/*
 * Starts the supervisor, which inherits `end` of the socket as standard input, and the descriptor
 * of the job's input.
 */
static int spawn_supervisor(struct launch *launch, char **words, int end, int input)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int result;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, end, STDIN_FILENO);
	/* dup2 to the same number removes FD_CLOEXEC. */
	if (input >= 0)
		posix_spawn_file_actions_adddup2(&actions, input, input);
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
	result = posix_spawn(&launch->supervisor, "/proc/self/exe", &actions, &attributes, words,
			     environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return result;
}

static int start_supervisor(struct launch *launch, const struct message *request,
			    struct error *error)
{
	int ends[2];
	char *owned[OWNED_WORDS];
	char **words;
	int input;
	int result;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return error_set_errno(error, errno, "the job cannot be started");
	input = node_take_job_input(launch->node);
	words = make_words(launch, request, input, owned);
	result = spawn_supervisor(launch, words, ends[1], input);
	close(ends[1]);
	if (input >= 0)
		close(input);
	for (int i = 0; i < OWNED_WORDS; i++)
		free(owned[i]);
	free(words);
	if (result != 0) {
		close(ends[0]);
		launch->supervisor = 0;
		return error_set_errno(error, result, "the job cannot be started");
	}
	launch->socket = ends[0];
	launch->exit = exit_watch_new(node_loop(launch->node), launch->supervisor,
				      on_supervisor_ended, launch);
	on_room(launch);
	return 0;
}

static int launch_check_words(const json_t *argv, struct error *error)
{
	size_t count = json_array_size(argv);

	if (count == 0 || count > WORDS_MAXIMUM)
		return error_set(error, "\"argv\" is not a program with arguments");
	for (size_t i = 0; i < count; i++)
		if (!json_is_string(json_array_get(argv, i)))
			return error_set(error, "\"argv\" is not a list of strings");
	return 0;
}

/* Sets the breakpoints that new ranks get. A request without "breakpoints" changes nothing. */
static int take_breakpoints(struct launch *launch, const struct message *request,
			    struct error *error)
{
	const json_t *list = json_object_get(request->body, "breakpoints");

	if (!list)
		return 0;
	/* Checked before the job starts; later errors are reported for each rank. */
	if (breakpoint_table_check(list, error) < 0)
		return -1;
	return launched_programs_set(launch->starts, list, launch->supervisor, error);
}

static void launch_begin(struct launch *launch, const struct message *request)
{
	struct launched *state = &launch->state;

	launched_clear(state);
	state->program = xstrdup(
		json_string_value(json_array_get(json_object_get(request->body, "argv"), 0)));
	state->rows = launch_size_of(request, "rows", ROWS_DEFAULT);
	state->columns = launch_size_of(request, "columns", COLUMNS_DEFAULT);
	state->log = make_log_path(launch->node);
}

void launch_request(struct node *node, const struct message *request)
{
	struct launch *launch = node_launch(node);
	struct error error = ERROR_INIT;

	if (launch->supervisor > 0)
		error_set(&error, "a job was already started");
	else if (launch_check_words(json_object_get(request->body, "argv"), &error) == 0 &&
		 take_breakpoints(launch, request, &error) == 0) {
		launch_begin(launch, request);
		start_supervisor(launch, request, &error);
	}
	if (error_is_set(&error)) {
		node_respond(node, request, NULL, error.message);
		return;
	}
	message_make_request(&launch->request, request->name, NULL);
	launch->request.seq = request->seq;
	launch->is_asked = true;
}

/* Returns false if no job runs; the request is then answered. */
static bool check_job(struct launch *launch, const struct message *request)
{
	if (launch->socket >= 0)
		return true;
	node_respond(launch->node, request, NULL,
		     launch->supervisor > 0 ? "the job has exited" : "probetui has started no job");
	return false;
}

static void launch_respond(struct launch *launch, const struct message *request, int result)
{
	node_respond(launch->node, request, NULL,
		     result < 0 ? "probetui's job supervisor accepts no more requests: try again"
				: NULL);
}

/* Accepts all of the input, or refuses all of it. */
static void launch_take_input(struct launch *launch, const struct message *request,
			      const char *data, size_t length)
{
	if (launch->typed.length + length > TYPED_MAXIMUM) {
		node_respond(launch->node, request, NULL,
			     "the job does not read its input: 1 MB of input is waiting");
		return;
	}
	buffer_append(&launch->typed, data, length);
	type_some(launch);
	node_respond(launch->node, request, NULL, NULL);
}

void launch_input_request(struct node *node, const struct message *request)
{
	struct launch *launch = node_launch(node);
	const char *data = json_get_string(request->body, "data", "");
	size_t length = strlen(data);

	if (length > SUPERVISOR_DATA_MAXIMUM)
		node_respond(node, request, NULL, "\"data\" is longer than 16 KB");
	else if (check_job(launch, request))
		launch_take_input(launch, request, data, length);
}

void launch_taken_request(struct node *node, const struct message *request)
{
	struct launch *launch = node_launch(node);
	int64_t taken = json_get_integer(request->body, "bytes", 0);

	/* Also valid after the end of the job, whose last output is still being read. */
	if (taken > 0 && (uint64_t)taken > launch->taken) {
		launch->taken = (uint64_t)taken;
		launch->is_taken_told = false;
		tell_taken(launch);
	}
	node_respond(node, request, NULL, NULL);
}

void launch_resize_request(struct node *node, const struct message *request)
{
	struct launch *launch = node_launch(node);
	uint16_t size[2] = {
		launch_size_of(request, "rows", ROWS_DEFAULT),
		launch_size_of(request, "columns", COLUMNS_DEFAULT),
	};

	if (!check_job(launch, request))
		return;
	launch->state.rows = size[0];
	launch->state.columns = size[1];
	launch_respond(launch, request,
		       launch_send_packet(launch, SUPERVISOR_SIZE, size, sizeof(size)));
}

void launch_breakpoints_request(struct node *node, const struct message *request)
{
	struct launch *launch = node_launch(node);
	struct error error = ERROR_INIT;

	if (!check_job(launch, request))
		return;
	take_breakpoints(launch, request, &error);
	node_respond(node, request, NULL, error_is_set(&error) ? error.message : NULL);
}

void launch_end_request(struct node *node, const struct message *request)
{
	struct launch *launch = node_launch(node);
	uint8_t is_killed = json_get_boolean(request->body, "now", false);

	if (!check_job(launch, request))
		return;
	/* Ranks that a debugger has stopped would not handle the signal: they are resumed. */
	process_table_release(node_process_table(node));
	launch_respond(launch, request,
		       launch_send_packet(launch, SUPERVISOR_END, &is_killed, sizeof(is_killed)));
}
