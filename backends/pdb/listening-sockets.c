#include "backends/pdb/listening-sockets.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backends/linux/procfs.h"
#include "backends/linux/task.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/map.h"

/* __SO_ACCEPTCON, the flag of a listening socket in net/unix. */
#define LISTENS 0x10000u
/* States: SS_CONNECTED in net/unix; TCP_ESTABLISHED and TCP_LISTEN in net/tcp. */
#define UNIX_CONNECTED 3u
#define TCP_CONNECTED 1u
#define TCP_LISTENS 10u
#define DESCRIPTORS_MAXIMUM 65536
#define TASKS_MAXIMUM 4096
#define POLLED_MAXIMUM 64u

/* One line of net/unix; path points into the bytes of the file. */
struct unix_line {
	uint64_t inode;
	unsigned flags;
	unsigned state;
	const char *path;
};

/* Parses a line "Num: RefCount Protocol Flags Type St Inode Path". */
static bool listening_sockets_parse_line(struct unix_line *parsed, const char *line)
{
	int length = 0;

	if (sscanf(line, "%*s %*x %*x %x %*x %x %" SCNu64 "%n", &parsed->flags, &parsed->state,
		   &parsed->inode, &length) < 3 ||
	    length == 0)
		return false;
	parsed->path = line + length;
	while (*parsed->path == ' ')
		parsed->path++;
	return true;
}

/*
 * Splits net/unix into lines. A line that does not parse belongs to the path in the line before,
 * which contains a newline.
 */
static struct unix_line *listening_sockets_split(char *bytes, size_t *count)
{
	struct unix_line *lines = NULL;
	size_t capacity = 0;
	char *line;

	*count = 0;
	while ((line = strsep(&bytes, "\n")) != NULL && bytes) {
		struct unix_line parsed;

		if (listening_sockets_parse_line(&parsed, line)) {
			if (parsed.path[0] == '\0')
				continue;
			ARRAY_GROW(lines, *count, capacity);
			lines[(*count)++] = parsed;
		} else if (*count > 0) {
			line[-1] = '\n';
		}
	}
	return lines;
}

static struct listener *listening_sockets_add(struct listening_sockets *listeners)
{
	struct listener *listener;

	ARRAY_GROW(listeners->items, listeners->count, listeners->capacity);
	listener = &listeners->items[listeners->count++];
	*listener = (struct listener){ .uid = (uid_t)-1 };
	return listener;
}

static bool listening_sockets_is_wanted(const struct unix_line *line,
					bool (*wants)(const char *path))
{
	return (line->flags & LISTENS) && (!wants || wants(line->path));
}

/* Counts the clients of each listener: an accepted socket has the path of its listening socket. */
static void count_unix(struct listening_sockets *listeners, size_t first,
		       const struct unix_line *lines, size_t count)
{
	struct strmap *by_path = strmap_new(NULL);

	for (size_t i = first; i < listeners->count; i++)
		strmap_put(by_path, listeners->items[i].path, &listeners->items[i]);
	for (size_t i = 0; i < count && strmap_count(by_path) > 0; i++) {
		struct listener *listener = strmap_find(by_path, lines[i].path);

		if (!listener || lines[i].state != UNIX_CONNECTED || (lines[i].flags & LISTENS))
			continue;
		listener->client_count++;
		if (listener->client < lines[i].inode)
			listener->client = lines[i].inode;
	}
	strmap_free(by_path);
}

void listening_sockets_parse_unix(struct listening_sockets *listeners, char *bytes,
				  bool (*wants)(const char *path))
{
	size_t first = listeners->count;
	struct unix_line *lines;
	size_t count;

	lines = listening_sockets_split(bytes, &count);
	for (size_t i = 0; i < count; i++) {
		struct listener *listener;

		if (listeners->count >= LISTENING_SOCKETS_MAXIMUM)
			break;
		if (!listening_sockets_is_wanted(&lines[i], wants))
			continue;
		listener = listening_sockets_add(listeners);
		listener->inode = lines[i].inode;
		listener->path = xstrdup(lines[i].path);
	}
	count_unix(listeners, first, lines, count);
	free(lines);
}

