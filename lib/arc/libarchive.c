// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libarchive, loaded when it is first needed.
 *
 * All versions 3 have the same binary interface and library name.
 */
#include "arc/libarchive.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#if ARCHIVE_VERSION_NUMBER / 1000000 != 3
#error "the name of the shared library is that of libarchive 3"
#endif

#define LIBRARY "libarchive.so.13"

/* Looks up a function: ISO C does not permit the conversion of a data pointer to one. */
static int find_symbol(struct libarchive *la, struct context *cx,
		       const char *name, void *function)
{
	void *symbol = dlsym(la->handle, name);

	memcpy(function, &symbol, sizeof(symbol));
	return symbol ? 0 : fail_said(cx, -EOPNOTSUPP, "%s: has no %s()",
				      LIBRARY, name);
}

int libarchive_open(struct libarchive *la, struct context *cx)
{
	int err = 0;

	memset(la, 0, sizeof(*la));
	la->handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!la->handle)
		return fail_said(cx, -EOPNOTSUPP, "%s: not installed", LIBRARY);
#define FIND(name)                                                          \
	if (!err)                                                           \
		err = find_symbol(la, cx, #name, &la->name);
	LIBARCHIVE_FUNCTIONS(FIND)
#undef FIND
	if (err)
		libarchive_close(la);
	return err;
}

void libarchive_close(struct libarchive *la)
{
	if (la->handle)
		dlclose(la->handle);
	la->handle = NULL;
}
