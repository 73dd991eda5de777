/*
 * cpp-name: a demangled C++ name as short as a person wants it.
 */
#ifndef BACKENDS_NATIVE_CPP_NAME_H
#define BACKENDS_NATIVE_CPP_NAME_H

#include <stdbool.h>

/*
 * Without what the function takes and gives back, and with <…> for what
 * stands in angle brackets: "std::vector<int>::at(unsigned long)" becomes
 * "std::vector<…>::at". To be freed.
 */
char *cpp_name_shorten(const char *name);

/*
 * Whether a mangled name can be demangled in little time and memory. A name of
 * some hundred bytes can say the same thing twice, that twice, and so on, and
 * the demangler of libstdc++ has no limit.
 */
bool cpp_name_is_modest(const char *mangled);

#endif
