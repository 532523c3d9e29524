// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a volume holds for its users, in sums that can be compared.
 *
 * The files are those of treesum.h.  Of a checkpoint its time and whether it
 * is a snapshot count: the rest of its entry changes when blocks move.
 */
#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/crc.h"
#include "tests/testdev/memory.h"
#include "disk/checkpoint.h"
#include "tests/fuzz/arena.h"
#include "vol/cptable.h"
#include "vol/dir.h"
#include "vol/root.h"
#include "vol/volume.h"

#define DEEPEST 32 /* directories in a path */

/* An image that is open, or not: then VOL is NULL. */
struct image {
	struct context cx;
	struct dev *dev;
	struct volume *vol;
};

static void image_open(struct image *im, const char *bytes, size_t size)
{
	static const struct volume_options as_mounted = {
		.roll_forward = true,
	};

	context_init(&im->cx);
	if (memory_open_const(&im->dev, &im->cx, bytes, size))
		arena_die(im->cx.failure);
	if (volume_open(&im->vol, &im->cx, im->dev, &as_mounted))
		im->vol = NULL;
	fail_clear(&im->cx);
}

static void image_close(struct image *im)
{
	volume_close(im->vol);
	dev_close(im->dev);
}

/* The fields that stay what they are from mkfs, or tuning, on. */
static uint32_t sum_super(const struct nilfs_super_block *sb)
{
	uint32_t sum = crc32_le(0, &sb->s_log_block_size,
				sizeof(sb->s_log_block_size));

	sum = crc32_le(sum, &sb->s_nsegments, sizeof(sb->s_nsegments));
	sum = crc32_le(sum, &sb->s_dev_size, sizeof(sb->s_dev_size));
	sum = crc32_le(sum, &sb->s_blocks_per_segment,
		       sizeof(sb->s_blocks_per_segment));
	sum = crc32_le(sum, &sb->s_r_segments_percentage,
		       sizeof(sb->s_r_segments_percentage));
	sum = crc32_le(sum, &sb->s_ctime, sizeof(sb->s_ctime));
	sum = crc32_le(sum, sb->s_uuid, sizeof(sb->s_uuid));
	sum = crc32_le(sum, sb->s_volume_name, sizeof(sb->s_volume_name));
	return crc32_le(sum, &sb->s_feature_compat,
			3 * sizeof(sb->s_feature_compat));
}

static void add_fact(struct treesum *t, uint64_t cno, uint32_t sum)
{
	if (t->count == t->room) {
		t->room = t->room ? 2 * t->room : 64;
		t->files = realloc(t->files, t->room * sizeof(*t->files));
		if (!t->files)
			arena_die("memory");
	}
	t->files[t->count++] = (struct treesum_file){cno, 0, sum};
}

static uint32_t sum_checkpoint(const struct nilfs_checkpoint *cp)
{
	uint32_t snapshot = checkpoint_is_snapshot(cp);

	return crc32_le(snapshot, &cp->cp_create, sizeof(cp->cp_create));
}

static void add_facts(struct state *s, struct image *im)
{
	struct cptable_cursor cur;
	struct nilfs_checkpoint cp;

	add_fact(&s->facts, 0, sum_super(volume_super(im->vol)));
	if (!cptable_cursor_open(&cur, &im->cx, im->vol)) {
		while (cptable_cursor_next(&cur, &im->cx, &cp) > 0)
			add_fact(&s->facts, le64_get(cp.cp_cno),
				 sum_checkpoint(&cp));
		cptable_cursor_close(&cur);
	}
	fail_clear(&im->cx);
}

void state_take(struct state *s, const char *bytes, size_t size)
{
	struct image im;

	*s = (struct state){0};
	treesum_take(&s->files, bytes, size);
	image_open(&im, bytes, size);
	if (im.vol) {
		s->latest = im.vol->latest.cno;
		add_facts(s, &im);
	}
	image_close(&im);
}

void state_free(struct state *s)
{
	treesum_free(&s->files);
	treesum_free(&s->facts);
}

bool state_has(const struct state *s, const struct treesum_file *wanted)
{
	const struct treesum_file *found = treesum_find(
		wanted->ino ? &s->files : &s->facts, wanted->cno, wanted->ino);

	return found && found->sum == wanted->sum;
}

struct search {
	struct image im;
	struct root root;
	uint64_t ino;
	const char *dir; /* the name is in it; NULL: anywhere */
	char *path;
};

static bool is_wanted(const struct search *s, size_t len)
{
	return !s->dir || (len ? strlen(s->dir) == len &&
					 !strncmp(s->dir, s->path, len) :
				 !strcmp(s->dir, "."));
}

/* Looks in directory INO, whose path ends at byte LEN. */
static bool find_in(struct search *s, uint64_t ino, size_t len, int depth)
{
	struct dir_cursor cur;
	struct dir_entry e;
	struct file file;
	bool found = false;
	int n;

	if (depth == DEEPEST || root_file(&s->root, &s->im.cx, ino, &file) ||
	    dir_cursor_open(&cur, &s->im.cx, &file))
		return false;
	while (!found && dir_cursor_next(&cur, &s->im.cx, &e) > 0) {
		if (!strcmp(e.name, ".") || !strcmp(e.name, ".."))
			continue;
		n = snprintf(s->path + len, STATE_PATH_MAX - len, "%s%s",
			     len ? "/" : "", e.name);
		if (n < 0 || len + (size_t)n >= STATE_PATH_MAX)
			continue;
		found = (e.ino == s->ino && is_wanted(s, len)) ||
			(e.type == NILFS_FT_DIR &&
			 find_in(s, e.ino, len + (size_t)n, depth + 1));
	}
	dir_cursor_close(&cur);
	return found;
}

void state_path(const char *bytes, size_t size, uint64_t cno, uint64_t ino,
		const char *dir, char path[STATE_PATH_MAX])
{
	struct search s = {.ino = ino, .dir = dir, .path = path};

	strcpy(path, ino == NILFS_ROOT_INO && !dir ? "." : "");
	if (*path)
		return;
	image_open(&s.im, bytes, size);
	if (s.im.vol && !root_open(&s.root, &s.im.cx, s.im.vol, cno) &&
	    !find_in(&s, NILFS_ROOT_INO, 0, 0))
		*path = '\0';
	image_close(&s.im);
}
