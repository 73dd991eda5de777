/*
 * disk: how much space is left where a process writes: on the file systems of its folder and of
 * /dev/shm, in which DataLoaders and NCCL keep what processes share.
 */
#ifndef BACKENDS_LINUX_DISK_H
#define BACKENDS_LINUX_DISK_H

#include <jansson.h>
#include <sys/types.h>

struct map;
struct procfs;

/*
 * Adds {path, type, free, size} to the array disks for each of both mounts that `seen`, a map by
 * mount id, does not have yet. path: the mount point as the process sees it; type: "ext4", both
 * from /proc/PID/mountinfo (proc(5)); free and size: bytes (statvfs(3)), free without what is
 * reserved for root. Both are absent where the file system may be on a network, or be served by a
 * process: a question about one that hangs would hang, too. Adds nothing for a process that exits.
 */
void disk_add(json_t *disks, struct map *seen, struct procfs *procfs, pid_t pid);

#endif
