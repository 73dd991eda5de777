/*
 * helper: the thread or child of a rank's own for which its main thread waits, as far as the stacks
 * show it: a thread that writes a checkpoint, a process of a pool. Which thread holds a lock cannot
 * be read, so a helper is named only where no other thread or child is as likely.
 */
#ifndef MODEL_HELPER_H
#define MODEL_HELPER_H

#include <stdbool.h>

struct rank;
struct thread;

struct helper {
	const struct rank *process; /* the child, or the rank itself */
	const struct thread *thread;
};

/*
 * Fills *helper, borrowed from the rank. False: the main thread waits for no thread or child, or
 * none of them is in code of the program's own, or several are.
 */
bool helper_find(const struct rank *rank, struct helper *helper);
/* True if another thread of the rank's own moves in code of the program's own. */
bool helper_is_moving(const struct rank *rank);
/* True if the main thread waits for a thread of the rank that waits in a collective. */
bool helper_waits_for_peers(const struct rank *rank);
/*
 * The thread that runs the program for a main thread that only serves (activity.h), one with the
 * user's code rather than one that waits for it; else the main thread. Borrowed.
 */
const struct thread *helper_find_served(const struct rank *rank, const struct thread *main_thread);

#endif
