#include "backends/cpython/pycall.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/bytecode.h"
#include "backends/cpython/cpython.h"
#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pyframes.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pystring.h"
#include "backends/cpython/pytype.h"
#include "backends/cpython/pywalk.h"
#include "backends/linux/memory.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/map.h"
#include "protocol/stack.h"

#define NAME_MAXIMUM 256
/* Maximum bytes read to name one call: a few types and names. */
#define BUDGET ((size_t)1 << 18)
/* At this number of code objects the cache is emptied. */
#define CODES_MAXIMUM 4096
/* Maximum objects on the way from a bound method to its C function. */
#define WRAPPERS_MAXIMUM 4
/* Maximum frames, and words of each, of which the values are read. */
#define FRAMES_MAXIMUM 16
#define WORDS_MAXIMUM 64
/* Maximum times that one call is read if a read of memory fails. */
#define READS_MAXIMUM 2

struct pycall_cache {
	struct memory *memory;
	const struct cpython *python;
	struct bytecode_cache *bytecode;
	struct map *known; /* by address: the struct code that was there last */
};

struct pycall_cache *pycall_cache_new(struct memory *memory, const struct cpython *python)
{
	struct pycall_cache *cache = xcalloc(1, sizeof(*cache));

	cache->memory = memory;
	cache->python = python;
	cache->bytecode = bytecode_cache_new(memory, python);
	cache->known = map_new(NULL);
	return cache;
}

void pycall_cache_free(struct pycall_cache *cache)
{
	if (!cache)
		return;
	bytecode_cache_free(cache->bytecode);
	map_free(cache->known);
	free(cache);
}

static bool is_never_lent(const struct bytecode *code, void *data)
{
	(void)code;
	(void)data;
	return false;
}

static const struct bytecode *find_bytecode(struct pycall_cache *cache, uint64_t address,
					    const struct code *code)
{
	const struct code *before = map_find(cache->known, address);

	if (!before && map_count(cache->known) >= CODES_MAXIMUM) {
		bytecode_cache_free(cache->bytecode);
		map_free(cache->known);
		cache->bytecode = bytecode_cache_new(cache->memory, cache->python);
		cache->known = map_new(NULL);
	}
	if (before && before != code) {
		bytecode_cache_age(cache->bytecode);
		bytecode_cache_sweep(cache->bytecode, is_never_lent, NULL);
	}
	map_put(cache->known, address, (void *)code);
	return bytecode_find(cache->bytecode, address);
}

static const struct bytecode_call *find_call(const struct pycall_cache *cache,
					     const struct pyframe *frame,
					     const struct bytecode *code)
{
	const struct pyframes frames = { .python = cache->python };
	const struct pyframe_now now = { .instruction = frame->position };
	int unit = pyframes_unit(&frames, &now, code);

	return bytecode_call_at(code, bytecode_instruction(code, unit));
}

/* What is read of one call. */
struct callee {
	struct pyreader reader;
	const struct bytecode *code;
	const struct bytecode_call *call;
	uint64_t values; /* address of the frame's variables, which the value stack follows */
	uint64_t callable;
	uint64_t object; /* the object whose method is called; 0: unknown */
	bool is_python;	 /* the callable is a function written in Python */
	char name[NAME_MAXIMUM];
	char owner[NAME_MAXIMUM]; /* type of the object, or module; "": unknown */
};

static uint64_t read_word(struct callee *callee, int index)
{
	uint64_t word;

	if (pyreader_pointer(&callee->reader, callee->values + 8 * (uint64_t)index, &word))
		return 0;
	return pyreader_untag(callee->reader.python->minor, word);
}

/*
 * Up to 3.11 the instruction that calls __enter__() has replaced the object by its bound __exit__()
 * when it makes the call. Both kinds of bound methods have the object at the same offset.
 */
static uint64_t find_entered(struct callee *callee, uint64_t value)
{
	uint64_t held[2];

	if (!pytype_is(&callee->reader, value, "method") &&
	    !pytype_is(&callee->reader, value, "builtin_function_or_method"))
		return value;
	return pyreader_read(&callee->reader, value + PYREADER_HEAD, held, sizeof(held)) ? 0
											 : held[1];
}

