// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The directories above the checkpoints, in a mount of all.
 *
 * For each request the entries of the cpfile are read from the position on.  Only
 * the times, which need not ascend with the numbers, are collected and sorted, at
 * the first request for them.
 */
#include "dump/mount/mountall.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/timefmt.h"
#include "disk/checkpoint.h"
#include "vol/cptable.h"

/*
 * Nodes with checkpoint number 0, and the inode number of a link to a checkpoint,
 * which in the checkpoint is that of a metadata file.
 */
enum {
	SNAPSHOTS = MOUNTFS_TOP + 1,
	TIMES,
	LATEST,
	LINK_INO = NILFS_DAT_INO,
};

/* Positions in the root directory: its fixed names, then the checkpoints. */
static const struct fixed_name {
	const char *name;
	uint64_t node;
} fixed_names[] = {
	{ ".", MOUNTFS_TOP }, { "..", MOUNTFS_TOP }, { "latest", LATEST },
	{ "snapshots", SNAPSHOTS }, { "times", TIMES },
};

#define FIXED (sizeof(fixed_names) / sizeof(fixed_names[0]))
#define DOTS 2

bool mountall_has(const struct mountfs *fs, uint64_t node)
{
	const uint64_t ino = node & ((UINT64_C(1) << fs->ino_bits) - 1);

	return fs->all && (!(node >> fs->ino_bits) || ino == LINK_INO);
}

static bool is_directory(const struct mountfs *fs, uint64_t node)
{
	return !(node >> fs->ino_bits) && node != LATEST;
}

int mountall_readlink(struct mountfs *fs, struct context *cx, uint64_t node,
		      char target[SYMLINK_TARGET_MAX + 1])
{
	if (is_directory(fs, node))
		return fail(cx, -EINVAL, "a directory");
	if (node == LATEST)
		snprintf(target, SYMLINK_TARGET_MAX, "%llu",
			 (unsigned long long)fs->vol->latest.cno);
	else
		snprintf(target, SYMLINK_TARGET_MAX, "../%llu",
			 (unsigned long long)node >> fs->ino_bits);
	return 0;
}

int mountall_stat(struct mountfs *fs, struct context *cx, uint64_t node,
		  struct stat *st)
{
	char target[SYMLINK_TARGET_MAX + 1];
	int err;

	*st = fs->above;
	st->st_ino = node;
	if (is_directory(fs, node)) {
		st->st_mode = S_IFDIR | 0555;
		st->st_nlink = node == MOUNTFS_TOP ? 4 : 2;
		return 0;
	}
	err = mountall_readlink(fs, cx, node, target);
	st->st_mode = S_IFLNK | 0777;
	st->st_nlink = 1;
	st->st_size = (off_t)strlen(target);
	return err;
}

/* Parses NAME, a number without leading zeros; false if it is something else. */
static bool parse_cno(const char *name, uint64_t *cno)
{
	char text[24];

	if (strlen(name) >= sizeof(text))
		return false;
	*cno = strtoull(name, NULL, 10);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)*cno);
	return !strcmp(name, text);
}

static int compare_times(const void *a, const void *b)
{
	const struct mountfs_time *x = a, *y = b;

	return sort_order(x->time, y->time) ?: sort_order(x->cno, y->cno);
}

/* Sets `times` to the times, sorted, with the newest checkpoint of each second. */
static int read_times(struct mountfs *fs, struct context *cx)
{
	struct mountfs_time *times = NULL;
	struct cptable_cursor cur;
	struct nilfs_checkpoint cp;
	size_t count = 0, room = 0, i;
	int ret;

	if (fs->times)
		return 0;
	ret = cptable_cursor_open(&cur, cx, fs->vol);
	while (!ret && (ret = cptable_cursor_next(&cur, cx, &cp)) > 0) {
		ret = array_reserve(cx, &times, &room, count + 1);
		if (!ret)
			times[count++] = (struct mountfs_time){
				(int64_t)le64_get(cp.cp_create), cur.cno - 1
			};
	}
	cptable_cursor_close(&cur);
	if (ret) {
		free(times);
		return ret;
	}
	fs->times = times;
	fs->ntimes = 0;
	sort_in_place(times, count, sizeof(*times), compare_times);
	for (i = 0; i < count; i++)
		if (i + 1 == count || times[i + 1].time != times[i].time)
			times[fs->ntimes++] = times[i];
	return 0;
}

static bool is_not_newer(const void *item, const void *key)
{
	const struct mountfs_time *t = item;

	return t->time <= *(const int64_t *)key;
}

