#include "backends/pdb/inspector.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/map.h"
#include "base/pack.h"

/* values.py, guard.py and inspector.py, joined by the build. */
static const unsigned char source[] = {
#include "backends/pdb/inspector.inc"
};

/* inspector.py has the same constant. */
#define MARKER "{probetui:"
#define NONCE_MAXIMUM 24
/* Maximum number of bytes of source or question in a line, without the expression around them. */
#define PIECE_MAXIMUM 3000
/*
 * Maximum number of times that a question is sent again if its answer was mixed with other output.
 */
#define TRIES_MAXIMUM 3

/*
 * LINE_BEGIN and LINE_END enclose an expression that uses s (the Pdb instance) and b (builtins).
 * They use no name of the program, because the program may have redefined any name: sys is found
 * through the first classes that Python creates, and the Pdb instance is self of the nearest outer
 * method, which is a method of pdb. The line has no text that pdb or IPython treat specially ($,
 * ;;, a ? at the end, a % at the start), and no complete marker that an echo could repeat.
 */
#define LINE_BEGIN "(lambda y,w:(lambda s,b:"
#define LINE_END                                                                                   \
	")(w(w,y._getframe()),y.modules['builtins']))("                                            \
	"(c for c in().__class__.__base__.__subclasses__()"                                        \
	"if c.__name__=='BuiltinImporter').__next__()"                                             \
	".find_spec.__globals__['sys'],"                                                           \
	"lambda w,f:f.f_locals['self']if f.f_code.co_varnames[:1]==('self',)"                      \
	"else w(w,f.f_back))\n"
/* Answer without data, which means that the line was read. */
#define NOTHING "'{probe''tui:%s:0:00000000:}'"
#define PARTS "'_probetui_parts'"

/*
 * Commands that print the value of an expression, in the order in which they are tried: the user
 * may have defined an alias named p.
 */
static const char *const forms[] = { "p ", "!", "pp " };

enum phase {
	PHASE_NONE,
	PHASE_QUESTION,
	PHASE_INSTALL, /* inspector.py is sent; the question follows */
};

struct inspector {
	enum phase phase;
	/* inspector_line() has returned a line that is not answered yet */
	bool is_lent;
	char name[32];			/* name of inspector.py's attribute on the Pdb instance */
	struct buffer source, question; /* as base64 */
	/* number of bytes of source or question that were sent, in whole pieces */
	size_t sent;
	uint32_t seed;
	unsigned number; /* number of the line; seed and number make its nonce */
	char nonce[NONCE_MAXIMUM];
	size_t form;
	int refusals, tries, installs; /* numbers of refusals, tries and installations for the
					* current question */
	struct buffer line;
};

static void encode_source(struct buffer *out)
{
	struct pack *pack = pack_new(NULL, 0);
	struct buffer packed = BUFFER_INIT;

	pack_add(pack, &packed, source, sizeof(source));
	pack_finish(pack, &packed);
	pack_free(pack);
	base64_encode(out, packed.data, packed.length);
	buffer_clear(&packed);
}

struct inspector *inspector_new(void)
{
	struct inspector *inspector = xcalloc(1, sizeof(*inspector));
	uint64_t hash;

	buffer_init(&inspector->source, 0);
	buffer_init(&inspector->question, 0);
	buffer_init(&inspector->line, 0);
	encode_source(&inspector->source);
	/*
	 * The name contains a hash of the source, so that the inspector of another version has
	 * another attribute.
	 */
	hash = hash_text(HASH_START, inspector->source.data);
	snprintf(inspector->name, sizeof(inspector->name), "_probetui_%016" PRIx64, hash);
	if (getrandom(&inspector->seed, sizeof(inspector->seed), GRND_NONBLOCK) < 0)
		inspector->seed = (uint32_t)getpid();
	return inspector;
}

void inspector_free(struct inspector *inspector)
{
	if (!inspector)
		return;
	buffer_clear(&inspector->line);
	buffer_clear(&inspector->question);
	buffer_clear(&inspector->source);
	free(inspector);
}

static void inspector_begin(struct inspector *inspector, enum phase phase)
{
	inspector->phase = phase;
	inspector->is_lent = false;
	inspector->sent = 0;
}

void inspector_ask(struct inspector *inspector, json_t *owned_question)
{
	struct buffer text = BUFFER_INIT;

	json_append(&text, owned_question);
	json_decref(owned_question);
	buffer_reset(&inspector->question);
	base64_encode(&inspector->question, text.data, text.length);
	buffer_clear(&text);
	inspector->refusals = 0;
	inspector->tries = 0;
	inspector->installs = 0;
	inspector_begin(inspector, PHASE_QUESTION);
}

