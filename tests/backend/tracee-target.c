/*
 * tracee-target MODE [N]: a process that notices when it is not left alone, for
 * tests. It prints "PID ADDRESS" (of an 8-byte word that it writes all the
 * time), waits for a line, works, and prints what came out.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "banned.h"

#include "base/array.h"

#define MULTIPLIER UINT64_C(6364136223846793005)

static volatile uint64_t word;
static volatile sig_atomic_t counts[64];
static volatile long value_sum;
static volatile sig_atomic_t senders_wrong;
static char *program;

/* Each step depends on all before it. */
static uint64_t work(long count)
{
	uint64_t sum = 1;

	for (long i = 0; i < count; i++) {
		word = sum;
		sum = word * MULTIPLIER + (uint64_t)i;
	}
	return sum;
}

static int loop(long count)
{
	printf("%016" PRIx64 "\n", work(count));
	return 0;
}

/* The same at a pace: a kill may come between any two of its writes. */
static int walk(long count)
{
	uint64_t sum = 1;

	for (long i = 0; i < count; i++) {
		sum = sum * MULTIPLIER + work(20);
		usleep(100);
	}
	printf("%016" PRIx64 "\n", sum);
	return 0;
}

#ifdef __x86_64__
typedef double vector __attribute__((vector_size(32)));

/* What is in wide registers stays in them, from one write to the next. */
__attribute__((target("avx"))) static double work_widely(long count)
{
	vector sum = { 1, 2, 3, 4 };
	const vector more = { 1.5, 0.25, 1.125, 0.75 };

	for (long i = 0; i < count; i++) {
		sum = sum * 0.999 + more;
		__asm__ volatile("" : "+x"(sum));
	}
	return sum[0] + sum[1] * 3 + sum[2] * 5 + sum[3] * 7;
}
#else
static double work_widely(long count)
{
	return (double)count;
}
#define __builtin_cpu_supports(name) true
#endif

/* Each sum is in registers all the time. */
static int work_with_floats(long count)
{
	double sum = 1;
	long double precise = 1;
	double wide = 0;

	for (long i = 0; i < count; i++) {
		for (int k = 0; k < 2000; k++) {
			sum = sum * 0.99 + k;
			precise = precise * 0.97L + k;
		}
		if (__builtin_cpu_supports("avx"))
			wide += work_widely(2000);
		word++;
	}
	printf("%a %La %a\n", sum, precise, wide);
	return 0;
}

static void count_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	counts[number]++;
	value_sum += info->si_value.sival_int;
	if (info->si_pid != getppid())
		senders_wrong++;
}

static void handle(int number, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART };

	sigemptyset(&action.sa_mask);
	sigaction(number, &action, NULL);
}

/* Of queued signals each is counted, and says who sent it, and a number. */
static int count_signals(long count)
{
	while (counts[SIGRTMIN] < count)
		work(10);
	printf("%d %ld %d\n", (int)counts[SIGRTMIN], value_sum, (int)senders_wrong);
	return 0;
}

static int be_alarmed(long count)
{
	const struct itimerval often = { { 0, 1000 }, { 0, 1000 } };

	handle(SIGALRM, count_signal);
	setitimer(ITIMER_REAL, &often, NULL);
	while (counts[SIGALRM] < count)
		work(10);
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	printf("alarms\n");
	return 0;
}

/* 0: SIGTRAP does what it does at first. */
static int ask_disposition(void)
{
	struct sigaction action;

	sigaction(SIGTRAP, NULL, &action);
	if (action.sa_handler != SIG_DFL)
		return 1;
	return action.sa_flags & SA_SIGINFO ? 2 : 0;
}

static int disposition(long unused)
{
	(void)unused;
	return ask_disposition();
}

static void reap(int number, siginfo_t *info, void *context)
{
	int number_before = errno;
	int status;

	(void)number;
	(void)info;
	(void)context;
	while (waitpid(-1, &status, WNOHANG) > 0)
		counts[WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 1 : 2]++;
	errno = number_before;
}

