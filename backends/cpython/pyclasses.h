/*
 * pyclasses: writes objects of the classes in pyclass-lookup.h. A function named ..._write returns
 * -1, with nothing written, if the object lacks a member that its class defines.
 */
#ifndef BACKENDS_CPYTHON_PYCLASSES_H
#define BACKENDS_CPYTHON_PYCLASSES_H

#include <stdint.h>

struct pypage;
struct pytype;
struct pywriter;

/* "Color.RED = 1" */
int pyenum_write(struct pywriter *writer, uint64_t object, const struct pytype *type);
/* "Point(x=1, y=2)"; pynamedtuple_items() names the children by the fields. */
int pynamedtuple_write(struct pywriter *writer, uint64_t object, const struct pytype *type);
int pynamedtuple_items(struct pypage *page, uint64_t object, const struct pytype *type);
/* "Point(x=1, y=2)" without fields that have repr=False. */
int pydataclass_write(struct pywriter *writer, uint64_t object, const struct pytype *type);
int pyfraction_write(struct pywriter *writer, uint64_t object, const struct pytype *type);
/* "PosixPath('/data')" */
int pypath_write(struct pywriter *writer, uint64_t object, const struct pytype *type);
/* "Counter({'a': 2})", in the order of the dict. */
int pycounter_write(struct pywriter *writer, uint64_t object, const struct pytype *type);
/* "Net (2 parameters, 3 modules)": the module's own, without those of submodules. */
int pymodule_write(struct pywriter *writer, uint64_t object, const struct pytype *type);

#endif