bool inspector_is_asking(const struct inspector *inspector)
{
	return inspector->phase != PHASE_NONE;
}

void inspector_again(struct inspector *inspector)
{
	if (inspector->phase == PHASE_NONE)
		return;
	inspector->installs = 0;
	inspector_begin(inspector, PHASE_QUESTION);
}

static const struct buffer *to_send(const struct inspector *inspector)
{
	return inspector->phase == PHASE_INSTALL ? &inspector->source : &inspector->question;
}

static bool is_last_piece(const struct inspector *inspector)
{
	return to_send(inspector)->length - inspector->sent <= PIECE_MAXIMUM;
}

static void put_piece(struct inspector *inspector, const char *piece)
{
	struct buffer *line = &inspector->line;

	if (inspector->sent == 0)
		buffer_printf(line, "(s.__dict__.__setitem__(" PARTS ",{0:'%.*s'})," NOTHING ")[1]",
			      PIECE_MAXIMUM, piece, inspector->nonce);
	else
		buffer_printf(line,
			      "(s.__dict__[" PARTS "].__setitem__(%zu,'%.*s')," NOTHING ")[1]",
			      inspector->sent, PIECE_MAXIMUM, piece, inspector->nonce);
}

static void inspector_put_question(struct inspector *inspector, const char *piece)
{
	buffer_printf(&inspector->line,
		      "s.__dict__['%s'](s,'%s','%s')if'%s'in s.__dict__ else" NOTHING,
		      inspector->name, inspector->nonce, piece, inspector->name, inspector->nonce);
}

static void put_install(struct inspector *inspector, const char *piece)
{
	buffer_printf(
		&inspector->line,
		"(lambda "
		"g:(b.exec(b.compile(b.__import__('zlib').decompress(b.__import__('binascii').a2b_"
		"base64(''.join(s.__dict__.pop(" PARTS
		",{}).values())+'%s'),31),'<probetui>','exec',0,1),g),g['install'](s,'%s')," NOTHING
		")[2])({'__name__':'probetui_inspector','__builtins__':b})",
		piece, inspector->name, inspector->nonce);
}

const char *inspector_line(struct inspector *inspector)
{
	const char *piece;

	if (inspector->phase == PHASE_NONE || inspector->is_lent)
		return NULL;
	piece = to_send(inspector)->data + inspector->sent;
	snprintf(inspector->nonce, sizeof(inspector->nonce), "%08" PRIx32 "%x", inspector->seed,
		 ++inspector->number);
	buffer_reset(&inspector->line);
	buffer_printf(&inspector->line, "%s" LINE_BEGIN, forms[inspector->form]);
	if (!is_last_piece(inspector))
		put_piece(inspector, piece);
	else if (inspector->phase == PHASE_INSTALL)
		put_install(inspector, piece);
	else
		inspector_put_question(inspector, piece);
	buffer_append_string(&inspector->line, LINE_END);
	inspector->is_lent = true;
	return inspector->line.data;
}