/* A storm of SIGCHLD; each child writes where the parent is watched. */
static int have_children(long count)
{
	handle(SIGCHLD, reap);
	for (long i = 0; i < count; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			work(100);
			_exit(ask_disposition());
		}
		work(10);
	}
	while (counts[1] + counts[2] < count)
		work(10);
	printf("%d %d\n", (int)counts[1], (int)counts[2]);
	return 0;
}

static int spawn_one(int way)
{
	char *words[] = { program, (char *)"disposition", NULL };
	pid_t pid = 0;
	int status;

	if (way == 0) {
		if (posix_spawn(&pid, program, NULL, NULL, words, NULL) != 0)
			return 1;
	} else {
		pid = vfork();
		if (pid == 0) {
			execv(program, words);
			_exit(9);
		}
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 1;
	return WEXITSTATUS(status);
}

static int spawn(long count)
{
	int wrong = 0;

	for (long i = 0; i < count; i++) {
		work(10);
		wrong += spawn_one(i % 2) != 0;
	}
	printf("%d\n", wrong);
	return 0;
}

/* Nobody can wake it before its child is another program. */
static int sleep_deeply(long unused)
{
	char *words[] = { program, (char *)"disposition", NULL };
	pid_t pid = vfork();
	char line[3];
	int status;

	(void)unused;
	if (pid == 0) {
		/* "go\n", for the second time */
		if (read(STDIN_FILENO, line, sizeof(line)) > 0)
			execv(program, words);
		_exit(9);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 1;
	printf("%d %016" PRIx64 "\n", WEXITSTATUS(status), work(2000));
	return 0;
}

/* What SIGTRAP does in it afterwards, once it is asked by a signal. */
static int wake_up(long unused)
{
	int result = sleep_deeply(unused);

	fflush(stdout);
	while (counts[SIGRTMIN] == 0)
		usleep(1000);
	printf("%d\n", ask_disposition());
	return result;
}

static int become(long count)
{
	char text[24];
	char *words[] = { program, (char *)"afterwards", text, NULL };

	work(100);
	snprintf(text, sizeof(text), "%ld", count);
	execv(program, words);
	return 9;
}

static int afterwards(long count)
{
	printf("%d %016" PRIx64 "\n", ask_disposition(), work(count));
	return 0;
}

static void *become_in_a_thread(void *data)
{
	become(*(long *)data);
	return NULL;
}

static int become_elsewhere(long count)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, become_in_a_thread, &count);
	pthread_join(threads[0], NULL);
	return 9;
}

static void *work_a_little(void *data)
{
	*(uint64_t *)data = work(5);
	return data;
}

static int make_threads(long count)
{
	uint64_t sums[4];
	pthread_t threads[ARRAY_LENGTH(sums)];

	for (long i = 0; i < count; i += (long)ARRAY_LENGTH(sums)) {
		for (size_t k = 0; k < ARRAY_LENGTH(sums); k++)
			pthread_create(&threads[k], NULL, work_a_little, &sums[k]);
		for (size_t k = 0; k < ARRAY_LENGTH(sums); k++)
			pthread_join(threads[k], NULL);
	}
	printf("threads\n");
	return 0;
}

/* data: a semaphore. pthread_create() blocks all signals of a thread until the
 * function of the thread is called. */
static void *sleep_for_ever(void *data)
{
	sem_post(data);
	for (;;)
		pause();
	return data;
}

/* Its threads are there before it says that it is ready. */
static void have_threads(long count)
{
	static sem_t begun;
	pthread_attr_t attributes;
	pthread_t thread;

	sem_init(&begun, 0, 0);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64 << 10);
	for (long i = 0; i < count; i++)
		pthread_create(&thread, &attributes, sleep_for_ever, &begun);
	for (long i = 0; i < count; i++)
		sem_wait(&begun);
}