static void read_slots(struct callee *callee)
{
	int index = callee->code->locals_count + callee->call->slot;
	uint64_t lower = read_word(callee, index);

	callee->callable = lower;
	if (callee->call->method) {
		callee->object = find_entered(callee, lower);
		callee->callable = 0;
	} else if (callee->call->is_pair) {
		uint64_t upper = read_word(callee, index + 1);

		callee->callable = lower ? lower : upper;
		callee->object = lower ? upper : 0;
	}
}

/* True for names of C: memory that was reused for other data rarely passes. */
static bool is_name(const char *text)
{
	for (const char *at = text; *at; at++)
		if (!isalnum((unsigned char)*at) && *at != '_' && *at != '.')
			return false;
	return text[0] != '\0';
}

static bool read_string(struct callee *callee, uint64_t address, char *out)
{
	struct buffer text = BUFFER_INIT;
	bool is_read = !pyobject_string(&callee->reader, address, NAME_MAXIMUM / 4, &text);

	if (is_read)
		snprintf(out, NAME_MAXIMUM, "%s", text.data);
	buffer_clear(&text);
	return is_read && out[0];
}

static bool read_type_name(struct callee *callee, const struct pytype *type, char *out)
{
	struct buffer text = BUFFER_INIT;
	bool is_read;

	if (pytype_is_native(&callee->reader, type, out, NAME_MAXIMUM))
		return is_name(out);
	is_read = !pytype_name(&callee->reader, type, &text);
	if (is_read)
		snprintf(out, NAME_MAXIMUM, "%s", text.data);
	buffer_clear(&text);
	return is_read && out[0];
}

static void read_owner(struct callee *callee, uint64_t object)
{
	struct pytype type;

	if (pytype_of(&callee->reader, object, &type) ||
	    !read_type_name(callee, &type, callee->owner))
		callee->owner[0] = '\0';
}

/* The name of a type object itself: "_socket.socket" is the call of the type. */
static bool read_type_object(struct callee *callee, uint64_t address)
{
	char whole[NAME_MAXIMUM];
	struct pytype type;
	char *dot;

	if (pytype_read(&callee->reader, address, &type) || !read_type_name(callee, &type, whole))
		return false;
	dot = strrchr(whole, '.');
	snprintf(callee->name, sizeof(callee->name), "%s", dot ? dot + 1 : whole);
	if (dot)
		*dot = '\0';
	snprintf(callee->owner, sizeof(callee->owner), "%s", dot ? whole : "");
	return true;
}

/* m_ml, m_self and m_module of a PyCFunctionObject (Include/cpython/methodobject.h). */
struct builtin {
	uint64_t definition, self, module;
};

/*
 * True if m_self is no object whose method the function is: a module, or what pybind11 keeps there.
 */
static bool is_self_of_module(struct callee *callee, uint64_t self)
{
	struct pytype type;
	char name[NAME_MAXIMUM];

	return !self || pytype_of(&callee->reader, self, &type) ||
	       !read_type_name(callee, &type, name) || !strcmp(name, "module") ||
	       !strcmp(name, "PyCapsule") || strstr(name, "pybind11") ||
	       strstr(name, "cython_function");
}

static bool read_builtin(struct callee *callee, uint64_t address)
{
	struct pyreader *reader = &callee->reader;
	char owner[NAME_MAXIMUM];
	struct builtin builtin;
	uint64_t name;

	/* A PyMethodDef begins with its name. */
	if (pyreader_read(reader, address + PYREADER_HEAD, &builtin, sizeof(builtin)) ||
	    pyreader_pointer(reader, builtin.definition, &name) ||
	    pyreader_c_string(reader, name, callee->name, sizeof(callee->name)) ||
	    !is_name(callee->name))
		return false;
	if (callee->object) {
		read_owner(callee, callee->object);
	} else if (is_self_of_module(callee, builtin.self)) {
		if (read_string(callee, builtin.module, owner))
			snprintf(callee->owner, sizeof(callee->owner), "%s", owner);
	} else if (pytype_has(reader, builtin.self, PYTYPE_TYPE)) {
		struct pytype type;

		/* A class method. */
		if (pytype_read(reader, builtin.self, &type) ||
		    !read_type_name(callee, &type, callee->owner))
			callee->owner[0] = '\0';
	} else {
		read_owner(callee, builtin.self);
	}
	return true;
}

