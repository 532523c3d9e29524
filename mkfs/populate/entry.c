// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Changes of the attributes of all files of a source: owners, times, exclusions.
 *
 * A source fills an entry with the attributes of a file, and the same changes are
 * made to it for every source.  Ids are numbers, since user names of this machine
 * have no meaning on the volume.
 */
#include "config.h"

#include "mkfs/populate/entry.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* chown(2) defines the last id as "unchanged", so no file can have it. */
#define ID_MAX (UINT32_MAX - 1)

const char *entry_loss_name(enum entry_loss loss)
{
	static const char *const names[ENTRY_LOSSES] = {
		[ENTRY_XATTR] = "extended attributes",
		[ENTRY_ACL] = "access control lists",
		[ENTRY_CAPABILITY] = "capabilities",
		[ENTRY_FLAGS] = "inode flags",
	};

	return names[loss];
}

/* Reads a number of at most MAX at *TEXT and advances *TEXT. */
static bool entry_take_number(const char **text, uint32_t max, uint32_t *value)
{
	const char *p = *text;
	uint64_t v = 0;

	for (; *p >= '0' && *p <= '9'; p++) {
		v = v * 10 + (uint64_t)(*p - '0');
		if (v > max)
			return false;
	}
	if (p == *text)
		return false;
	*text = p;
	*value = (uint32_t)v;
	return true;
}

int entry_parse_owner(struct context *cx, const char *text,
		      struct entry_rules *rules)
{
	const char *p = text;
	uint32_t uid = 0, gid = 0;
	bool has_uid = *p != ':', has_gid, good = true;

	if (has_uid)
		good = entry_take_number(&p, ID_MAX, &uid);
	has_gid = good && *p == ':';
	if (has_gid) {
		p++;
		good = entry_take_number(&p, ID_MAX, &gid);
	}
	if (!good || *p)
		return fail(cx, -EINVAL, "--owner: '%s' is not UID[:GID]",
			    text);
	if (has_uid) {
		rules->set_uid = true;
		rules->uid = uid;
	}
	if (has_gid) {
		rules->set_gid = true;
		rules->gid = gid;
	}
	return 0;
}

int entry_parse_map(struct context *cx, const char *option, const char *text,
		    struct entry_map **maps, size_t *n)
{
	const char *p = text;
	struct entry_map map;
	uint64_t highest;
	size_t room, i;
	bool good;

	do {
		map = (struct entry_map){ .count = 1 };
		good = entry_take_number(&p, ID_MAX, &map.from) && *p++ == ':' &&
		       entry_take_number(&p, ID_MAX, &map.to);
		if (good && *p == ':') {
			p++;
			good = entry_take_number(&p, UINT32_MAX, &map.count) &&
			       map.count;
		}
		highest = map.from > map.to ? map.from : map.to;
		if (!good || highest + map.count - 1 > ID_MAX ||
		    (*p && *p != ','))
			return fail(cx, -EINVAL,
				    "%s: '%s' is not FROM:TO[:COUNT],...",
				    option, text);
		for (i = 0; i < *n; i++) {
			const struct entry_map *m = *maps + i;

			if (map.from < (uint64_t)m->from + m->count &&
			    m->from < (uint64_t)map.from + map.count)
				return fail(cx, -EINVAL,
					    "%s: id %u is mapped twice", option,
					    map.from > m->from ? map.from :
								 m->from);
		}
		room = *n;
		if (array_reserve(cx, maps, &room, *n + 1))
			return -ENOMEM;
		(*maps)[(*n)++] = map;
	} while (*p++);
	return 0;
}

void entry_rules_fini(struct entry_rules *rules)
{
	free(rules->uid_maps);
	free(rules->gid_maps);
	rules->uid_maps = NULL;
	rules->gid_maps = NULL;
	rules->nuid_maps = 0;
	rules->ngid_maps = 0;
}

static uint32_t mapped(const struct entry_map *maps, size_t n, uint32_t id)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (id >= maps[i].from && id - maps[i].from < maps[i].count)
			return maps[i].to + (id - maps[i].from);
	return id;
}

void entry_apply(const struct entry_rules *rules, struct entry *e)
{
	e->uid = mapped(rules->uid_maps, rules->nuid_maps, e->uid);
	e->gid = mapped(rules->gid_maps, rules->ngid_maps, e->gid);
	if (rules->set_uid)
		e->uid = rules->uid;
	if (rules->set_gid)
		e->gid = rules->gid;
	/* A fraction of a second makes a file younger than the whole second. */
	if (rules->set_mtime ||
	    (rules->clamp_mtime &&
	     (e->mtime > rules->mtime ||
	      (e->mtime == rules->mtime && e->mtime_nsec)))) {
		e->mtime = rules->mtime;
		e->mtime_nsec = 0;
	}
}

bool entry_excluded(const struct entry_rules *rules, const char *path)
{
	const char *pattern, *at;
	bool top;
	size_t i;

	for (i = 0; i < rules->nexclude; i++) {
		pattern = rules->exclude[i];
		top = pattern[0] == '.' && pattern[1] == '/';
		if (top)
			pattern += 2;
		for (at = path; at; at = top ? NULL : strchr(at, '/')) {
			at += !top && *at == '/';
			/* A pattern matches the path or a parent directory. */
			if (!fnmatch(pattern, at, FNM_LEADING_DIR))
				return true;
		}
	}
	return false;
}

/*
 * By the OCI image specification (layer.md) whiteouts are recognized by name:
 * the type does not matter, since some tools hard-link them.  Names with the
 * prefix twice, except the opaque one, are internal to aufs; container tools
 * ignore them.
 */
enum entry_whiteout entry_whiteout(const char *name, size_t len)
{
	if (len < WHITEOUT_PREFIX_LEN ||
	    memcmp(name, WHITEOUT_PREFIX, WHITEOUT_PREFIX_LEN) != 0)
		return WHITEOUT_NONE;
	name += WHITEOUT_PREFIX_LEN;
	len -= WHITEOUT_PREFIX_LEN;
	if (len == 8 && !memcmp(name, ".wh..opq", 8))
		return WHITEOUT_OPAQUE;
	if (len >= WHITEOUT_PREFIX_LEN &&
	    !memcmp(name, WHITEOUT_PREFIX, WHITEOUT_PREFIX_LEN))
		return WHITEOUT_OTHER;
	return !len || (len < 3 && !memcmp(name, "..", len)) ? WHITEOUT_BAD :
							       WHITEOUT_NAME;
}
