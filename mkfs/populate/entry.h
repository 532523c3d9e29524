/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One file of any source, and the rules for all of them: --owner, --uid-map,
 * --gid-map, --mtime, --exclude.
 */
#ifndef NILFS2_MKFS_ENTRY_H
#define NILFS2_MKFS_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

/* The attributes of a file that NILFS2 can store, except name and content. */
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

/* Attributes that NILFS2 cannot store.  Counted, and reported once per kind. */
enum entry_loss {
	ENTRY_XATTR,		/* user.*, trusted.*, ... */
	ENTRY_ACL,		/* system.posix_acl_* */
	ENTRY_CAPABILITY,	/* security.capability */
	ENTRY_FLAGS,		/* immutable and the like */
	ENTRY_LOSSES
};

/* "extended attributes", ... for messages. */
const char *entry_loss_name(enum entry_loss loss);

/* A range of ids: the COUNT ids from FROM are mapped to the ids from TO. */
struct entry_map {
	uint32_t from, to, count;
};

struct entry_rules {
	bool set_uid, set_gid;		/* --owner */
	uint32_t uid, gid;
	struct entry_map *uid_maps, *gid_maps;
	size_t nuid_maps, ngid_maps;
	bool set_mtime;			/* all files get `mtime` */
	bool clamp_mtime;		/* no file is younger than `mtime` */
	int64_t mtime;
	const char *const *exclude;	/* patterns of fnmatch(3) */
	size_t nexclude;
	bool holes;			/* --sparse: blocks of zeros are
					 * holes */
	bool whiteouts;			/* --oci: apply those of archives */
};

/*
 * Parses --owner "UID[:GID]" (":GID" sets only the group), --uid-map and --gid-map
 * "FROM:TO[:COUNT],...".  Maps are appended to the *N maps in *MAPS, a malloc()ed
 * array or NULL.  -EINVAL, naming the option, for a syntax error, an id above
 * 4294967294 or an id that is mapped twice; -ENOMEM.
 */
int entry_parse_owner(struct context *cx, const char *text,
		      struct entry_rules *rules);
int entry_parse_map(struct context *cx, const char *option, const char *text,
		    struct entry_map **maps, size_t *n);

/* Frees the maps; the patterns stay owned by the caller. */
void entry_rules_fini(struct entry_rules *rules);

/*
 * Applies owner, maps and time.  An id without a map is kept; the owner overrides
 * the maps.
 */
void entry_apply(const struct entry_rules *rules, struct entry *e);

/*
 * True if PATH, relative to the top and without a leading "./" or "/", is excluded:
 * a pattern matches it or one of its parent directories.  As with tar's --exclude a
 * match may begin at the top or after any slash, only at the top if the pattern
 * begins with "./", and wildcards match slashes too.
 */
bool entry_excluded(const struct entry_rules *rules, const char *path);

/* Names in layers of container images that remove names of lower layers. */
#define WHITEOUT_PREFIX ".wh."
#define WHITEOUT_PREFIX_LEN 4u

enum entry_whiteout {
	WHITEOUT_NONE,		/* an ordinary file */
	WHITEOUT_NAME,		/* removes the name after the prefix */
	WHITEOUT_OPAQUE,	/* removes all lower names of the directory */
	WHITEOUT_OTHER,		/* internal to aufs; ignored */
	WHITEOUT_BAD,		/* names "." or ".." */
};

/* The meaning of NAME (LEN bytes, without slashes) in such a layer. */
enum entry_whiteout entry_whiteout(const char *name, size_t len);

#endif
