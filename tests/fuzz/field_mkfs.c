// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mkfs.nilfs2 --add on images with a changed field (mode "add"): the directory "layer",
 * which has other names than the root of the image, is added.
 *
 * It must end with status 0, or with 1, a message and the image as it was.  If the layer
 * was added, a check finds no error, and each file of the latest state except the root
 * directory, and each one of the snapshots, is what it was, or what it was before the
 * change.
 */
#include "fieldtool.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "disk/ondisk.h"
#include "tests/testdev/memory.h"
#include "treesum.h"

#define TOOL "mkfs.nilfs2"

int mkfs_main(int argc, char **argv);

struct fieldtool {
	struct arena *arena;
	struct treesum sound;
	char *kept;		/* the image before the job */
};

static int run(struct fieldtool *t)
{
	static const char *const words[] = {
		TOOL, "--max-memory", "16M", "--add", "-d", "layer", "IMAGE", NULL
	};

	return arena_command(t->arena, mkfs_main, words,
			     open("/dev/null", O_WRONLY));
}

struct fieldtool *fieldtool_open(struct arena *arena, const char *mode)
{
	struct fieldtool *t;

	if (strcmp(mode, "add"))
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		arena_die("memory");
	t->arena = arena;
	t->kept = arena_copy(arena);
	treesum_take(&t->sound, arena->bytes, arena->size);
	/* Else it would test nothing. */
	if (run(t))
		arena_die("the sound image");
	arena_restore(arena, t->kept);
	return t;
}

void fieldtool_close(struct fieldtool *t)
{
	treesum_free(&t->sound);
	free(t->kept);
	free(t);
}

static bool is_same(const struct treesum_file *f, const struct treesum *t)
{
	const struct treesum_file *other = treesum_find(t, f->cno, f->ino);

	return other && other->sum == f->sum;
}

static void drop_finding(void *arg, const struct finding *f)
{
	(void)arg;
	(void)f;
}

static const char *judge_check(const struct fieldtool *t)
{
	const struct check_run how = { .counters = false };
	struct check c = { 0 };
	struct context cx;
	bool sound;

	context_init(&cx);
	if (memory_open_const(&c.dev, &cx, t->arena->bytes, t->arena->size) ||
	    findings_open(&c.findings, &cx, drop_finding, NULL, false))
		arena_die(cx.failure);
	sound = check_volume(&c, &cx, &how) == 1 &&
		!findings_count_severity(c.findings, RULE_ERROR);
	findings_close(c.findings);
	check_fini(&c);
	dev_close(c.dev);
	return sound ? NULL : "a check finds errors";
}

static const char *judge_files(const struct fieldtool *t)
{
	const struct treesum_file *f, *now;
	const char *wrong = NULL;
	struct treesum was, is;

	treesum_take(&was, t->kept, t->arena->size);
	treesum_take(&is, t->arena->bytes, t->arena->size);
	for (f = was.files; f < was.files + was.count && !wrong; f++) {
		now = treesum_find(&is, f->cno, f->ino);
		if (is_same(f, &is) || (now && is_same(now, &t->sound)) ||
		    (f->cno == TREESUM_LATEST && f->ino == NILFS_ROOT_INO))
			continue;
		printf("checkpoint %" PRIu64 ": inode %" PRIu64 "\n", f->cno,
		       f->ino);
		wrong = now ? "a file was changed" : "a file is gone";
	}
	if (is.count <= was.count)
		wrong = "no file was added";
	treesum_free(&was);
	treesum_free(&is);
	return wrong;
}

const char *fieldtool_run(struct fieldtool *t, struct fieldtool_case *c)
{
	const char *wrong = NULL;
	int status;

	(void)c;
	arena_save(t->arena, t->kept);
	status = run(t);
	if (!status) {
		wrong = judge_check(t);
		if (!wrong)
			wrong = judge_files(t);
	} else if (status != 1) {
		wrong = "it ended otherwise than it may";
	} else if (!arena_complained(t->arena, TOOL ": ")) {
		wrong = "there is no message";
	} else if (arena_complained(t->arena, TOOL ": internal error")) {
		wrong = "an internal error";
	} else if (!arena_equals(t->arena, t->kept)) {
		wrong = "it refused the volume, and changed it";
	}
	if (wrong)
		printf("it ended with status %d\n", status);
	arena_restore(t->arena, t->kept);
	return wrong;
}
