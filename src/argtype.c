/*
 * argtype.c - a table of type names. It only grows: what was numbered may be in use by BPF until the end.
 */
#include "argtype.h"
#include "base.h"
#include "funcargs.h"

static struct {
	char **name;
	size_t count, room;
} types;

uint32_t argtype_of(const char *name, size_t len)
{
	len = MIN(len, (size_t)TYPE_NAME_MAX - 1);
	for (size_t i = 0; i < types.count; i++)
		if (strlen(types.name[i]) == len && !memcmp(types.name[i], name, len))
			return i + 1;
	if (grow(&types.name, &types.room, types.count, sizeof(*types.name)))
		return 0;
	types.name[types.count] = strndup(name, len);
	return types.name[types.count] ? ++types.count : 0;
}

const char *argtype_name(uint32_t type)
{
	return type && type <= types.count ? types.name[type - 1] : "";
}
