/* evidence: what is masked, and what error files and the kernel's log say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "backends/linux/oom.h"
#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/json.h"
#include "base/secret.h"
#include "protocol/error-text.h"

#define A30 "Aa0Bb1Cc2Dd3Ee4Ff5Gg6Hh7Ii8Jj9"

static void values_of_secrets_are_masked(void **state)
{
	static const char *const rows[][2] = {
		{ "api_key='s3cret' x", "api_key=<masked> x" },
		{ "{\"Token\": \"a\\\"b\", 1}", "{\"Token\": <masked>, 1}" },
		{ "run --password hunter2 -v", "run --password <masked> -v" },
		{ "MY_SECRET = abc\nnext", "MY_SECRET = <masked>\nnext" },
		{ "url?token=abc&x=1", "url?token=<masked>&x=1" },
		{ "passwd='hunter2'", "passwd=<masked>" },
		{ "db_pwd: hunter2", "db_pwd: <masked>" },
		{ "credentials=AKIA x", "credentials=<masked> x" },
		{ "KeyError: 'loss'", "KeyError: 'loss'" },
		{ "tokens per second: 3", "tokens per second: 3" },
		{ "key='open", "key=<masked>" },
		{ "token: hf_abc\nnext", "token: <masked>\nnext" },
		{ "X-Api-Key: 12 x", "X-Api-Key: <masked> x" },
		{ "invalid key: loss", "invalid key: loss" },
		{ "{\\\"password\\\": \\\"a\\\", 1}", "{\\\"password\\\": <masked>, 1}" },
		{ "Authorization: Bearer abc x", "Authorization: <masked> x" },
		{ "authorization: Basic dXNlcg==\nx", "authorization: <masked>\nx" },
		{ "{'Authorization': 'Bearer a b'}", "{'Authorization': <masked>}" },
		{ "sent Bearer abcdefgh, refused", "sent Bearer <masked>, refused" },
		{ "the bearer of news", "the bearer of news" },
		{ "at https://bob:pw@host/x?y", "at https://<masked>@host/x?y" },
		{ "https://host/a@b c@d", "https://host/a@b c@d" },
		{ "://@", "://@" },
		{ "key=", "key=" },
		/* The strings are split so that scanners do not take them for secrets. */
		{ "with gh"
		  "p_" A30 "!",
		  "with <masked>!" },
		{ "('gh"
		  "p_" A30 "',)",
		  "('<masked>',)" },
		{ "line\\nhf"
		  "_" A30,
		  "line\\n<masked>" },
		{ "hf_model_of_the_year_in_thirty_letters",
		  "hf_model_of_the_year_in_thirty_letters" },
		{ "at AK"
		  "IAABCDEFGHIJKLMNOP, x",
		  "at <masked>, x" },
		{ "sk"
		  "-proj-" A30 "-x_y rest",
		  "<masked> rest" },
		{ "sk-learn-contrib-and-more", "sk-learn-contrib-and-more" },
		{ "my-eyJ"
		  "hbGciOiJIUzI1NiJ9.eyJ" A30 ".dozjgNryP4 end",
		  "my-<masked> end" },
		{ "-----BEGIN RSA PRIVATE "
		  "KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----\nz",
		  "-----BEGIN RSA PRIVATE KEY-----<masked>\n\n\n-----END RSA PRIVATE KEY-----\nz" },
		{ "'-----BEGIN PRIVATE "
		  "KEY-----\\nMIIE...",
		  "'-----BEGIN PRIVATE KEY-----<masked>..." },
		{ "\033[32mgh"
		  "p_" A30 "\033[0m",
		  "\033[32m<masked>\033[0m" },
		{ "'\\x1b[1;32mgh"
		  "p_" A30 "'",
		  "'\\x1b[1;32m<masked>'" },
		{ "-----BEGIN PRIVATE "
		  "KEY-----\nr0 | " A30 "\nr0 | " A30 "=\nr0 | step 4\n",
		  "-----BEGIN PRIVATE KEY-----<masked>\n\n\nr0 | step 4\n" },
		{ "-----BEGIN CERTIFICATE-----\nMIIE", "-----BEGIN CERTIFICATE-----\nMIIE" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct buffer out = BUFFER_INIT;

		secret_mask(&out, rows[i][0]);
		assert_string_equal(out.data, rows[i][1]);
		assert_int_equal(secret_is_in(rows[i][0]) || strcmp(rows[i][0], rows[i][1]) == 0,
				 true);
		buffer_clear(&out);
	}
}

