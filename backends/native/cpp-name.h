/* cpp-name: shortens demangled C++ names for people. */
#ifndef BACKENDS_NATIVE_CPP_NAME_H
#define BACKENDS_NATIVE_CPP_NAME_H

#include <stdbool.h>

/*
 * Removes parameters and return type, and replaces template arguments by <…>:
 * "std::vector<int>::at(unsigned long)" becomes "std::vector<…>::at". To be freed.
 */
char *cpp_name_shorten(const char *name);

/*
 * Whether a mangled name can be demangled in little time and memory. A name of some hundred bytes
 * can repeat a part twice, that part twice, and so on, and libstdc++'s demangler has no limit.
 */
bool cpp_name_is_modest(const char *mangled);

#endif
