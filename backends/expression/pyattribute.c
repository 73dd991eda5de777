/*
 * Attributes, as object.__getattribute__ finds them (Objects/object.c,
 * _PyObject_GenericGetAttrWithDict): data descriptors of the classes first, then the instance's
 * dict, then other attributes of the classes. A descriptor runs code, except member descriptors,
 * which only give a value's offset in the object.
 *
 * Since 3.12 the dict of a static type of the interpreter is not in tp_dict; the type's attributes
 * are also listed in tp_methods, tp_members and tp_getset.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pydict.h"
#include "backends/cpython/pyinstance.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytype.h"
#include "backends/expression/pyelement.h"
#include "backends/expression/pyevaluate.h"
#include "backends/expression/pyexpression.h"
#include "backends/expression/pyvalue.h"
#include "banned.h"
#include "base/array.h"
#include "base/error.h"

#define COMPILED_MAXIMUM 8
#define CLASSES_MAXIMUM 200
#define NAME_MAXIMUM 256
#define ENTRIES_MAXIMUM 512
/* Offsets of tp_methods, tp_members and tp_getset from tp_flags in PyTypeObject. */
#define METHODS 64
#define MEMBERS 72
#define GETSETS 80
/* Sizes of PyMethodDef, PyMemberDef and PyGetSetDef, each of which begins with a name. */
#define METHOD_BYTES 32
#define MEMBER_BYTES 40
#define GETSET_BYTES 40
/* Offset of d_member in PyMemberDescrObject, behind d_common. */
#define DESCRIPTOR_MEMBER 40

/* PyMemberDef (Include/descrobject.h). */
struct member {
	uint64_t name;
	int32_t type;
	int32_t padding;
	int64_t offset;
	int64_t flags; /* 4 bytes of flags and 4 bytes of padding */
	uint64_t documentation;
};
#define MEMBER_OBJECT 6
#define MEMBER_OBJECT_EX 16
#define MEMBER_RELATIVE 8 /* Py_RELATIVE_OFFSET in flags */

#define FIELD_GETTER "collections._tuplegetter" /* up to 3.11 with the prefix "_" */
#define EXCEPTION_ARGS 24			/* offset of args in PyBaseExceptionObject */

/* Kinds of attributes that the classes of an object define. */
enum class_has {
	CLASS_NOTHING,
	CLASS_VALUE,  /* a plain value */
	CLASS_MEMBER, /* a value at an offset in the object */
	CLASS_DATA,   /* a data descriptor, called before the instance is searched */
	CLASS_CODE,   /* another descriptor, called after the instance is searched */
};

struct class_attribute {
	enum class_has has;
	uint64_t value; /* the value or descriptor; 0: an entry in an array of a static type */
	uint64_t owner; /* class that defines the attribute */
	struct member member;
};

/*
 * Finds the entry of this name in an array of a static type. word: offset from tp_flags of the
 * pointer to the array; size: bytes of an entry.
 */
static bool pyattribute_find_row(struct pyreader *reader, uint64_t type, long word, uint64_t size,
				 const char *name, uint64_t *row)
{
	uint64_t flags = type + (uint64_t)reader->python->offsets.tp_flags;
	char text[NAME_MAXIMUM];
	uint64_t text_at;

	if (pyreader_pointer(reader, flags + (uint64_t)word, row) || !*row)
		return false;
	for (int i = 0; i < ENTRIES_MAXIMUM; i++, *row += size) {
		if (pyreader_pointer(reader, *row, &text_at) || !text_at ||
		    pyreader_c_string(reader, text_at, text, sizeof(text)))
			return false;
		if (strcmp(text, name) == 0)
			return true;
	}
	return false;
}

static bool find_static(struct pyreader *reader, uint64_t type, const char *name,
			struct class_attribute *found)
{
	uint64_t row;

	if (pyattribute_find_row(reader, type, GETSETS, GETSET_BYTES, name, &row)) {
		found->has = CLASS_DATA;
		return true;
	}
	if (pyattribute_find_row(reader, type, METHODS, METHOD_BYTES, name, &row)) {
		found->has = CLASS_CODE;
		return true;
	}
	if (!pyattribute_find_row(reader, type, MEMBERS, MEMBER_BYTES, name, &row) ||
	    pyreader_read(reader, row, &found->member, sizeof(found->member)))
		return false;
	found->has = CLASS_MEMBER;
	return true;
}