static void literals_of_source_are_masked(void **state)
{
	static const char *const rows[][2] = {
		{ "password = 'hunter2'\nx = 'y'", "password = '<masked>'\nx = 'y'" },
		{ "db(host='a', password='hunter2', port=1)",
		  "db(host='a', password='<masked>', port=1)" },
		{ "{\"password\": \"hunter2\", \"name\": \"a\"}",
		  "{\"password\": \"<masked>\", \"name\": \"a\"}" },
		{ "token = f'{user}:hunter2' # x", "token = f'<masked>' # x" },
		{ "key_text = rb\"a\\\"b\" 'c'", "key_text = rb\"<masked>\" '<masked>'" },
		{ "KEY = \"\"\"a\n\"b\"\nc\"\"\"\nb = 'c'",
		  "KEY = \"\"\"<masked>\n\n\"\"\"\nb = 'c'" },
		{ "token = (\n  'a'\n  'b')\nc = 'd'",
		  "token = (\n  '<masked>'\n  '<masked>')\nc = 'd'" },
		{ "token = \\\n  'a'\nb = 'c'", "token = \\\n  '<masked>'\nb = 'c'" },
		{ "def f(password: str = 'a', b='c'): return 'd'",
		  "def f(password: str = '<masked>', b='c'): return 'd'" },
		{ "self.api_key: str = 'a'", "self.api_key: str = '<masked>'" },
		{ "config['password'] = 'a'; b = 'c'", "config['password'] = '<masked>'; b = 'c'" },
		{ "config[key] = 'a'", "config[key] = 'a'" },
		{ "user, password = 'a', 'b'\nc = 'd'",
		  "user, password = '<masked>', '<masked>'\nc = 'd'" },
		{ "(user, password) = 'a', 'b'", "(user, password) = '<masked>', '<masked>'" },
		{ "password = os.environ.get('PW') or 'a'",
		  "password = os.environ.get('<masked>') or '<masked>'" },
		{ "if password == 'a' and b == 'c': d('e')",
		  "if password == '<masked>' and b == 'c': d('e')" },
		{ "if key == 'lr': x = 'y'", "if key == 'lr': x = 'y'" },
		{ "if token: print('a')", "if token: print('a')" },
		{ "for token in 'a', 'b': c('d')", "for token in 'a', 'b': c('d')" },
		{ "run(['--password', 'hunter2', 'a'])", "run(['--password', '<masked>', 'a'])" },
		{ "('token', 'password', b)", "('token', 'password', b)" },
		{ "tokens.split('a'), token[1:'b']", "tokens.split('a'), token[1:'b']" },
		{ "password = 1234; max_tokens = 4096; pin_pwd = -1.5e3",
		  "password = <masked>; max_tokens = 4096; pin_pwd = -<masked>" },
		{ "password = ''", "password = ''" },
		{ "password = None if a else get(3)", "password = None if a else get(3)" },
		{ "h = {'Authorization': 'Bearer ab'}", "h = {'Authorization': '<masked>'}" },
		{ "h = 'Authorization: Bearer abc'", "h = 'Authorization: <masked>'" },
		{ "get('https://me:hunter2@host/a')", "get('https://<masked>@host/a')" },
		{ "a = 1  # password = hunter2\nb", "a = 1  # password = <masked>\nb" },
		{ "f\"token={a}\" 'b'", "f\"token=<masked>}\" 'b'" },
		{ "token = 'open\nb = 'c'", "token = '<masked>\nb = 'c'" },
		{ "token = '''open\nb", "token = '''<masked>\n" },
		{ "a)) = ']' + password", "a)) = ']' + password" },
		{ "(token := 'a')", "(token := '<masked>')" },
		{ "token += 'a'", "token += '<masked>'" },
		{ "a['token'] >= 'b'", "a['token'] >= 'b'" },
		{ "token = '", "token = '" },
		{ "r", "r" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct buffer out = BUFFER_INIT;

		buffer_append_string(&out, "");
		secret_mask_source(&out, rows[i][0]);
		assert_string_equal(out.data, rows[i][1]);
		buffer_clear(&out);
	}
}

/* All brackets are its own; what is deeper than there are levels, too. */
static void deep_source_is_masked(void **state)
{
	struct buffer text = BUFFER_INIT;
	struct buffer out = BUFFER_INIT;

	(void)state;
	for (int i = 0; i < 1000; i++)
		buffer_append_char(&text, '(');
	buffer_append_string(&text, "password='a', b='c'");
	for (int i = 0; i < 1000; i++)
		buffer_append_char(&text, ')');
	buffer_append_string(&text, "\nb = 'c'");
	secret_mask_source(&out, text.data);
	assert_null(strstr(out.data, "'a'"));
	assert_non_null(strstr(out.data, "password='<masked>', b='c')"));
	assert_non_null(strstr(out.data, "\nb = 'c'"));
	buffer_clear(&text);
	buffer_clear(&out);
}

static void an_error_file_is_what_torch_writes(void **state)
{
	json_t *json = error_text_parse(
		"/x/error.json",
		"{\"message\": {\"message\": \"ValueError: key=1\", \"extraInfo\": "
		"{\"py_callstack\": \"Traceback\\n"
		"    d['token'] = 'a'\\nValueError: token='a'\", \"timestamp\": \"1700000000\"}}}");

	(void)state;
	assert_string_equal(json_get_string(json, "message", ""), "ValueError: key=<masked>");
	assert_string_equal(json_get_string(json, "callstack", ""),
			    "Traceback\n    d['token'] = '<masked>'\n"
			    "ValueError: token=<masked>");
	assert_true(json_get_real(json, "timestamp", 0) == 1700000000);
	assert_null(json_get_string(json, "error", NULL));
	json_decref(json);
}

static void what_is_no_error_file_says_so(void **state)
{
	static const char *const texts[] = {
		"", "{", "[]", "{\"message\": 3}", "{\"message\": {}}", "null"
	};
	json_t *json = error_text_parse("/x", "{\"message\": \"short\"}");

	(void)state;
	assert_string_equal(json_get_string(json, "message", ""), "short");
	json_decref(json);
	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		json = error_text_parse("/x", texts[i]);
		assert_non_null(json_get_string(json, "error", NULL));
		assert_null(json_get_string(json, "message", NULL));
		json_decref(json);
	}
}