/* CRC-32, as in zlib (RFC 1952, section 8). */
static uint32_t checksum(const char *bytes, size_t length)
{
	uint32_t sum = 0xffffffff;

	for (size_t i = 0; i < length; i++) {
		sum ^= (unsigned char)bytes[i];
		for (int bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
	}
	return ~sum;
}

/* Parts of the line of an answer, after the marker and the nonce. */
struct token {
	const char *text; /* base64 */
	size_t length;
	uint32_t sum;
};

/*
 * Parses the line, which does not end with a NUL. Returns -1 if other output is mixed into the
 * line.
 */
static int parse_token(const char *line, size_t length, struct token *token)
{
	char head[40] = "";
	char *end;
	size_t used;

	memcpy(head, line, length < sizeof(head) - 1 ? length : sizeof(head) - 1);
	token->length = strtoul(head, &end, 10);
	if (end == head || *end != ':')
		return -1;
	used = (size_t)(end + 1 - head);
	token->sum = (uint32_t)strtoul(head + used, &end, 16);
	if (end != head + used + 8 || *end != ':')
		return -1;
	used += 9;
	token->text = line + used;
	if (token->length > length || length - token->length <= used ||
	    token->text[token->length] != '}')
		return -1;
	return 0;
}

static json_t *inspector_decode(const struct token *token)
{
	struct buffer data = BUFFER_INIT;
	struct error ignored = ERROR_INIT;
	json_t *answer = NULL;

	if (base64_decode(&data, token->text, token->length) == 0 &&
	    checksum(data.data, data.length) == token->sum)
		answer = json_parse(data.data, data.length, &ignored);
	if (!json_is_object(answer)) {
		json_decref(answer);
		answer = NULL;
	}
	buffer_clear(&data);
	return answer;
}

static enum inspector_result inspector_fail(struct inspector *inspector, struct error *error,
					    const char *sentence)
{
	inspector_begin(inspector, PHASE_NONE);
	error_set(error, "%s", sentence);
	return INSPECTOR_FAILED;
}

/*
 * Continues after a line that was read and has no data as its answer: with the next piece, the
 * question, or the installation of inspector.py.
 */
static enum inspector_result inspector_go_on(struct inspector *inspector, struct error *error)
{
	inspector->is_lent = false;
	if (!is_last_piece(inspector)) {
		inspector->sent += PIECE_MAXIMUM;
		return INSPECTOR_SEND;
	}
	if (inspector->phase == PHASE_INSTALL) {
		inspector_begin(inspector, PHASE_QUESTION);
		return INSPECTOR_SEND;
	}
	if (inspector->installs++ > 0)
		return inspector_fail(inspector, error,
				      "probetui cannot query the pdb of the program: perhaps the "
				      "class of the pdb forbids new attributes (__slots__)");
	inspector_begin(inspector, PHASE_INSTALL);
	return INSPECTOR_SEND;
}

static enum inspector_result try_again(struct inspector *inspector, struct error *error)
{
	if (inspector->tries++ == TRIES_MAXIMUM)
		return inspector_fail(inspector, error,
				      "the debugger's answers are mixed with output of the "
				      "program: try again when the program prints less");
	inspector_begin(inspector, PHASE_QUESTION);
	return INSPECTOR_SEND;
}

static enum inspector_result inspector_finish(struct inspector *inspector, json_t *answer,
					      json_t **owned_answer, struct error *error)
{
	const char *sentence = json_get_string(answer, "error", NULL);
	enum inspector_result result = INSPECTOR_DONE;

	inspector_begin(inspector, PHASE_NONE);
	if (sentence) {
		result = inspector_fail(inspector, error, sentence);
		json_decref(answer);
	} else {
		*owned_answer = answer;
	}
	return result;
}

static enum inspector_result inspector_read_line(struct inspector *inspector, const char *line,
						 size_t length, json_t **owned_answer,
						 struct error *error)
{
	struct token token;
	json_t *answer;

	if (parse_token(line, length, &token) < 0)
		return try_again(inspector, error);
	if (!token.length)
		return inspector_go_on(inspector, error);
	answer = inspector_decode(&token);
	if (!answer)
		return try_again(inspector, error);
	return inspector_finish(inspector, answer, owned_answer, error);
}

enum inspector_result inspector_take(struct inspector *inspector, const char *bytes, size_t length,
				     size_t *start, size_t *end, json_t **owned_answer,
				     struct error *error)
{
	char ours[sizeof(MARKER) + NONCE_MAXIMUM];
	char wanted[sizeof(MARKER) + NONCE_MAXIMUM];
	const char *token, *newline;
	size_t left;

	if (!inspector->is_lent || length == 0)
		return INSPECTOR_WAIT;
	snprintf(ours, sizeof(ours), MARKER "%08" PRIx32, inspector->seed);
	snprintf(wanted, sizeof(wanted), MARKER "%s:", inspector->nonce);
	token = memmem(bytes, length, ours, strlen(ours));
	if (!token)
		return INSPECTOR_WAIT;
	*start = (size_t)(token - bytes);
	/* The answer begins with the quote of a repr(), if there is one. */
	if (*start && (bytes[*start - 1] == '\'' || bytes[*start - 1] == '"'))
		--*start;
	left = length - (size_t)(token - bytes);
	newline = memchr(token, '\n', left);
	if (!newline) {
		*end = length;
		if (left < INSPECTOR_ANSWER_MAXIMUM)
			return INSPECTOR_WAIT;
		return inspector_fail(inspector, error, "the debugger's answer is too long");
	}
	*end = (size_t)(newline + 1 - bytes);
	if (left < strlen(wanted) || memcmp(token, wanted, strlen(wanted)) != 0)
		return INSPECTOR_LATE;
	token += strlen(wanted);
	return inspector_read_line(inspector, token, (size_t)(newline - token), owned_answer,
				   error);
}

enum inspector_result inspector_refused(struct inspector *inspector, struct error *error)
{
	if (inspector->phase == PHASE_NONE)
		return INSPECTOR_WAIT;
	inspector->form = (inspector->form + 1) % ARRAY_LENGTH(forms);
	if (inspector->refusals++ == (int)ARRAY_LENGTH(forms))
		return inspector_fail(
			inspector, error,
			"probetui cannot query the debugger: its prompt evaluates no expressions");
	inspector_begin(inspector, PHASE_QUESTION);
	return INSPECTOR_SEND;
}