int mountall_lookup(struct mountfs *fs, struct context *cx, uint64_t parent,
		    const char *name, uint64_t *node)
{
	const bool top = parent == MOUNTFS_TOP;
	char text[TIMEFMT_ISO_MAX];
	struct nilfs_checkpoint cp;
	struct root *root;
	uint64_t cno = 0;
	int64_t time;
	size_t i;
	int err;

	for (i = DOTS; top && i < FIXED; i++) {
		if (strcmp(name, fixed_names[i].name))
			continue;
		*node = fixed_names[i].node;
		return 0;
	}
	if (top && parse_cno(name, &cno) && cno) {
		err = mountnode_root(fs, cx, cno, &root);
	} else if (parent == SNAPSHOTS && parse_cno(name, &cno)) {
		err = cptable_read(fs->vol, cx, cno, &cp);
		if (!err && !checkpoint_is_snapshot(&cp))
			err = fail(cx, -ENOENT, "'%s'", name);
	} else if (parent == TIMES && timefmt_parse(name, &time) &&
		   !strcmp(name, timefmt_iso(time, text))) {
		/* The newest checkpoint of that time or before. */
		err = read_times(fs, cx);
		if (err)
			return err;
		i = search_first(fs->times, fs->ntimes, sizeof(*fs->times),
				 is_not_newer, &time);
		if (!i)
			return fail(cx, -ENOENT, "no checkpoint at that time or before");
		cno = fs->times[i - 1].cno;
	} else {
		return fail(cx, is_directory(fs, parent) ? -ENOENT : -ENOTDIR,
			    "'%s'", name);
	}
	return err ? err : mountnode_make(fs, cx, cno,
					  top ? NILFS_ROOT_INO : LINK_INO, node);
}

/* Calls TAKE for the entry NAME, which is NODE. */
static int list_node(struct mountfs *fs, struct context *cx, const char *name,
		     uint64_t node, uint64_t next, mountfs_take take, void *arg)
{
	struct mountfs_entry entry = {
		.name = name, .node = *name == '.' ? 0 : node, .next = next,
	};
	int err;

	/* A checkpoint that cannot be read is listed without attributes. */
	err = mountall_has(fs, node) ?
		      mountall_stat(fs, cx, node, &entry.st) :
		      mountnode_stat(fs, cx, node, &entry.st);
	if (err) {
		fail_clear(cx);
		entry.node = 0;
		entry.st = (struct stat){
			.st_ino = node, .st_mode = S_IFDIR,
		};
	}
	return take(arg, &entry);
}

/* Lists checkpoints, or snapshots, after the entry at POSITION; the first BEFORE
   positions are fixed names. */
static int list_checkpoints(struct mountfs *fs, struct context *cx,
			    uint64_t position, uint64_t before, bool snapshots,
			    mountfs_take take, void *arg)
{
	struct cptable_cursor cur;
	struct nilfs_checkpoint cp;
	char name[24];
	uint64_t cno, node;
	int ret = cptable_cursor_open_at(&cur, cx, fs->vol,
					 position - before + 1);

	while (!ret && (ret = cptable_cursor_next(&cur, cx, &cp)) > 0) {
		ret = 0;
		cno = cur.cno - 1;
		if (snapshots && !checkpoint_is_snapshot(&cp))
			continue;
		snprintf(name, sizeof(name), "%llu", (unsigned long long)cno);
		ret = mountnode_make(fs, cx, cno,
				     snapshots ? LINK_INO : NILFS_ROOT_INO,
				     &node);
		if (!ret)
			ret = list_node(fs, cx, name, node, before + cno, take,
					arg);
	}
	cptable_cursor_close(&cur);
	return ret < 0 ? ret : 0;
}

int mountall_list(struct mountfs *fs, struct context *cx, uint64_t node,
		  uint64_t position, mountfs_take take, void *arg)
{
	size_t fixed = node == MOUNTFS_TOP ? FIXED : DOTS, i;
	char name[TIMEFMT_ISO_MAX];
	uint64_t link;
	int ret = 0;

	if (!is_directory(fs, node))
		return fail(cx, -ENOTDIR, "a link");
	for (; !ret && position < fixed; position++) {
		const struct fixed_name *f = &fixed_names[position];

		ret = list_node(fs, cx, f->name, position ? f->node : node,
				position + 1, take, arg);
	}
	if (ret)
		return ret < 0 ? ret : 0;
	if (node != TIMES)
		return list_checkpoints(fs, cx, position, fixed,
					node == SNAPSHOTS, take, arg);
	ret = read_times(fs, cx);
	for (i = position - DOTS; !ret && i < fs->ntimes; i++) {
		timefmt_iso(fs->times[i].time, name);
		ret = mountnode_make(fs, cx, fs->times[i].cno, LINK_INO, &link);
		if (!ret)
			ret = list_node(fs, cx, name, link, DOTS + i + 1, take,
					arg);
	}
	return ret < 0 ? ret : 0;
}
