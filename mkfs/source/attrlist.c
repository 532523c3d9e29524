// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lists of extended attributes.
 *
 * Most files have none, which takes one system call.  Security labels other than
 * capabilities are set by the policy of the running system for all files, and are
 * not counted as lost.
 */
#include "config.h"

#include "mkfs/source/attrlist.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/xattr.h>

/* The kernel's limit for a list. */
#define LIST_MAX 65536

unsigned int attrlist_losses(int fd)
{
	unsigned int losses = 0;
	const char *name;
	ssize_t len, at;
	char *list;

	if (flistxattr(fd, NULL, 0) <= 0)
		return 0;
	list = malloc(LIST_MAX);
	len = list ? flistxattr(fd, list, LIST_MAX) : 0;
	for (at = 0; at < len; at += (ssize_t)strlen(name) + 1) {
		name = list + at;
		if (!strcmp(name, "security.capability"))
			losses |= 1u << ENTRY_CAPABILITY;
		else if (!strncmp(name, "system.posix_acl_", 17))
			losses |= 1u << ENTRY_ACL;
		else if (strncmp(name, "security.", 9) != 0)
			losses |= 1u << ENTRY_XATTR;
	}
	free(list);
	return losses;
}

int attrlist_report(struct context *cx, struct populate *p,
		    const struct sourcedir *dir, const char *name, size_t len,
		    unsigned int losses)
{
	char path[SOURCEDIR_PATH_MAX];
	unsigned int i;
	int err = 0;

	if (!losses)
		return 0;
	sourcedir_path(dir, name, len, path);
	for (i = 0; !err && i < ENTRY_LOSSES; i++)
		if (losses & 1u << i)
			err = populate_loss(p, cx, path, i);
	return err;
}