struct found {
	pid_t pid;
	char text[256];
	double ago;
	int count;
};

static bool is_42(const struct kernel_line *line, void *data)
{
	static const struct kernel_suspect suspect = { 42, 20, "/job" };

	(void)data;
	return kernel_line_is_about(line, &suspect);
}

static void take(const struct kernel_line *line, void *data)
{
	struct found *found = data;

	found->pid = line->pid;
	found->ago = line->ago;
	found->count++;
	snprintf(found->text, sizeof(found->text), "%s", line->text);
}

static void the_kernels_kills_of_ours(void **state)
{
	static const struct {
		const char *record;
		int count;
	} rows[] = {
		{ "3,1,90000000,-;Out of memory: Killed process 42 (python) total-vm:1kB\n "
		  "SUBSYSTEM=x",
		  1 },
		{ "3,1,90000000,-;Memory cgroup out of memory: Killed process 42 (x)", 1 },
		{ "6,1,90000000,-;oom_reaper: reaped process 42 (python)", 1 },
		{ "6,1,90000000,-;oom-kill:constraint=NONE,task=py,pid=42,uid", 1 },
		{ "6,1,90000000,-;oom-kill:x,task_memcg=/job,pid=7,uid=0", 1 },
		{ "3,1,90000000,-;Out of memory: Killed process 43 (x)", 0 },
		{ "6,1,90000000,-;usb 42 Killed process 42", 0 },
		{ "6,1,90000000,-;oom-kill:x,task_memcg=/jobs,pid=7,u", 0 },
		{ "Out of memory: Killed process 42", 0 },
		{ ";Out of memory: Killed process 42,,,", 0 },
		{ "", 0 },
	};
	struct found found = { .pid = 0 };
	const struct kernel_log_calls calls = { is_42, take, &found };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		found.count = 0;
		kernel_log_take(&calls, rows[i].record, 100, true);
		assert_int_equal(found.count, rows[i].count);
	}
	kernel_log_take(&calls, rows[0].record, 100, true);
	assert_true(found.ago == 10);
	assert_string_equal(found.text, "Out of memory: Killed process 42 (python) total-vm:1kB");
}

