/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One file of a source, whatever the source is, and what the user wants done
 * to all of them: --owner, --uid-map, --gid-map, --mtime, --exclude.
 */
#ifndef NILFS2_MKFS_ENTRY_H
#define NILFS2_MKFS_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

/* What NILFS2 can hold of a file besides its name and content. */
struct entry {
	uint16_t mode;		/* type and permissions, as st_mode */
	uint32_t uid, gid;
	int64_t mtime;		/* seconds */
	uint32_t mtime_nsec;
	uint32_t major, minor;	/* of a device node */
	uint64_t size;		/* bytes of a regular file */
	const char *target;	/* of a symbolic link; borrowed, any bytes */
	uint32_t target_len;
};

/* What NILFS2 cannot hold.  Counted, and told once per kind. */
enum entry_loss {
	ENTRY_XATTR,		/* user.*, trusted.*, ... */
	ENTRY_ACL,		/* system.posix_acl_* */
	ENTRY_CAPABILITY,	/* security.capability */
	ENTRY_FLAGS,		/* immutable and the like */
	ENTRY_LOSSES
};

/* "extended attributes", ... for messages. */
const char *entry_loss_name(enum entry_loss loss);

/* A range of ids: COUNT from FROM on become those from TO on. */
struct entry_map {
	uint32_t from, to, count;
};

struct entry_rules {
	bool set_uid, set_gid;		/* --owner */
	uint32_t uid, gid;
	struct entry_map *uid_maps, *gid_maps;
	size_t nuid_maps, ngid_maps;
	bool set_mtime;			/* --mtime: all files have this time */
	bool clamp_mtime;		/* no file is younger than this */
	int64_t mtime;
	const char *const *exclude;	/* patterns of fnmatch(3) */
	size_t nexclude;
};

/*
 * Parses --owner "UID[:GID]" (":GID" alone sets the group), --uid-map and
 * --gid-map "FROM:TO[:COUNT],...".  -EINVAL, naming the option.
 */
int entry_parse_owner(struct context *cx, const char *text,
		      struct entry_rules *rules);
int entry_parse_map(struct context *cx, const char *option, const char *text,
		    struct entry_map **maps, size_t *n);
void entry_rules_fini(struct entry_rules *rules);

/* Carries out owner, maps and time.  The maps come before the owner. */
void entry_apply(const struct entry_rules *rules, struct entry *e);

/*
 * True where PATH, relative to the top and without a leading "./" or "/", is
 * left out, and all below it: a pattern with a slash is matched against the
 * whole path, one without against the last name, as tar's --exclude does.
 */
bool entry_excluded(const struct entry_rules *rules, const char *path);

#endif