/* One line of net/tcp or net/tcp6. */
struct tcp_line {
	char address[33]; /* 32-bit words in hexadecimal, in the byte order of the machine */
	unsigned port;
	unsigned state;
	unsigned uid;
	uint64_t inode;
};

/* Parses a line "sl: LOCAL:PORT REMOTE:PORT ST TX:RX TR:WHEN RETRNSMT UID TIMEOUT INODE". */
static bool parse_tcp_line(struct tcp_line *parsed, const char *line)
{
	return sscanf(line, "%*s %32[0-9A-F]:%x %*s %x %*s %*s %*x %u %*d %" SCNu64,
		      parsed->address, &parsed->port, &parsed->state, &parsed->uid,
		      &parsed->inode) == 5 &&
	       parsed->port <= UINT16_MAX;
}

/* Formats the address. The wildcard address is formatted as the loopback address. */
static void name_host(char *host, size_t size, const char *hexadecimal)
{
	bool is_six = strlen(hexadecimal) == 32;
	uint32_t words[4] = { 0 };

	for (int i = 0; i < (is_six ? 4 : 1); i++)
		sscanf(hexadecimal + i * 8, "%8" SCNx32, &words[i]);
	if ((words[0] | words[1] | words[2] | words[3]) == 0)
		snprintf(host, size, "%s", is_six ? "::1" : "127.0.0.1");
	else
		inet_ntop(is_six ? AF_INET6 : AF_INET, words, host, (socklen_t)size);
}

static void count_tcp(struct listening_sockets *listeners, size_t first, unsigned port)
{
	for (size_t i = first; i < listeners->count; i++)
		if (listeners->items[i].port == (int)port)
			listeners->items[i].client_count++;
}

static void add_tcp(struct listening_sockets *listeners, const struct tcp_line *line)
{
	struct listener *listener = listening_sockets_add(listeners);

	listener->inode = line->inode;
	listener->uid = line->uid;
	listener->port = (int)line->port;
	name_host(listener->host, sizeof(listener->host), line->address);
}

/*
 * One pass is enough: the kernel lists listening sockets first, so they are known when their
 * connections are counted.
 */
void listening_sockets_parse_tcp(struct listening_sockets *listeners, char *bytes)
{
	size_t first = listeners->count;
	char *line;

	while ((line = strsep(&bytes, "\n")) != NULL) {
		struct tcp_line parsed;

		if (!parse_tcp_line(&parsed, line) || parsed.inode == 0)
			continue;
		if (parsed.state == TCP_CONNECTED)
			count_tcp(listeners, first, parsed.port);
		else if (parsed.state == TCP_LISTENS &&
			 listeners->count < LISTENING_SOCKETS_MAXIMUM)
			add_tcp(listeners, &parsed);
	}
}

int listening_sockets_add_unix(struct listening_sockets *listeners, struct procfs *procfs,
			       pid_t pid, bool (*wants)(const char *path))
{
	char *bytes;

	if (procfs_read(procfs, pid, "net/unix", &bytes, NULL) < 0)
		return -1;
	listening_sockets_parse_unix(listeners, bytes, wants);
	return 0;
}

int listening_sockets_add_tcp(struct listening_sockets *listeners, struct procfs *procfs, pid_t pid)
{
	char *bytes;

	if (procfs_read(procfs, pid, "net/tcp", &bytes, NULL) < 0)
		return -1;
	listening_sockets_parse_tcp(listeners, bytes);
	/* A kernel without IPv6 has no file net/tcp6. */
	if (procfs_read(procfs, pid, "net/tcp6", &bytes, NULL) >= 0)
		listening_sockets_parse_tcp(listeners, bytes);
	return 0;
}

