// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gc.nilfs2 on images with a changed field: each with the job whose turn it is.
 *
 * With "collect" it must end with a status that the man page has, with a message
 * where that is a failure, and without an internal error.  Where the check
 * refuses the volume the image is not touched.  Otherwise each file of the latest
 * state, and of each snapshot that is left, is what it was; or what it was before
 * the change, which may be a bit that was corrected.
 *
 * With "unchecked" there is no check before, and only the end is judged.  All jobs
 * are done first of the sound image, as they would test nothing if they were not.
 */
#include "fieldtool.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "treesum.h"

#define TOOL "gc.nilfs2"
#define NOW "--protect", "0", "--min-reclaimable", "0"
#define MOST_WORDS 12

#define STATUS_ERROR 1
#define STATUS_USAGE 2
#define STATUS_SKIPPED 3
#define STATUS_DAMAGED 4

int gc_main(int argc, char **argv);

/* All that rewrite, move, free or delete; those that resize only to forecast. */
static const char *const jobs[][MOST_WORDS] = {
	{ NOW },
	{ NOW, "--compact=all" },
	{ "-f", NOW, "--delete-checkpoints", ".." },
	{ NOW, "--order=tree" },
	{ NOW, "--defrag", "all" },
	{ NOW, "--purge" },
	{ NOW, "-n", "--shrink=min" },
	{ NOW, "--policy", "cost-benefit", "--to-checkpoint", ".." },
	{ NOW, "--json", "--compare" },
	{ NOW, "--output", "NEW" },
	{ "--take-snapshot", "--free", "0" },
	{ "-L", "label" },
};

#define JOBS (sizeof(jobs) / sizeof(jobs[0]))

struct fieldtool {
	struct arena *arena;
	struct treesum sound;
	char *kept;		/* the image before the job */
	bool unchecked;
};

static int run(struct fieldtool *t, size_t job)
{
	const char *words[MOST_WORDS + 6] = { TOOL, "--max-memory", "16M" };
	size_t n = 3, i;

	if (t->unchecked)
		words[n++] = "--no-check";
	for (i = 0; i < MOST_WORDS && jobs[job][i]; i++)
		words[n++] = jobs[job][i];
	words[n++] = "IMAGE";
	return arena_command(t->arena, gc_main, words,
			     open("/dev/null", O_WRONLY));
}

/* Each job is done of a sound image: else it would test nothing. */
static void do_all(struct fieldtool *t)
{
	size_t i;
	int status;

	for (i = 0; i < JOBS; i++) {
		status = run(t, i);
		if (status) {
			printf("job %zu of the sound image: status %d\n", i,
			       status);
			exit(99);
		}
		arena_restore(t->arena, t->kept);
	}
}

struct fieldtool *fieldtool_open(struct arena *arena, const char *mode)
{
	struct fieldtool *t;
	bool unchecked = !strcmp(mode, "unchecked");

	if (!unchecked && strcmp(mode, "collect"))
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		arena_die("memory");
	t->arena = arena;
	t->unchecked = unchecked;
	t->kept = arena_copy(arena);
	treesum_take(&t->sound, arena->bytes, arena->size);
	do_all(t);
	return t;
}

void fieldtool_close(struct fieldtool *t)
{
	treesum_free(&t->sound);
	free(t->kept);
	free(t);
}

static const char *judge_end(struct fieldtool *t, int status)
{
	switch (status) {
	case 0:
		return NULL;
	case STATUS_ERROR:
	case STATUS_SKIPPED:
	case STATUS_DAMAGED:
		if (!arena_complained(t->arena, TOOL ": "))
			return "there is no message";
		return arena_complained(t->arena, TOOL ": internal error") ?
			       "an internal error" : NULL;
	case STATUS_USAGE:
		return "the job is not known, so nothing was tested";
	default:
		return "it ended otherwise than it may";
	}
}

static bool is_same(const struct treesum_file *f, const struct treesum *t)
{
	const struct treesum_file *other = treesum_find(t, f->cno, f->ino);

	return other && other->sum == f->sum;
}

static bool has_checkpoint(const struct treesum *t, uint64_t cno)
{
	return treesum_find(t, cno, 2);
}

static const char *judge_files(const struct fieldtool *t)
{
	struct treesum was, is;
	const struct treesum_file *f, *now;
	const char *wrong = NULL;

	treesum_take(&was, t->kept, t->arena->size);
	treesum_take(&is, t->arena->bytes, t->arena->size);
	for (f = was.files; f < was.files + was.count && !wrong; f++) {
		now = treesum_find(&is, f->cno, f->ino);
		if (is_same(f, &is) || !has_checkpoint(&is, f->cno) ||
		    (now && is_same(now, &t->sound)))
			continue;
		printf("checkpoint %" PRIu64 ": inode %" PRIu64 "\n", f->cno,
		       f->ino);
		wrong = now ? "a file was changed" : "a file is gone";
	}
	if (was.count && !is.count)
		wrong = "no file is left";
	treesum_free(&was);
	treesum_free(&is);
	return wrong;
}

const char *fieldtool_run(struct fieldtool *t, struct fieldtool_case *c)
{
	size_t job = c->number % JOBS;
	const char *wrong;
	int status;

	arena_save(t->arena, t->kept);
	status = run(t, job);
	wrong = judge_end(t, status);
	if (!wrong && status == STATUS_DAMAGED && !t->unchecked &&
	    !arena_equals(t->arena, t->kept))
		wrong = "it refused the volume, and changed it";
	if (!wrong && status != STATUS_DAMAGED && !t->unchecked)
		wrong = judge_files(t);
	if (wrong)
		printf("job %zu ended with status %d\n", job, status);
	arena_restore(t->arena, t->kept);
	return wrong;
}
