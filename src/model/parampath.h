/*
 * parampath: the expression that names the elements of a parameter, made of
 * the one that was walked and of the name that came. That name is what another
 * process says: nothing of it becomes code, only names, numbers and strings.
 */
#ifndef MODEL_PARAMPATH_H
#define MODEL_PARAMPATH_H

#include <stdbool.h>

/*
 * "model" and "layers.0.weight": model.layers._modules["0"].weight (way 0, a
 * module's, or a list's item), model["layers.0.weight"] (way 1, a dict's); its
 * gradient has ".grad" behind that. Owned by the caller; NULL: there is no
 * such way.
 */
char *parampath_make(const char *expression, const char *name, int way, bool is_gradient);

#endif