/* Classifies a value found in the dict of a class. */
static int classify(struct pyreader *reader, uint64_t value, struct class_attribute *found)
{
	struct pytype type;
	uint64_t get, set, member;

	found->value = value;
	if (pytype_of(reader, value, &type) ||
	    pyslot_read(reader, type.address, PYSLOT_GET, &get) ||
	    pyslot_read(reader, type.address, PYSLOT_SET, &set))
		return -1;
	found->has = CLASS_VALUE;
	if (pytype_is(reader, value, "member_descriptor") &&
	    !pyreader_pointer(reader, value + DESCRIPTOR_MEMBER, &member) &&
	    !pyreader_read(reader, member, &found->member, sizeof(found->member)))
		found->has = CLASS_MEMBER;
	else if (set)
		found->has = CLASS_DATA;
	else if (get)
		found->has = CLASS_CODE;
	return 0;
}

/*
 * Finds the first class of the MRO that defines the name; -1: evaluation->error is set. is_hook:
 * only heap types count; in a static type the name only wraps a C function.
 */
static int search_classes(struct pyevaluation *evaluation, uint64_t address, const char *name,
			  bool is_hook, struct class_attribute *found)
{
	struct pyreader *reader = evaluation->reader;
	struct pytype type, base;
	int64_t count;

	*found = (struct class_attribute){ .has = CLASS_NOTHING };
	if (pytype_read(reader, address, &type) || !type.mro)
		goto unreadable;
	count = pytuple_count(reader, type.mro);
	if (count < 0 || count > CLASSES_MAXIMUM)
		goto unreadable;
	for (int64_t i = 0; i < count; i++) {
		uint64_t at, value;

		if (pytuple_item(reader, type.mro, i, &at) || pytype_read(reader, at, &base))
			goto unreadable;
		found->owner = at;
		if (is_hook && !(base.flags & PYTYPE_HEAP))
			continue;
		if (!base.dict) {
			if (find_static(reader, at, name, found))
				return 0;
		} else if (!pydict_find(reader, base.dict, name, &value)) {
			if (classify(reader, value, found))
				goto unreadable;
			return 0;
		}
	}
	return 0;
unreadable:
	return error_set(evaluation->error, "the classes of the object cannot be read");
}

static int find_in_classes(struct pyevaluation *evaluation, uint64_t address, const char *name,
			   struct class_attribute *found)
{
	return search_classes(evaluation, address, name, false, found);
}

static int pyattribute_find_hook(struct pyevaluation *evaluation, uint64_t address,
				 const char *name, struct class_attribute *found)
{
	return search_classes(evaluation, address, name, true, found);
}

static int refuse_code(struct pyevaluation *evaluation, const struct pyvalue *object,
		       const char *name)
{
	return error_set(
		evaluation->error,
		"cannot read attribute '%s' of %s without an agent (code would run in the process)",
		name, pyvalue_type_name(evaluation, object));
}

static int refuse_missing(struct pyevaluation *evaluation, const struct pyvalue *object,
			  const char *name)
{
	return error_set(evaluation->error, "%s has no attribute '%s'",
			 pyvalue_type_name(evaluation, object), name);
}

/* Reads a value at the offset that a PyMemberDef gives. */
static int get_member(struct pyevaluation *evaluation, const struct pyvalue *object,
		      const char *name, const struct member *member, struct pyname *found)
{
	bool is_empty_none = member->type == MEMBER_OBJECT;

	if ((member->type != MEMBER_OBJECT && member->type != MEMBER_OBJECT_EX) ||
	    (member->flags & MEMBER_RELATIVE) || member->offset < (int64_t)PYREADER_HEAD)
		return refuse_code(evaluation, object, name);
	found->place = object->address + (uint64_t)member->offset;
	if (pyreader_pointer(evaluation->reader, found->place, &found->value))
		return error_set(evaluation->error, "attribute '%s' of %s cannot be read", name,
				 pyvalue_type_name(evaluation, object));
	if (!found->value && !is_empty_none)
		return refuse_missing(evaluation, object, name);
	return 0;
}

