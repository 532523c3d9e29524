// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of members: repeated slashes and "." are ignored, and names that lead
 * out of the volume are refused.
 */
#include "mkfs/tar/tarpath.h"

#include <string.h>

#include "disk/ondisk.h"

size_t tarpath_next(const char **path, const char **name)
{
	size_t len;

	do {
		*path += strspn(*path, "/");
		*name = *path;
		len = strcspn(*path, "/");
		*path += len;
	} while (len == 1 && **name == '.');
	return len;
}

const char *tarpath_check(const char *path)
{
	const char *name;
	size_t len;

	while ((len = tarpath_next(&path, &name))) {
		if (len == 2 && name[0] == '.' && name[1] == '.')
			return "leads out of the volume";
		if (len > NILFS_NAME_LEN)
			return "name of more than 255 bytes";
	}
	return NULL;
}

void tarpath_plain(const char *path, char *buf)
{
	const char *name;
	size_t len, used = 0;

	while ((len = tarpath_next(&path, &name))) {
		if (used)
			buf[used++] = '/';
		memcpy(buf + used, name, len);
		used += len;
	}
	buf[used] = '\0';
}