static int trap_itself(long unused)
{
	(void)unused;
	work(100);
	raise(SIGTRAP);
	printf("lived\n");
	return 0;
}

/* It sets its handler while it is watched, and has it after that, too. */
static int trap_with_handler(long count)
{
	struct sigaction now;

	work(100);
	handle(SIGTRAP, count_signal);
	raise(SIGTRAP);
	printf("%d\n", (int)counts[SIGTRAP]);
	fflush(stdout);
	while (counts[SIGRTMIN] < count)
		work(10);
	sigaction(SIGTRAP, NULL, &now);
	raise(SIGTRAP);
	printf("%d %d\n", (int)counts[SIGTRAP], now.sa_sigaction == count_signal);
	return 0;
}

static int trap_by_instruction(long unused)
{
	(void)unused;
	work(100);
	__asm__ volatile("int3");
	return 0;
}

static int trap_by_int1(long unused)
{
	(void)unused;
	work(100);
	__asm__ volatile("int1");
	return 0;
}

/* Whether int1 is a fault, which the thread is before: it would be executed for ever. */
static bool int1_faults;

static void pass_int1(int number, siginfo_t *info, void *context)
{
	ucontext_t *user = context;
	const unsigned char *instruction = info->si_addr;

	(void)number;
	int1_faults = *instruction == 0xf1;
	if (int1_faults)
		user->uc_mcontext.gregs[REG_RIP]++;
}

/* 1: int1 is a fault here. */
static int fault_by_int1(long unused)
{
	struct sigaction action = { .sa_sigaction = pass_int1, .sa_flags = SA_SIGINFO };

	(void)unused;
	sigaction(SIGTRAP, &action, NULL);
	__asm__ volatile("int1");
	return int1_faults;
}

/* The instruction behind an int1. */
extern const char behind_int1[] __attribute__((visibility("hidden")));

__attribute__((noinline)) static int trap_before_watched(long unused)
{
	(void)unused;
	work(100);
	__asm__ volatile("int1\nbehind_int1: nop");
	printf("lived\n");
	return 0;
}

/* As a debug exception that DR6 says nothing of; it is not forced. */
static int trap_unexplained(long unused)
{
	static const char nops[] = "\x90\x90";
	siginfo_t info = {
		.si_signo = SIGTRAP,
		.si_code = TRAP_BRKPT,
		.si_addr = (void *)(nops + 1),
	};

	(void)unused;
	work(100);
	syscall(SYS_rt_tgsigqueueinfo, getpid(), getpid(), SIGTRAP, &info);
	printf("lived\n");
	return 0;
}

/* 1: a system call came back otherwise than it should. */
static int sleep_well(long count)
{
	int wrong = 0;
	int ends[2];
	char byte;
	struct timespec begin, end;

	if (pipe(ends) < 0)
		return 9;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (long i = 0; i < count; i++) {
		struct pollfd one = { ends[0], POLLIN, 0 };
		wrong += poll(&one, 1, 20) != 0;
		wrong += usleep(20000) != 0;
		if (fork() == 0) {
			usleep(10000);
			_exit(write(ends[1], "x", 1) != 1);
		}
		wrong += read(ends[0], &byte, 1) != 1;
		wrong += wait(NULL) <= 0;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	long spent = (end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000;
	printf("%d %d\n", wrong, spent >= 50 * count);
	return 0;
}

static int confine_itself(long unused)
{
	(void)unused;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) < 0 ||
	    write(STDOUT_FILENO, "confined\n", 9) < 0)
		return 9;
	for (;;)
		;
}

static int block_traps(long count)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	printf("blocked\n");
	fflush(stdout);
	while (counts[SIGRTMIN] < count)
		work(10);
	printf("%016" PRIx64 "\n", work(2000));
	return 0;
}