static bool is_native_named(struct pyreader *reader, uint64_t type, const char *wanted)
{
	char name[NAME_MAXIMUM];
	struct pytype is;

	return !pytype_read(reader, type, &is) &&
	       pytype_is_native(reader, &is, name, sizeof(name)) && strcmp(name, wanted) == 0;
}

/*
 * Evaluates the few descriptors whose result is known without running code; false: another
 * descriptor.
 */
static bool get_known(struct pyevaluation *evaluation, const struct pyvalue *object,
		      const char *name, const struct class_attribute *has, struct pyname *found)
{
	struct pyreader *reader = evaluation->reader;
	struct pytype type;
	int64_t number;

	/*
	 * A field of a named tuple: _tuplegetter (_collectionsmodule.c) begins with the field's
	 * index.
	 */
	if (object->kind == PYVALUE_TUPLE && has->value && !pytype_of(reader, has->value, &type) &&
	    (is_native_named(reader, type.address, FIELD_GETTER) ||
	     is_native_named(reader, type.address, "_" FIELD_GETTER)))
		return !pyreader_read(reader, has->value + PYREADER_HEAD, &number,
				      sizeof(number)) &&
		       !pytuple_item(reader, object->address, number, &found->value);
	if (has->owner == pyslot_root(reader, object->type) && strcmp(name, "__class__") == 0) {
		found->value = object->type;
		return true;
	}
	/* PyBaseExceptionObject: dict, args. */
	return strcmp(name, "args") == 0 && is_native_named(reader, has->owner, "BaseException") &&
	       !pyreader_pointer(reader, object->address + EXCEPTION_ARGS, &found->value);
}

static bool find_in_instance(struct pyreader *reader, const struct pyvalue *object,
			     const char *name, struct pyname *found)
{
	struct pytable table;
	struct pytype type;

	found->owner = 0;
	return !pytype_of(reader, object->address, &type) &&
	       !pyinstance_table(reader, object->address, &type, &table) && table.entries &&
	       !pyname_in_table(reader, &table, name, found);
}

/* torch.nn.Module.__getattr__ searches three dicts of the module. */
static bool find_registered(struct pyreader *reader, const struct pyvalue *object, const char *name,
			    struct pyname *found)
{
	static const char *const dicts[] = { "_parameters", "_buffers", "_modules" };

	for (size_t i = 0; i < ARRAY_LENGTH(dicts); i++) {
		struct pyname dict;
		struct pytable table;

		if (find_in_instance(reader, object, dicts[i], &dict) &&
		    !pytable_of_dict(reader, dict.value, &table) &&
		    !pyname_in_table(reader, &table, name, found))
			return true;
	}
	return false;
}

static bool is_torch_module(struct pyevaluation *evaluation, uint64_t get_attribute)
{
	uint64_t module;
	struct class_attribute own;
	struct pytype type;

	return !pyevaluation_module(evaluation, "torch.nn.modules.module", "Module", &module) &&
	       !pytype_read(evaluation->reader, module, &type) &&
	       !pyattribute_find_hook(evaluation, module, "__getattr__", &own) &&
	       own.value == get_attribute;
}

/* An OptimizedModule of torch.compile() looks attributes up in the original module. */
static bool is_compiled(struct pyevaluation *evaluation, uint64_t get_attribute)
{
	struct class_attribute own;
	uint64_t module;

	return !pyevaluation_module(evaluation, "torch._dynamo.eval_frame", "OptimizedModule",
				    &module) &&
	       !pyattribute_find_hook(evaluation, module, "__getattr__", &own) &&
	       own.value == get_attribute;
}

static int get_generic(struct pyevaluation *evaluation, const struct pyvalue *object,
		       const char *name, struct pyname *found);

