/*
 * cppname: a demangled C++ name as short as a person wants it.
 */
#ifndef BACKENDS_PTRACE_CPPNAME_H
#define BACKENDS_PTRACE_CPPNAME_H

/*
 * Without what the function takes and gives back, and with <…> for what
 * stands in angle brackets: "std::vector<int>::at(unsigned long)" becomes
 * "std::vector<…>::at". To be freed.
 */
char *cppname_shorten(const char *name);

#endif