void listening_sockets_clear(struct listening_sockets *listeners)
{
	for (size_t i = 0; i < listeners->count; i++)
		free(listeners->items[i].path);
	free(listeners->items);
	*listeners = (struct listening_sockets)LISTENING_SOCKETS_INIT;
}

/*
 * Opens the folder /proc/PID/name ("fd", "task"). Returns NULL and notes errno if it cannot be
 * read.
 */
static DIR *listening_sockets_open_folder(struct procfs *procfs, pid_t pid, const char *name)
{
	char path[32];
	DIR *folder;
	int fd;

	snprintf(path, sizeof(path), "%d/%s", (int)pid, name);
	fd = openat(procfs->fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		procfs_note(procfs, errno);
		return NULL;
	}
	folder = fdopendir(fd);
	if (!folder)
		close(fd);
	return folder;
}

/* Returns the INODE of a link "socket:[INODE]"; 0: the link is not a socket. */
static uint64_t read_socket(int folder, const char *name)
{
	char link[64];
	uint64_t inode;
	ssize_t length = readlinkat(folder, name, link, sizeof(link) - 1);

	if (length < 0)
		return 0;
	link[length] = '\0';
	return sscanf(link, "socket:[%" SCNu64 "]", &inode) == 1 ? inode : 0;
}

struct map *listening_sockets_held(struct procfs *procfs, pid_t pid)
{
	DIR *folder = listening_sockets_open_folder(procfs, pid, "fd");
	struct map *sockets;

	if (!folder)
		return NULL;
	sockets = map_new(NULL);
	for (int i = 0; i < DESCRIPTORS_MAXIMUM; i++) {
		const struct dirent *entry = readdir(folder);
		uint64_t inode;

		if (!entry)
			break;
		inode = read_socket(dirfd(folder), entry->d_name);
		if (inode)
			map_put(sockets, inode, sockets);
	}
	closedir(folder);
	return sockets;
}