/* Gets an attribute of the original module; 1: there is no original module. */
static int get_of_compiled(struct pyevaluation *evaluation, const struct pyvalue *object,
			   const char *name, struct pyname *found)
{
	struct pyvalue module;
	int result;

	if (!find_registered(evaluation->reader, object, "_orig_mod", found) ||
	    found->value == object->address)
		return 1;
	if (strcmp(name, "_orig_mod") == 0)
		return 0;
	if (evaluation->depth >= COMPILED_MAXIMUM)
		return error_set(evaluation->error,
				 "attribute '%s' not found: more than %d nested compiled modules",
				 name, COMPILED_MAXIMUM);
	if (pyvalue_load(evaluation, found->value, &module))
		return -1;
	evaluation->depth++;
	result = get_generic(evaluation, &module, name, found);
	evaluation->depth--;
	return result;
}

/*
 * Gets an attribute that neither the classes nor the instance have. Python would call __getattr__:
 * the __getattr__ of torch.nn.Module and of OptimizedModule are imitated, any other is refused.
 */
static int ask_getattr(struct pyevaluation *evaluation, const struct pyvalue *object,
		       const char *name, struct pyname *found)
{
	struct class_attribute hook;

	if (pyattribute_find_hook(evaluation, object->type, "__getattr__", &hook))
		return -1;
	if (hook.has == CLASS_NOTHING)
		return refuse_missing(evaluation, object, name);
	if (is_torch_module(evaluation, hook.value) &&
	    find_registered(evaluation->reader, object, name, found))
		return 0;
	if (is_compiled(evaluation, hook.value)) {
		int result = get_of_compiled(evaluation, object, name, found);

		if (result <= 0)
			return result;
	}
	return error_set(evaluation->error,
			 "cannot read attribute '%s' of %s without an agent (its __getattr__ would "
			 "run in the process)",
			 name, pyvalue_type_name(evaluation, object));
}

/* Returns 0 if the object's attributes are found as the head of this file describes, else -1. */
static int check_generic(struct pyevaluation *evaluation, const struct pyvalue *object)
{
	struct pyreader *reader = evaluation->reader;
	uint64_t root = pyslot_root(reader, object->type);
	struct class_attribute hook;
	struct pytype type;

	if (root && pyslot_is_same(reader, object->type, root, PYSLOT_ATTRIBUTE))
		return 0;
	/*
	 * A class with a __getattr__ has another function in the slot, but no own
	 * __getattribute__.
	 */
	if (pytype_read(reader, object->type, &type) || !(type.flags & PYTYPE_HEAP) ||
	    pyattribute_find_hook(evaluation, object->type, "__getattribute__", &hook) ||
	    hook.has != CLASS_NOTHING)
		return error_set(evaluation->error,
				 "cannot read attributes of %s without an agent (code of the class "
				 "would run in the process)",
				 pyvalue_type_name(evaluation, object));
	return 0;
}

static int get_generic(struct pyevaluation *evaluation, const struct pyvalue *object,
		       const char *name, struct pyname *found)
{
	struct class_attribute has;

	if (check_generic(evaluation, object) ||
	    find_in_classes(evaluation, object->type, name, &has))
		return -1;
	if (has.has == CLASS_MEMBER)
		return get_member(evaluation, object, name, &has.member, found);
	if (has.has == CLASS_DATA)
		return get_known(evaluation, object, name, &has, found)
			       ? 0
			       : refuse_code(evaluation, object, name);
	if (find_in_instance(evaluation->reader, object, name, found))
		return 0;
	if (has.has == CLASS_CODE)
		return refuse_code(evaluation, object, name);
	if (has.has == CLASS_NOTHING)
		return ask_getattr(evaluation, object, name, found);
	found->value = has.value;
	found->place = 0;
	return 0;
}

static int get_of_module(struct pyevaluation *evaluation, const struct pyvalue *object,
			 const char *name, struct pyname *found)
{
	struct pyname hook;

	if (find_in_instance(evaluation->reader, object, name, found))
		return 0;
	if (find_in_instance(evaluation->reader, object, "__getattr__", &hook))
		return error_set(evaluation->error,
				 "cannot read attribute '%s' of the module without an agent "
				 "(__getattr__ of the module would run in the process)",
				 name);
	return error_set(evaluation->error, "the module has no attribute '%s'", name);
}

/*
 * Up to 3.11 an enum's members are not plain attributes of the enum class: _member_map_ has the
 * members.
 */
