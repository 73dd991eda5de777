/*
 * disk: how much space is left where a process writes: in its folder, /tmp and /dev/shm, which
 * DataLoaders and NCCL use for what processes share.
 */
#ifndef BACKENDS_LINUX_DISK_H
#define BACKENDS_LINUX_DISK_H

#include <jansson.h>

struct process;

/*
 * Returns a new array of {path, type, free, size}, as the process sees the paths, one item for each
 * file system. type: "ext4", from /proc/PID/mounts (proc(5)); free, size: bytes (statvfs(3)), free
 * without what is reserved for root. Both are absent where the file system may be on a network, or
 * be served by a process: a question about one that hangs would hang, too. A path that cannot be
 * looked at, or is a symbolic link, is left out.
 */
json_t *disk_read(const struct process *process);

#endif
