/* What listens, by the lines of /proc/PID/net, and the names of its files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "backends/pdb/listening-sockets.h"
#include "backends/pdb/socket-file.h"

#define HEAD "Num       RefCount Protocol Flags    Type St Inode Path\n"
#define LISTENS(inode, path)                                                                       \
	"0000000000000000: 00000002 00000000 00010000 0001 01 " inode " " path "\n"
#define CONNECTED(inode, path)                                                                     \
	"0000000000000000: 00000003 00000000 00000000 0001 03 " inode " " path "\n"

static struct listening_sockets parse_unix(const char *text, bool (*wants)(const char *path))
{
	struct listening_sockets listeners = LISTENING_SOCKETS_INIT;
	char bytes[2048];

	snprintf(bytes, sizeof(bytes), "%s", text);
	listening_sockets_parse_unix(&listeners, bytes, wants);
	return listeners;
}

static void those_that_listen_are_found(void **state)
{
	struct listening_sockets found =
		parse_unix(HEAD CONNECTED("10", "/tmp/pdb.sock.0") LISTENS(" 11", "/tmp/pdb.sock.0")
				   LISTENS("12", "/run/other") LISTENS("13", "")
					   CONNECTED("14", "/tmp/pdb.sock.0"),
			   socket_file_is_debugger);

	(void)state;
	assert_int_equal(found.count, 1);
	assert_int_equal(found.items[0].inode, 11);
	assert_string_equal(found.items[0].path, "/tmp/pdb.sock.0");
	assert_int_equal(found.items[0].client_count, 2);
	listening_sockets_clear(&found);
}

static void a_newline_is_part_of_a_path(void **state)
{
	struct listening_sockets found = parse_unix(
		HEAD LISTENS("11", "/tmp/pdb\n\nnot a line") LISTENS("12", "/tmp/pdb.2\n"), NULL);

	(void)state;
	assert_int_equal(found.count, 2);
	assert_string_equal(found.items[0].path, "/tmp/pdb\n\nnot a line");
	assert_string_equal(found.items[1].path, "/tmp/pdb.2\n");
	listening_sockets_clear(&found);
}

static void rubbish_is_nothing(void **state)
{
	static const char *const texts[] = {
		"",
		"\n",
		HEAD,
		"0: 1",
		HEAD "\n\n\n",
		HEAD "0: 2 0 zz 1 1 5 /tmp/pdb\n",
		HEAD "0: 2 0 10000 1 1 5 /tmp/pdb",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct listening_sockets found = parse_unix(texts[i], NULL);

		assert_int_equal(found.count, 0);
		listening_sockets_clear(&found);
	}
}

static void ports_are_found(void **state)
{
	char text[] =
		"  sl  local_address rem_address   st tx_queue rx_queue tr tm\n"
		"   0: 0100007F:115C 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000 "
		"       0 111 1 0 100 0 0 10 0\n"
		"   1: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0 "
		"       0 112 1 0 100 0 0 10 0\n"
		"   2: 0100007F:115C 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000 "
		"       0 113 1 0 100 0 0 10 0\n"
		"   3: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 "
		"0A 00000000:00000000 00:00000000 00000000     0        0 114 1 0 100 0 0 10 0\n"
		"   4: rubbish\n";
	struct listening_sockets found = LISTENING_SOCKETS_INIT;

	(void)state;
	listening_sockets_parse_tcp(&found, text);
	assert_int_equal(found.count, 3);
	assert_string_equal(found.items[0].host, "127.0.0.1");
	assert_int_equal(found.items[0].port, 4444);
	assert_int_equal(found.items[0].uid, 1000);
	assert_int_equal(found.items[0].inode, 111);
	assert_int_equal(found.items[0].client_count, 1);
	assert_string_equal(found.items[1].host, "127.0.0.1");
	assert_string_equal(found.items[2].host, "::1");
	assert_int_equal(found.items[2].port, 8080);
	listening_sockets_clear(&found);
}

struct example {
	const char *path;
	bool is_debugger;
	int rank;
	pid_t pid;
};

static void names_have_numbers(void **state)
{
	static const struct example examples[] = {
		{ "/tmp/pdb.sock.3", true, 3, 0 },
		{ "/tmp/pdb.sock.4711-0badcafe.3", true, 3, 4711 },
		{ "/tmp/pdb.sock.3.4711", true, 3, 4711 },
		{ "/tmp/pdb-0/3.sock", true, 3, 0 },
		{ "/tmp/pdb-0/3.4711.sock", true, 3, 4711 },
		{ "/tmp/pdb-0/x.sock", true, -1, 0 },
		{ "/tmp/pdb-x/3.sock", false, -1, 0 },
		{ "/tmp/pdb-/3.sock", false, -1, 0 },
		{ "/tmp/pdb-0/3", false, -1, 0 },
		{ "/tmp/pdb.sock.", true, -1, 0 },
		{ "/tmp/pdb.sock.-.", true, -1, 0 },
		{ "/tmp/pdb.sock.99999999999999999999", true, -1, 0 },
		{ "/tmp/pdb.sock.-3", true, -1, 0 },
		{ "/tmp/my-pdb", true, -1, 0 },
		{ "/pdb/sock", false, -1, 0 },
		{ "pdb.sock.3", true, 3, 0 },
		{ "@pdb", true, -1, 0 },
		{ "", false, -1, 0 },
		{ "/", false, -1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		const struct example *example = &examples[i];
		struct socket_name name;

		socket_file_read_name(&name, example->path);
		if (socket_file_is_debugger(example->path) != example->is_debugger ||
		    name.rank != example->rank || name.pid != example->pid)
			fail_msg("%s: rank %d, process %d", example->path, name.rank,
				 (int)name.pid);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_that_listen_are_found),
		cmocka_unit_test(a_newline_is_part_of_a_path),
		cmocka_unit_test(rubbish_is_nothing),
		cmocka_unit_test(ports_are_found),
		cmocka_unit_test(names_have_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