static bool find_enum_member(struct pyevaluation *evaluation, const struct pyvalue *class,
			     const char *name, struct pyname *found)
{
	struct class_attribute map;
	struct pytable table;

	return !find_in_classes(evaluation, class->address, "_member_map_", &map) &&
	       map.has == CLASS_VALUE && !pytable_of_dict(evaluation->reader, map.value, &table) &&
	       !pyname_in_table(evaluation->reader, &table, name, found);
}

static int get_of_class(struct pyevaluation *evaluation, const struct pyvalue *class,
			const char *name, struct pyname *found)
{
	struct class_attribute hook, meta, has;

	if (pyattribute_find_hook(evaluation, class->type, "__getattribute__", &hook) ||
	    find_in_classes(evaluation, class->type, name, &meta) ||
	    find_in_classes(evaluation, class->address, name, &has))
		return -1;
	found->place = 0;
	if (hook.has != CLASS_NOTHING || meta.has == CLASS_DATA || meta.has == CLASS_MEMBER)
		return refuse_code(evaluation, class, name);
	if (find_enum_member(evaluation, class, name, found))
		return 0;
	if (has.has == CLASS_VALUE) {
		found->value = has.value;
		return 0;
	}
	if (has.has == CLASS_NOTHING && meta.has == CLASS_NOTHING)
		return ask_getattr(evaluation, class, name, found);
	return refuse_code(evaluation, class, name);
}

static int pyattribute_find_attribute(struct pyevaluation *evaluation, const struct pyvalue *object,
				      const char *name, struct pyname *found)
{
	struct pyreader *reader = evaluation->reader;

	if (pytype_is(reader, object->address, "module"))
		return get_of_module(evaluation, object, name, found);
	if (pytype_has(reader, object->address, PYTYPE_TYPE))
		return get_of_class(evaluation, object, name, found);
	return get_generic(evaluation, object, name, found);
}

static void set_owner(struct pyreader *reader, const struct pyvalue *object,
		      struct pyexpression_place *place)
{
	struct pytype type;

	place->owner = object->address;
	if (!pytype_of(reader, object->address, &type))
		place->guard = pyinstance_guard(reader, object->address, &type, &place->is_count);
}

/*
 * True if neither the classes nor the instance have the attribute, so that Python would call
 * __getattr__.
 */
static bool pyattribute_is_unknown(struct pyevaluation *evaluation, const struct pyvalue *object,
				   const char *name)
{
	struct class_attribute has;
	struct error unused = ERROR_INIT;
	struct error *error = evaluation->error;
	struct pyname found;
	bool is_known;

	evaluation->error = &unused;
	is_known = find_in_classes(evaluation, object->type, name, &has) ||
		   has.has != CLASS_NOTHING ||
		   find_in_instance(evaluation->reader, object, name, &found);
	evaluation->error = error;
	return !is_known;
}

int pyattribute_get(struct pyevaluation *evaluation, const struct pyvalue *object, const char *name,
		    struct pyvalue *value, struct pyexpression_place *place)
{
	struct pyname found = { .value = 0 };
	int result = 0;

	if (object->kind == PYVALUE_TENSOR || object->kind == PYVALUE_ARRAY)
		result = pyelement_attribute(evaluation, object, name, value);
	if (!result && object->kind == PYVALUE_SERIES)
		result = pyseries_attribute(evaluation, object, name, false, value);
	if (!result && object->kind == PYVALUE_OBJECT)
		result =
			pyseries_attribute(evaluation, object, name,
					   pyattribute_is_unknown(evaluation, object, name), value);
	if (result)
		return result < 0 ? -1 : 0;
	if (!object->address)
		return error_set(evaluation->error,
				 "attributes of a computed %s are not supported without an agent: "
				 "inject one",
				 pyvalue_type_name(evaluation, object));
	if (place)
		set_owner(evaluation->reader, object, place);
	if (pyattribute_find_attribute(evaluation, object, name, &found))
		return -1;
	if (place && found.place) {
		place->address = found.place;
		place->length = 8;
		place->is_object = true;
	}
	/* A NULL member of type T_OBJECT reads as None. */
	*value = (struct pyvalue){ .kind = PYVALUE_NONE };
	return found.value ? pyvalue_load(evaluation, found.value, value) : 0;
}
