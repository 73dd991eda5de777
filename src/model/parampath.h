/*
 * parampath: makes a Python expression for a parameter, from the expression that was
 * requested and the parameter's name. The name comes from another process: only its
 * names, numbers and quoted strings get into the expression, never code.
 */
#ifndef MODEL_PARAMPATH_H
#define MODEL_PARAMPATH_H

#include <stdbool.h>

/*
 * Makes from "model" and "layers.0.weight": model.layers._modules["0"].weight (way 0: a
 * module's member, or a list's item) or model["layers.0.weight"] (way 1: a dict's); for a
 * gradient followed by ".grad". The caller frees the string; NULL: another way.
 */
char *parampath_make(const char *expression, const char *name, int way, bool is_gradient);

#endif
