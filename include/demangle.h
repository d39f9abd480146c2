/*
 * demangle.h - the name of a C++ function without its arguments, as uftrace shows and matches it.
 */
#ifndef DEMANGLE_H
#define DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * "ns::Class::method" from an Itanium C++ name: without template arguments, parameters and qualifiers. False,
 * and nothing in @to that is to be used, for what is none, does not fit, or is one of the rare kinds that are
 * not read: functions inside functions, conversion operators, names that refer back to others.
 */
bool demangle_simple(const char *mangled, char *to, size_t room);

#endif
