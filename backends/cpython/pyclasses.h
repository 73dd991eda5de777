/*
 * pyclasses: what is written of objects whose class is known (pyclass-lookup.h). The
 * functions named ..._write give -1, with nothing written, for an object that
 * lacks what its class should give it.
 */
#ifndef BACKENDS_CPYTHON_PYCLASSES_H
#define BACKENDS_CPYTHON_PYCLASSES_H

#include <stdint.h>

struct pypage;
struct pytype;
struct pywriter;

/* "Color.RED = 1" */
int pyenum_write(struct pywriter *writer, uint64_t object, const struct pytype *type);
/* "Point(x=1, y=2)", and so are items named. */
int pynamedtuple_write(struct pywriter *writer, uint64_t object, const struct pytype *type);
int pynamedtuple_items(struct pypage *page, uint64_t object, const struct pytype *type);
/* "Point(x=1, y=2)" without fields that have repr=False. */
int pydataclass_write(struct pywriter *writer, uint64_t object, const struct pytype *type);
int pyfraction_write(struct pywriter *writer, uint64_t object, const struct pytype *type);
/* "PosixPath('/data')" */
int pypath_write(struct pywriter *writer, uint64_t object, const struct pytype *type);
/* "Counter({'a': 2})", in the order of the dict. */
int pycounter_write(struct pywriter *writer, uint64_t object, const struct pytype *type);
/* "Net (2 parameters, 3 modules)": those that are its own. */
int pymodule_write(struct pywriter *writer, uint64_t object, const struct pytype *type);

#endif
