/*
 * transport: which hosts a target of --on names, and what is started for each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "engine/transport.h"

static const struct transport_flags flags = { "-p 2222", NULL };

/* The names of the hosts, with blanks between; or "! " and the error. */
static void check_names(const char *target, const char *expected)
{
	struct machines machines = MACHINES_INIT;
	struct error error = ERROR_INIT;
	struct buffer names = BUFFER_INIT;

	if (machines_add(&machines, target, &flags, &error) < 0)
		buffer_printf(&names, "! %s", error.message);
	else
		for (size_t i = 0; i < machines.count; i++)
			buffer_printf(&names, "%s%s", i > 0 ? " " : "", machines.items[i].name);
	assert_string_equal(names.data, expected);
	machines_clear(&machines);
	buffer_clear(&names);
}

static void hosts_are_listed(void **state)
{
	(void)state;
	check_names("ssh:gpu1", "gpu1");
	check_names("ssh:gpu[08-11],login,a[1,3-4]b", "gpu08 gpu09 gpu10 gpu11 login a1b a3b a4b");
	check_names("ssh:r[1-2]n[a,b]", "r1na r1nb r2na r2nb");
	check_names("ssh:dev@10.0.0.[1-2]", "dev@10.0.0.1 dev@10.0.0.2");
}

static void wrong_hosts_are_refused(void **state)
{
	(void)state;
	check_names("ssh:-oProxyCommand=sh", "! '-oProxyCommand=sh' is not a host name");
	check_names("ssh:a b", "! 'a b' is not a host name");
	check_names("ssh:a,", "! missing host name");
	check_names("ssh:gpu*", "! 'gpu*' has a wildcard: list the hosts, as in n[01-04]");
	check_names("ssh:n[1-", "! missing closing bracket");
	check_names("ssh:n[1-999999999]", "! more than 4096 hosts");
	check_names("ssh:",
		    "! 'ssh:' names no machines: use ssh:HOSTS, slurm:JOB, hostfile:FILE or "
		    "exec:HOSTS:COMMAND");
	check_names("exec:a", "! use exec:HOSTS:COMMAND, where %h in COMMAND stands for the host");
	check_names("slurm:x", "! 'x' is not the number of a Slurm job");
	check_names("hostfile:/no/such/file",
		    "! cannot open the host file /no/such/file: No such file or directory");
}

static void a_host_file_has_a_host_a_line(void **state)
{
	char path[64];
	char target[80];
	FILE *file;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/test-transport-%d", (int)getpid());
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("# hosts\ngpu01 slots=8\n\n  gpu02:8\ngpu03# the last\ngpu01", file);
	fclose(file);
	snprintf(target, sizeof(target), "hostfile:%s", path);
	check_names(target, "gpu01 gpu02 gpu03");
	unlink(path);
}

/* The shell command has the host at each mark, and the node's start behind it. */
static void exec_names_the_host(void **state)
{
	struct machines machines = MACHINES_INIT;
	struct error error = ERROR_INIT;

	(void)state;
	setenv("PROBETUI_NODE", "/bin/true", 1);
	assert_int_equal(machines_add(&machines, "exec:a,b:enter --at %h %h:1", &flags, &error), 0);
	assert_string_equal(machines.items[1].client, "enter");
	assert_string_equal(machines.items[1].argv[0], "/bin/sh");
	assert_string_equal(machines.items[1].argv[2],
			    "enter --at b b:1 sh -c 'p=/bin/true; [ -x $p ] || p=probetui-node; "
			    "exec $p'");
	machines_clear(&machines);
	assert_int_equal(machines_add(&machines, "ssh:a", &flags, &error), 0);
	assert_string_equal(machines.items[0].client, "ssh");
	assert_string_equal(machines.items[0].argv[9], "-p");
	assert_string_equal(machines.items[0].argv[10], "2222");
	assert_string_equal(machines.items[0].argv[12], "a");
	assert_null(machines.items[0].argv[14]);
	machines_clear(&machines);
}

/* A path that a shell would read otherwise is not sent. */
static void a_strange_path_is_not_sent(void **state)
{
	struct machines machines = MACHINES_INIT;
	struct error error = ERROR_INIT;
	char path[64];

	(void)state;
	setenv("PROBETUI_NODE", "/bin/../bin/./true", 1);
	assert_int_equal(machines_add(&machines, "exec:a:x", &flags, &error), 0);
	assert_non_null(strstr(machines.items[0].argv[2], "p=/bin/../bin/./true"));
	machines_clear(&machines);
	snprintf(path, sizeof(path), "/tmp/test transport %d", (int)getpid());
	assert_int_equal(symlink("/bin/true", path), 0);
	setenv("PROBETUI_NODE", path, 1);
	assert_int_equal(machines_add(&machines, "exec:a:x", &flags, &error), 0);
	assert_string_equal(machines.items[0].argv[2], "x sh -c 'exec probetui-node'");
	machines_clear(&machines);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_are_listed),
		cmocka_unit_test(wrong_hosts_are_refused),
		cmocka_unit_test(a_host_file_has_a_host_a_line),
		cmocka_unit_test(exec_names_the_host),
		cmocka_unit_test(a_strange_path_is_not_sent),
	};

	return cmocka_run_group_tests_name("transport", tests, NULL, NULL);
}
