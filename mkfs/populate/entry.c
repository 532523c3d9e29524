// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rules for all files of a source.
 *
 * Pure: a source fills an entry with the attributes of a file, and the rules
 * are applied to it here, the same for every source.  Ids are numbers, since
 * user names of this machine mean nothing on the volume.
 */
#include "config.h"

#include "mkfs/populate/entry.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* The last id is what chown(2) takes for "leave it": no file can have it. */
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

/* Reads digits at *TEXT, at most MAX, and moves *TEXT after them. */
static bool take_number(const char **text, uint64_t max, uint64_t *value)
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
	*value = v;
	return true;
}

static bool take_id(const char **text, uint32_t *id)
{
	uint64_t v;

	if (!take_number(text, ID_MAX, &v))
		return false;
	*id = (uint32_t)v;
	return true;
}

int entry_parse_owner(struct context *cx, const char *text,
		      struct entry_rules *rules)
{
	const char *p = text;
	uint32_t uid = 0, gid = 0;
	bool has_uid = *p != ':', has_gid, good = true;

	if (has_uid)
		good = take_id(&p, &uid);
	has_gid = good && *p == ':';
	if (has_gid) {
		p++;
		good = take_id(&p, &gid);
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

static bool take_map(const char **text, struct entry_map *map)
{
	uint64_t count = 1, highest;

	if (!take_id(text, &map->from) || *(*text)++ != ':' ||
	    !take_id(text, &map->to))
		return false;
	if (**text == ':') {
		++*text;
		if (!take_number(text, UINT32_MAX, &count) || !count)
			return false;
	}
	highest = map->from > map->to ? map->from : map->to;
	map->count = (uint32_t)count;
	return highest + count - 1 <= ID_MAX;
}

static bool maps_meet(const struct entry_map *a, const struct entry_map *b)
{
	return a->from < (uint64_t)b->from + b->count &&
	       b->from < (uint64_t)a->from + a->count;
}

static int add_map(struct context *cx, const char *option,
		   const struct entry_map *map, struct entry_map **maps,
		   size_t *n)
{
	size_t room = *n, i;

	for (i = 0; i < *n; i++)
		if (maps_meet(map, *maps + i))
			return fail(cx, -EINVAL,
				    "%s: id %u is mapped twice", option,
				    map->from > (*maps)[i].from ?
				    map->from : (*maps)[i].from);
	if (array_reserve(cx, maps, &room, *n + 1))
		return -ENOMEM;
	(*maps)[(*n)++] = *map;
	return 0;
}

int entry_parse_map(struct context *cx, const char *option, const char *text,
		    struct entry_map **maps, size_t *n)
{
	const char *p = text;
	struct entry_map map;
	int err = 0;

	do {
		if (!take_map(&p, &map) || (*p && *p != ','))
			return fail(cx, -EINVAL,
				    "%s: '%s' is not FROM:TO[:COUNT],...",
				    option, text);
		err = add_map(cx, option, &map, maps, n);
	} while (!err && *p++);
	return err;
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

/* A fraction of a second makes a file younger than the whole second. */
static bool is_younger(const struct entry *e, int64_t mtime)
{
	return e->mtime > mtime || (e->mtime == mtime && e->mtime_nsec);
}

void entry_apply(const struct entry_rules *rules, struct entry *e)
{
	e->uid = mapped(rules->uid_maps, rules->nuid_maps, e->uid);
	e->gid = mapped(rules->gid_maps, rules->ngid_maps, e->gid);
	if (rules->set_uid)
		e->uid = rules->uid;
	if (rules->set_gid)
		e->gid = rules->gid;
	if (rules->set_mtime ||
	    (rules->clamp_mtime && is_younger(e, rules->mtime))) {
		e->mtime = rules->mtime;
		e->mtime_nsec = 0;
	}
}

/* True where PATTERN matches PATH or a directory that leads to it. */
static bool matches(const char *pattern, const char *path)
{
	return !fnmatch(pattern, path, FNM_LEADING_DIR);
}

static bool matches_anywhere(const char *pattern, const char *path)
{
	if (pattern[0] == '.' && pattern[1] == '/')
		return matches(pattern + 2, path);
	for (; path; path = strchr(path, '/')) {
		path += *path == '/';
		if (matches(pattern, path))
			return true;
	}
	return false;
}

bool entry_excluded(const struct entry_rules *rules, const char *path)
{
	size_t i;

	for (i = 0; i < rules->nexclude; i++)
		if (matches_anywhere(rules->exclude[i], path))
			return true;
	return false;
}