/* d_type and d_name of a PyDescrObject (Include/cpython/descrobject.h). */
static bool read_descriptor(struct callee *callee, uint64_t address)
{
	uint64_t held[2];
	struct pytype type;

	if (pyreader_read(&callee->reader, address + PYREADER_HEAD, held, sizeof(held)) ||
	    !read_string(callee, held[1], callee->name) || !is_name(callee->name))
		return false;
	if (callee->object)
		read_owner(callee, callee->object);
	else if (pytype_read(&callee->reader, held[0], &type) ||
		 !read_type_name(callee, &type, callee->owner))
		callee->owner[0] = '\0';
	return true;
}

/*
 * Replaces a bound method (im_func, im_self), a method-wrapper (descr, self), or the instancemethod
 * of pybind11 (func) by what it wraps; false: it is none of these.
 */
static bool unwrap(struct callee *callee, const char *type, uint64_t *address)
{
	bool is_bound = !strcmp(type, "method") || !strcmp(type, "method-wrapper");
	uint64_t held[2] = { 0 };

	if (!is_bound && strcmp(type, "instancemethod") != 0)
		return false;
	if (pyreader_read(&callee->reader, *address + PYREADER_HEAD, held, is_bound ? 16 : 8))
		return false;
	*address = held[0];
	if (is_bound)
		callee->object = held[1];
	return true;
}

static bool is_cython_function(const char *type)
{
	const char *dot = strrchr(type, '.');

	return !strcmp(dot ? dot + 1 : type, "cython_function_or_method");
}

/* Names the callable; false: it is no C function, or it cannot be read. */
static bool read_callable(struct callee *callee)
{
	uint64_t address = callee->callable;
	char name[NAME_MAXIMUM];
	struct pytype type;

	for (int i = 0; i < WRAPPERS_MAXIMUM; i++) {
		if (pytype_of(&callee->reader, address, &type) ||
		    pyreader_c_string(&callee->reader, type.name, name, sizeof(name)))
			return false;
		if (!unwrap(callee, name, &address))
			break;
	}
	callee->is_python = !strcmp(name, "function");
	if (type.flags & PYTYPE_TYPE)
		return read_type_object(callee, address);
	if (!strcmp(name, "builtin_function_or_method") || !strcmp(name, "builtin_method") ||
	    is_cython_function(name))
		return read_builtin(callee, address);
	if (!strcmp(name, "method_descriptor") || !strcmp(name, "wrapper_descriptor") ||
	    !strcmp(name, "classmethod_descriptor"))
		return read_descriptor(callee, address);
	return false;
}

/* Gets the name by which the callable was loaded. */
static bool read_loaded_name(struct callee *callee, char *out)
{
	struct pyreader *reader = &callee->reader;
	uint64_t place = callee->code->address + (uint64_t)reader->python->offsets.co_names;
	uint64_t names, item;

	out[0] = '\0';
	return callee->call->name >= 0 && !pyreader_pointer(reader, place, &names) &&
	       !pytuple_item(reader, names, callee->call->name, &item) &&
	       read_string(callee, item, out);
}

/* True if the instructions before the call have loaded this callable, as far as they show. */
static bool is_loaded(struct callee *callee)
{
	const struct bytecode_call *call = callee->call;
	char loaded[NAME_MAXIMUM];

	if (call->name < 0)
		return call->local >= 0 && read_word(callee, call->local) == callee->callable;
	return read_loaded_name(callee, loaded) && !strcmp(loaded, callee->name);
}

/* The name in the instructions, for a callable of an unknown type. */
static bool read_from_instructions(struct callee *callee)
{
	const struct bytecode_call *call = callee->call;

	callee->owner[0] = '\0';
	if (!read_loaded_name(callee, callee->name))
		return false;
	if (callee->object)
		read_owner(callee, callee->object);
	else if (call->local >= 0)
		read_owner(callee, read_word(callee, call->local));
	return true;
}

