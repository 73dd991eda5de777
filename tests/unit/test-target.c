/* target: what names a way to a process, and what does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "banned.h"
#include "backends/target.h"
#include "base/array.h"
#include "base/error.h"

#define LONG "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/"

static void good_ones_are_taken_apart(void **state)
{
	static const struct {
		const char *text;
		struct target target;
		const char *backend;
	} rows[] = {
		{ "ptrace:4183", { .kind = TARGET_PTRACE, .pid = 4183 }, "ptrace" },
		{ "pdb:unix:/tmp/pdb sock.1",
		  { .kind = TARGET_PDB_UNIX, .path = "/tmp/pdb sock.1" },
		  "pdb" },
		{ "pdb:unix:@pdb", { .kind = TARGET_PDB_UNIX, .path = "@pdb" }, "pdb" },
		{ "pdb:tcp:gpu01:4444",
		  { .kind = TARGET_PDB_TCP, .host = "gpu01", .port = 4444 },
		  "pdb" },
		{ "pdb:tcp:[::1]:65535",
		  { .kind = TARGET_PDB_TCP, .host = "::1", .port = 65535 },
		  "pdb" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		const struct target *wanted = &rows[i].target;
		struct error error = ERROR_INIT;
		struct target target;
		struct target copy;

		target_parse(&target, rows[i].text, &error);
		assert_string_equal(error.message, "");
		target_copy(&copy, &target);
		target_clear(&target);
		assert_int_equal(copy.kind, wanted->kind);
		assert_int_equal(copy.pid, wanted->pid);
		assert_int_equal(copy.port, wanted->port);
		assert_string_equal(copy.text, rows[i].text);
		assert_string_equal(copy.path ? copy.path : "", wanted->path ? wanted->path : "");
		assert_string_equal(copy.host ? copy.host : "", wanted->host ? wanted->host : "");
		assert_string_equal(target_backend(&copy), rows[i].backend);
		target_clear(&copy);
	}
}

static void bad_ones_are_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"pdb",
		"pdb:",
		"pdb:unix",
		"pdb:unix:",
		"pdb:unix:tmp/pdb.sock",
		"pdb:unix:/" LONG LONG,
		"pdb:tcp:",
		"pdb:tcp:gpu01",
		"pdb:tcp::4444",
		"pdb:tcp:[]:4444",
		"pdb:tcp:::1:4444",
		"pdb:tcp:gpu01:",
		"pdb:tcp:gpu01:0",
		"pdb:tcp:gpu01:65536",
		"pdb:tcp:gpu01:99999999999999999999",
		"pdb:tcp:gpu01: 4444",
		"pdb:tcp:gpu01:4444x",
		"pdb:tcp:" LONG LONG LONG LONG ":4444",
		"ptrace:",
		"ptrace:-1",
		"ptrace:1e3",
		"ptrace:4194305",
		"agent:99999999",
		"PDB:unix:/tmp/pdb.sock",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		struct error error = ERROR_INIT;
		struct target target;

		assert_int_equal(target_parse(&target, texts[i], &error), -1);
		assert_non_null(strchr(error.message, ' '));
		assert_int_not_equal(error.message[strlen(error.message) - 1], '.');
		assert_null(target.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_ones_are_taken_apart),
		cmocka_unit_test(bad_ones_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