/* The machine is up for ten days, the process runs for 20 seconds. */
static void a_line_of_before_the_process_is_of_another(void **state)
{
	static const char *const records[] = {
		"3,1,86400000000,-;Out of memory: Killed process 42 (x)",
		"6,1,86400000000,-;oom-kill:x,task_memcg=/job,pid=7,uid=0",
	};
	struct found found = { .pid = 0 };
	const struct kernel_log_calls calls = { is_42, take, &found };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(records); i++) {
		kernel_log_take(&calls, records[i], 864000, true);
		assert_int_equal(found.count, 0);
		kernel_log_take(&calls, records[i], 86410, true);
		assert_int_equal(found.count, 1);
		found.count = 0;
	}
}

static void pids_of_another_namespace_say_nothing(void **state)
{
	struct found found = { .pid = 0 };
	const struct kernel_log_calls calls = { is_42, take, &found };

	(void)state;
	kernel_log_take(&calls, "3,1,90000000,-;Out of memory: Killed process 42 (x)", 100, false);
	assert_int_equal(found.count, 0);
	kernel_log_take(&calls, "6,1,90000000,-;oom-kill:x,task_memcg=/job,pid=42,u", 100, false);
	assert_int_equal(found.count, 1);
}

static void source_in_tracebacks_is_masked(void **state)
{
	/* A comparison is masked twice: as source, and as text that looks like an assignment. */
	static const char *const rows[][2] = {
		{ "  File \"a.py\", line 3, in f\n    connect(token=\"s3cret\", n=1)\n",
		  "  File \"a.py\", line 3, in f\n    connect(token=<masked>, n=1)\n" },
		{ "[rank2]:     if password == \"s3cret\":\n",
		  "[rank2]:     if password =<masked> \"<masked>\":\n" },
		{ "[default1]:[rank5]:     if password == \"s3cret\":\n",
		  "[default1]:[rank5]:     if password =<masked> \"<masked>\":\n" },
		{ "  |     if password == \"s3cret\":\n",
		  "  |     if password =<masked> \"<masked>\":\n" },
		{ "ValueError: token=s3cret\n", "ValueError: token=<masked>\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct buffer out = BUFFER_INIT;

		secret_mask_traceback(&out, rows[i][0]);
		assert_string_equal(out.data, rows[i][1]);
		buffer_clear(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_secrets_are_masked),
		cmocka_unit_test(source_in_tracebacks_is_masked),
		cmocka_unit_test(literals_of_source_are_masked),
		cmocka_unit_test(deep_source_is_masked),
		cmocka_unit_test(an_error_file_is_what_torch_writes),
		cmocka_unit_test(what_is_no_error_file_says_so),
		cmocka_unit_test(the_kernels_kills_of_ours),
		cmocka_unit_test(a_line_of_before_the_process_is_of_another),
		cmocka_unit_test(pids_of_another_namespace_say_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
