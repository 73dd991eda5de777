#include "backends/pdb/unix-diag.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "banned.h"

#define ANSWER_MAXIMUM 4096
/* RCV_SHUTDOWN of the kernel's net/sock.h. */
#define CLOSED_FOR_READING 1

struct question {
	struct nlmsghdr header;
	struct unix_diag_req request;
};

/* Returns the length of the kernel's answer; -1: none. */
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
			/* Matches any cookie. */
			.udiag_cookie = { UINT32_MAX, UINT32_MAX },
		},
	};

	if (send(fd, &question, sizeof(question), 0) < 0)
		return -1;
	/* The kernel answers within send(). */
	return recv(fd, answer, size, MSG_DONTWAIT);
}

/* Copies the attribute of that kind to out; false: missing. */
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