static void await_line(void)
{
	char line[3];

	if (read(STDIN_FILENO, line, sizeof(line)) != sizeof(line))
		_exit(9);
}

static int say_blocked(void)
{
	printf("blocked\n");
	fflush(stdout);
	return 0;
}

/* As the C library does while it makes a thread or a child: all signals, its
 * own two, which sigfillset() leaves out, among them. */
static int block_all(long count)
{
	const uint64_t all = UINT64_MAX;
	uint64_t before = 0;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
	say_blocked();
	await_line();
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
	printf("%016" PRIx64 "\n", work(count));
	return 0;
}

/* As CPython's subprocess does. */
static int block_and_vfork(long count)
{
	sigset_t set, before;
	pid_t pid;
	int status;

	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, &before);
	say_blocked();
	pid = vfork();
	if (pid == 0) {
		await_line();
		_exit(0);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (waitpid(pid, &status, 0) != pid || status != 0)
		return 1;
	printf("%016" PRIx64 "\n", work(count));
	return 0;
}

static const struct {
	const char *name;
	int (*run)(long count);
	bool is_silent; /* it works at once */
	int ignored;	/* a signal that it ignores */
} modes[] = {
	{ "loop", loop, false, 0 },
	{ "walk", walk, false, 0 },
	{ "floats", work_with_floats, false, 0 },
	{ "signals", count_signals, false, 0 },
	{ "alarms", be_alarmed, false, 0 },
	{ "children", have_children, false, 0 },
	{ "spawn", spawn, false, 0 },
	{ "deep-sleep", sleep_deeply, false, 0 },
	{ "wakes", wake_up, false, 0 },
	{ "exec", become, false, 0 },
	{ "exec-elsewhere", become_elsewhere, false, 0 },
	{ "afterwards", afterwards, true, 0 },
	{ "disposition", disposition, true, 0 },
	{ "threads", make_threads, false, 0 },
	{ "many", loop, false, 0 },
	{ "pair", loop, false, 0 },
	{ "trap", trap_itself, false, 0 },
	{ "trap-ignored", trap_itself, false, SIGTRAP },
	{ "trap-int3", trap_by_instruction, false, 0 },
	{ "trap-before", trap_before_watched, false, 0 },
	{ "trap-int1", trap_by_int1, false, 0 },
	{ "int1-faults", fault_by_int1, true, 0 },
	{ "trap-unexplained", trap_unexplained, false, 0 },
	{ "trap-handled", trap_with_handler, false, 0 },
	{ "confined", confine_itself, false, 0 },
	{ "blocks", block_traps, false, 0 },
	{ "blocks-all", block_all, false, 0 },
	{ "blocks-vforks", block_and_vfork, false, 0 },
	{ "sleeps", sleep_well, false, 0 },
};

static void get_ready(size_t mode)
{
	char line[16];

	if (modes[mode].ignored)
		signal(modes[mode].ignored, SIG_IGN);
	handle(SIGRTMIN, count_signal);
	if (strcmp(modes[mode].name, "many") == 0)
		have_threads(500);
	else if (strcmp(modes[mode].name, "blocks-vforks") == 0 ||
		 strcmp(modes[mode].name, "pair") == 0)
		have_threads(1);
	printf("%d %#" PRIxPTR "\n", (int)getpid(),
	       strcmp(modes[mode].name, "trap-before") == 0 ? (uintptr_t)behind_int1
							    : (uintptr_t)&word);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		_exit(9);
}

int main(int count, char **words)
{
	int result = 9;

	program = words[0];
	for (size_t i = 0; count >= 2 && i < ARRAY_LENGTH(modes); i++) {
		if (strcmp(words[1], modes[i].name) != 0)
			continue;
		if (!modes[i].is_silent)
			get_ready(i);
		result = modes[i].run(count > 2 ? strtol(words[2], NULL, 10) : 0);
		fflush(stdout);
		break;
	}
	_exit(result);
}