/* True if the socket is among the first POLLED_MAXIMUM descriptors of the task's poll(2). */
static bool is_polled(struct procfs *procfs, pid_t pid, unsigned long address, unsigned long count,
		      uint64_t inode)
{
	struct pollfd polled[POLLED_MAXIMUM];
	bool is_found = false;
	char file[64];
	ssize_t length;
	int fd;

	snprintf(file, sizeof(file), "%d/mem", (int)pid);
	fd = openat(procfs->fd, file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (count > POLLED_MAXIMUM)
		count = POLLED_MAXIMUM;
	length = pread(fd, polled, count * sizeof(polled[0]), (off_t)address);
	close(fd);
	for (ssize_t i = 0; i < length / (ssize_t)sizeof(polled[0]); i++) {
		snprintf(file, sizeof(file), "%d/fd/%d", (int)pid, polled[i].fd);
		is_found |= read_socket(procfs->fd, file) == inode;
	}
	return is_found;
}

static bool is_poll(long number)
{
#ifdef SYS_poll
	if (number == SYS_poll)
		return true;
#endif
	return number == SYS_ppoll;
}

static bool is_task_accepting(struct procfs *procfs, pid_t pid, const char *tid, uint64_t inode)
{
	char file[64];
	struct task_syscall call;
	char *bytes;

	snprintf(file, sizeof(file), "task/%.16s/syscall", tid);
	if (procfs_read(procfs, pid, file, &bytes, NULL) < 0 || !task_syscall_parse(&call, bytes))
		return false;
	if (is_poll(call.number))
		return is_polled(procfs, pid, call.arguments[0], call.arguments[1], inode);
	if (call.number != SYS_accept && call.number != SYS_accept4)
		return false;
	snprintf(file, sizeof(file), "%d/fd/%d", (int)pid, (int)call.arguments[0]);
	return read_socket(procfs->fd, file) == inode;
}

static bool is_any_accepting(struct procfs *procfs, pid_t pid, uint64_t inode)
{
	DIR *folder = listening_sockets_open_folder(procfs, pid, "task");
	bool is_accepting = false;

	if (!folder)
		return false;
	for (int i = 0; i < TASKS_MAXIMUM && !is_accepting; i++) {
		const struct dirent *entry = readdir(folder);

		if (!entry)
			break;
		is_accepting = is_task_accepting(procfs, pid, entry->d_name, inode);
	}
	closedir(folder);
	return is_accepting;
}

bool listening_sockets_is_accepting(struct procfs *procfs, pid_t pid, uint64_t inode,
				    bool is_thorough)
{
	char tid[16];

	snprintf(tid, sizeof(tid), "%d", (int)pid);
	return is_task_accepting(procfs, pid, tid, inode) ||
	       (is_thorough && is_any_accepting(procfs, pid, inode));
}

#define ANSWER_MAXIMUM 4096
/* RCV_SHUTDOWN in the kernel's net/sock.h. */
#define CLOSED_FOR_READING 1

struct question {
	struct nlmsghdr header;
	struct unix_diag_req request;
};

/* Sends a question about one socket. Returns the length of the kernel's answer; -1: no answer. */
static ssize_t unix_diag_ask(int fd, uint64_t socket, void *answer, size_t size)
{
	struct question question = {
		.header = {
			.nlmsg_len = sizeof(question),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST,
		},
		.request = {
			.sdiag_family = AF_UNIX,
			.udiag_states = UINT32_MAX,
			.udiag_ino = (uint32_t)socket,
			.udiag_show = UDIAG_SHOW_VFS,
			/* This value matches any cookie. */
			.udiag_cookie = { UINT32_MAX, UINT32_MAX },
		},
	};

	if (send(fd, &question, sizeof(question), 0) < 0)
		return -1;
	/* The kernel has answered when send() returns. */
	return recv(fd, answer, size, MSG_DONTWAIT);
}

/* Copies the attribute of this kind to out. Returns false if the answer lacks it. */
static bool read_attribute(struct nlmsghdr *header, size_t length, int kind, void *out, size_t size)
{
	struct unix_diag_msg *message;
	struct rtattr *attribute;
	int left;

	if (!NLMSG_OK(header, length) || header->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    header->nlmsg_len < NLMSG_LENGTH(sizeof(*message)))
		return false;
	message = NLMSG_DATA(header);
	left = (int)(header->nlmsg_len - NLMSG_LENGTH(sizeof(*message)));
	attribute = (struct rtattr *)(message + 1);
	for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
		if (attribute->rta_type != kind || RTA_PAYLOAD(attribute) < size)
			continue;
		memcpy(out, RTA_DATA(attribute), size);
		return true;
	}
	return false;
}

static bool ask_attribute(uint64_t inode, int kind, void *out, size_t size)
{
	union {
		struct nlmsghdr header;
		char bytes[ANSWER_MAXIMUM];
	} answer;
	ssize_t length;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	if (fd < 0)
		return false;
	length = unix_diag_ask(fd, inode, &answer, sizeof(answer));
	close(fd);
	return length >= 0 && read_attribute(&answer.header, (size_t)length, kind, out, size);
}

int unix_diag_is_bound(uint64_t socket_inode, uint64_t file)
{
	struct unix_diag_vfs vfs;

	if (!ask_attribute(socket_inode, UNIX_DIAG_VFS, &vfs, sizeof(vfs)))
		return -1;
	return vfs.udiag_vfs_ino == (uint32_t)file;
}

int unix_diag_is_left(uint64_t socket_inode)
{
	uint8_t closed;

	if (!ask_attribute(socket_inode, UNIX_DIAG_SHUTDOWN, &closed, sizeof(closed)))
		return -1;
	return (closed & CLOSED_FOR_READING) != 0;
}