static bool read_callee(struct callee *callee, bool is_still)
{
	const char *method = callee->call->method;

	read_slots(callee);
	if (method) {
		snprintf(callee->name, sizeof(callee->name), "%s", method);
		read_owner(callee, callee->object);
		return is_still && callee->owner[0];
	}
	if (read_callable(callee) && (is_still || is_loaded(callee)))
		return true;
	return !callee->is_python && is_still && read_from_instructions(callee);
}

/* is_whole: set to false if memory could not be read, so that the call may be known in part. */
static char *read_once(struct pycall_cache *cache, const struct pyframe *frame,
		       const struct code *code, bool is_still, bool *is_whole)
{
	uint64_t values = frame->address + (uint64_t)cache->python->offsets.if_localsplus;
	struct callee *callee = xcalloc(1, sizeof(*callee));
	char *text = NULL;

	pyreader_init(&callee->reader, cache->memory, cache->python);
	callee->reader.budget = BUDGET;
	callee->values = values;
	callee->code = find_bytecode(cache, frame->code, code);
	if (callee->code)
		callee->call = find_call(cache, frame, callee->code);
	if (callee->call && read_callee(callee, is_still))
		text = callee->owner[0] ? xasprintf("%s.%s", callee->owner, callee->name)
					: xstrdup(callee->name);
	*is_whole = callee->code && !callee->reader.has_failed;
	free(callee);
	return text;
}

char *pycall_read(struct pycall_cache *cache, const struct pyframe *frame, const struct code *code,
		  bool is_still)
{
	bool is_whole = false;
	char *text = NULL;

	for (int i = 0; i < READS_MAXIMUM && !is_whole; i++) {
		free(text);
		text = read_once(cache, frame, code, is_still, &is_whole);
	}
	return text;
}

/* True for the iterator of a loop: the object itself changes with each turn. */
static bool is_iterator(struct pyreader *reader, uint64_t object)
{
	static const char *const names[] = { "range_iterator", "longrange_iterator",
					     "list_iterator",  "tuple_iterator",
					     "enumerate",      "itertools.count" };

	for (size_t i = 0; object && i < ARRAY_LENGTH(names); i++)
		if (pytype_is(reader, object, names[i]))
			return true;
	return false;
}

/* Adds a word of a frame's value stack. */
static uint64_t hash_value(struct pyreader *reader, uint64_t hash, uint64_t word)
{
	uint64_t object = pyreader_untag(reader->python->minor, word);
	uint64_t state[3];

	hash = hash_number(hash, word);
	if (!is_iterator(reader, object) ||
	    pyreader_read(reader, object + PYREADER_HEAD, state, sizeof(state)))
		return hash;
	for (size_t i = 0; i < ARRAY_LENGTH(state); i++)
		hash = hash_number(hash, state[i]);
	return hash;
}

static uint64_t hash_frame(struct pycall_cache *cache, struct pyreader *reader, uint64_t hash,
			   const struct pyframe *frame, const struct code *code)
{
	uint64_t words[WORDS_MAXIMUM];
	const struct bytecode *bytecode = find_bytecode(cache, frame->code, code);
	const struct bytecode_call *call = bytecode ? find_call(cache, frame, bytecode) : NULL;
	int locals = bytecode ? bytecode->locals_count : 0;
	/* The callable and what lies next to it are within the value stack. */
	int count = locals + (call && call->slot >= 0 ? call->slot + 2 : 0);

	if (count > WORDS_MAXIMUM)
		count = WORDS_MAXIMUM;
	if (count <= 0 ||
	    pyreader_read(reader, frame->address + (uint64_t)reader->python->offsets.if_localsplus,
			  words, 8 * (size_t)count))
		return hash;
	for (int i = 0; i < count; i++)
		hash = i < locals ? hash_number(hash, words[i])
				  : hash_value(reader, hash, words[i]);
	return hash;
}

uint64_t pycall_values(struct pycall_cache *cache, const struct pyframe *frames,
		       const struct frame *named, size_t count)
{
	struct pyreader reader;
	uint64_t hash = HASH_START;

	pyreader_init(&reader, cache->memory, cache->python);
	reader.budget = BUDGET;
	for (size_t i = 0; i < count && i < FRAMES_MAXIMUM; i++)
		hash = hash_frame(cache, &reader, hash, &frames[i], named[i].code);
	return reader.has_failed || reader.budget == 0 ? 0 : hash;
}
