// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A volume on a disk with one bad block, for every block in turn that is not
 * the like of the one before it; of those that are repaired without a loss, or
 * left, every other one, unless all are asked for.
 *
 * The check must end, and name the block if anybody needs it.  The repair must
 * bring back what is on the volume twice, or follows from the rest; what is
 * lost then is lost to one file, or to one state, and all others are what they
 * were.  Reads of the block fail until it is written, as with a disk that has
 * sectors to spare.
 *
 * What a block is, and who has it, is asked of the sound volume.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/vblocks.h"
#include "disk/super.h"
#include "fsck/apply/undo.h"
#include "fsck/session.h"
#include "tests/testdev/fault.h"
#include "tests/testdev/memory.h"
#include "vol/logsearch.h"

#include "fsck_volume.h"
#include "sample.h"
#include "tap.h"

#define SNAPSHOT 1u
#define LATEST 2u

enum kind {
	KIND_NOTHING,		/* not part of a log */
	KIND_SUPER,
	KIND_SUMMARY,
	KIND_ROOT,		/* super root */
	KIND_LISTED,
};

struct what {
	enum kind kind;
	bool last_log;			/* the one that a mount begins with */
	struct segsum_block b;		/* if listed */
	bool in_latest, in_snapshot;	/* needed there */
	struct range {
		uint64_t first, count;
	} entries;			/* inodes in it */
};

/* What is left of the volume after a repair. */
enum fate {
	FATE_CLEAN,	/* the block is unused: there is nothing to do */
	FATE_REPAIRED,	/* nothing is lost */
	FATE_INODES,	/* repaired, but the inodes in the block are older */
	FATE_OLDER,	/* the latest state is that of the snapshot */
	FATE_LEFT,	/* at the cost of one file, or of the snapshot */
};

struct rig {
	struct log_volume v;
	struct log_file *first;		/* files as they were in SNAPSHOT */
	char *before, *bytes, *undone;
	size_t size;
	struct what *what;
	uint64_t nblocks;
	char undo[32];
	bool keep;	/* what is written over, in that file */
};

/* Who needs a block with virtual number B->vblocknr. */
static void ask_dat(struct rig *r, struct vblocks *vblocks, uint64_t blocknr,
		    struct what *w)
{
	struct vblock vb;
	uint64_t ptr;

	if (!w->b.is_virtual) {
		w->in_latest = blockmap_lookup_at_level(
				       &vblocks->vol->dat.map, &r->v.cx,
				       w->b.blkoff, w->b.level, &ptr) > 0 &&
			       ptr == blocknr;
		return;
	}
	if (vblocks_find(vblocks, &r->v.cx, w->b.vblocknr, &vb) !=
		    VBLOCKS_USED || vb.blocknr != blocknr)
		return;
	w->in_latest = vb.life.end == NILFS_CNO_MAX;
	/* Of cpfile and SUFILE there is one state only. */
	w->in_snapshot = vb.life.start <= SNAPSHOT && vb.life.end > SNAPSHOT &&
			 w->b.ino != NILFS_CPFILE_INO &&
			 w->b.ino != NILFS_SUFILE_INO;
}

/* The inodes in a block, or the inode whose block it is. */
static struct range inodes_of(const struct volume *vol,
			      const struct segsum_block *b)
{
	struct palloc_block what = { .count = 0 };

	if (b->ino >= NILFS_USER_INO)
		return (struct range){ b->ino, 1 };
	if (b->ino == NILFS_IFILE_INO && !b->is_node)
		palloc_locate(&vol->ifile_palloc, b->blkoff, &what);
	if (what.kind != PALLOC_ENTRIES)
		what.count = 0;
	return (struct range){ what.first, what.count };
}

static void describe_log(struct rig *r, struct vblocks *vblocks,
			 struct summary *summary, const struct log *log)
{
	bool last = log->pseg == vblocks->vol->latest.pseg_start;
	struct what *w = &r->what[log->pseg];
	struct segsum_block b;
	uint32_t i;

	for (i = 0; i < log->nblocks; i++)
		w[i].last_log = last;
	for (i = 0; i < segsum_nsumblk(&r->v.g, &log->ss); i++)
		w[i].kind = KIND_SUMMARY;
	if (segsum_has_super_root(&log->ss))
		w[log->nblocks - 1].kind = KIND_ROOT;
	while (summary_next(summary, &r->v.cx, &b) > 0) {
		w[b.index].kind = KIND_LISTED;
		w[b.index].b = b;
		w[b.index].entries = inodes_of(vblocks->vol, &b);
		ask_dat(r, vblocks, log->pseg + b.index, &w[b.index]);
	}
}

static int describe(struct rig *r)
{
	struct volume *vol = NULL;
	struct vblocks vblocks;
	struct logsearch s;
	struct log log;
	uint64_t segnum;
	int ret = volume_open(&vol, &r->v.cx, r->v.dev, NULL);

	r->what[NILFS_SB_OFFSET_BYTES / r->v.g.block_size].kind = KIND_SUPER;
	r->what[super_offset2(r->size) / r->v.g.block_size].kind = KIND_SUPER;
	vblocks_init(&vblocks, vol, NULL);
	for (segnum = 0; segnum < r->v.g.nsegments && ret >= 0; segnum++) {
		ret = logsearch_open(&s, &r->v.cx, vol, segnum,
				     geometry_segment_start(&r->v.g, segnum));
		while (!ret && logsearch_next(&s, &r->v.cx, &log) > 0)
			describe_log(r, &vblocks, &s.summary, &log);
		logsearch_close(&s);
	}
	vblocks_fini(&vblocks);
	volume_close(vol);
	return ret;
}

static void rig_open(struct rig *r)
{
	memset(r, 0, sizeof(*r));
	is_int(fsck_volume_make(&r->v, &r->first), 0, "a volume");
	r->size = r->v.dev->size;
	r->nblocks = r->size / r->v.g.block_size;
	r->before = malloc(r->size);
	r->bytes = malloc(r->size);
	r->undone = malloc(r->size);
	r->what = calloc(r->nblocks, sizeof(*r->what));
	dev_read(r->v.dev, &r->v.cx, 0, r->before, r->size);
	is_int(describe(r), 0, "every block of which is known");
	snprintf(r->undo, sizeof(r->undo), "undo.%ld", (long)getpid());
}

static void rig_close(struct rig *r)
{
	unlink(r->undo);
	free(r->what);
	free(r->undone);
	free(r->bytes);
	free(r->before);
	free(r->first);
	log_volume_fini(&r->v);
}

static bool is_user(const struct what *w)
{
	return w->kind == KIND_LISTED && w->b.ino >= NILFS_USER_INO;
}

static enum fate fate_of(const struct what *w)
{
	const struct segsum_block *b = &w->b;

	/* The state of a log without its header is found by its super root. */
	if (w->kind == KIND_ROOT && w->last_log)
		return FATE_OLDER;
	if (w->kind != KIND_LISTED)
		return w->kind == KIND_ROOT ? FATE_CLEAN : FATE_REPAIRED;
	if (!w->in_latest && !w->in_snapshot)
		return FATE_CLEAN;
	switch (b->ino) {
	case NILFS_DAT_INO:
		return FATE_REPAIRED;
	case NILFS_IFILE_INO:
		if (w->in_latest && w->entries.count)
			return w->in_snapshot ? FATE_LEFT : FATE_INODES;
		return w->in_latest || b->is_node ? FATE_REPAIRED : FATE_LEFT;
	case NILFS_ROOT_INO:	/* rebuilt with the names that are known */
	case NILFS_CPFILE_INO:
	case NILFS_SUFILE_INO:
		return FATE_REPAIRED;
	default:
		return b->is_node ? FATE_REPAIRED : FATE_LEFT;
	}
}

struct run {
	int ret;
	char text[8192];
};

static struct run run_tool(struct rig *r, struct dev *dev, int mode, bool data)
{
	char *argv[] = { (char[]){ "image" }, NULL };
	struct tool tool = { .argc = 1, .argv = argv, .quiet = true };
	struct options options = {
		.mode = mode, .always = true, .data = data,
		.undo_file = mode == OPTIONS_YES && r->keep ? r->undo : NULL,
	};
	struct run run;

	unlink(r->undo);
	context_child(&r->v.cx, &tool.cx);
	tool.cx.now = LOG_VOLUME_TIME + 1;
	out_open_memory(&tool.cx, &tool.out);
	report_init(&tool.report, tool.out, REPORT_TEXT);
	progress_init(&tool.progress, -1, true);
	run.ret = session_run(&tool, &options, dev);
	snprintf(run.text, sizeof(run.text), "%s", out_memory(tool.out, NULL));
	out_close(tool.out, &tool.cx);
	return run;
}

/* Whether the text has the number of block B, or where it begins. */
static bool names(struct rig *r, const struct run *run, uint64_t b)
{
	const struct what *w = &r->what[b];
	char text[4][64];
	int i, n = 3;

	snprintf(text[0], sizeof(text[0]), "block %llu",
		 (unsigned long long)b);
	snprintf(text[1], sizeof(text[1]), "log %llu", (unsigned long long)b);
	snprintf(text[2], sizeof(text[2]), "at byte %llu",
		 (unsigned long long)b * r->v.g.block_size);
	if (w->kind == KIND_SUPER)
		snprintf(text[n++], sizeof(text[0]), "superblock %d",
			 b == 1 ? 1 : 2);
	for (i = 0; i < n; i++)
		if (strstr(run->text, text[i]))
			return true;
	/* The latest log is read as one. */
	return w->last_log && strstr(run->text, "sb-no-super-root");
}

/* Whether it says which file of a user is hurt. */
static bool names_file(const struct run *run, const struct what *w)
{
	char text[64];

	snprintf(text, sizeof(text), "inode %llu",
		 (unsigned long long)w->b.ino);
	return strstr(run->text, text);
}

static bool is_in(const struct range *range, uint64_t ino)
{
	return ino - range->first < range->count;
}

/* How many of FILES are not what they were, but those in SPARED, if any. */
static unsigned int count_hurt(struct rig *r, struct dev *dev, uint64_t cno,
			       const struct log_file *files,
			       const struct range *spared)
{
	struct dev *sound = r->v.dev;
	struct volume *vol = NULL;
	unsigned int hurt = 0;
	size_t i;

	if (volume_open(&vol, &r->v.cx, dev, NULL))
		return FSCK_VOLUME_FILES;
	/* What is read of the files is read there. */
	r->v.dev = dev;
	for (i = 0; i < r->v.nfiles; i++)
		if (!files[i].gone &&
		    !(spared && is_in(spared, files[i].ino)) &&
		    !log_volume_reads(&r->v, vol, cno, &files[i], NULL))
			hurt++;
	r->v.dev = sound;
	fail_clear(&r->v.cx);
	volume_close(vol);
	return hurt;
}

/* The data of a file is read only on request, or in advance. */
static bool may_be_missed(const struct what *w, bool data)
{
	return !data && is_user(w) && !w->b.is_node;
}

static const char *look_at_check(struct rig *r, struct dev *dev, uint64_t b,
				 enum fate fate, bool data)
{
	const struct what *w = &r->what[b];
	struct run run = run_tool(r, dev, OPTIONS_NO, data);

	if (memcmp(r->bytes, r->before, r->size))
		return "the check has written";
	if (fate == FATE_CLEAN || (!run.ret && may_be_missed(w, data)))
		return run.ret ? "the check finds something" : NULL;
	if (run.ret != SESSION_UNCORRECTED)
		return "the check ends otherwise";
	if (!names(r, &run, b))
		return "the block is not named";
	return is_user(w) && !names_file(&run, w) ? "the file is not named" :
						    NULL;
}

/* What the files are after the repair. */
static const char *look_at_files(struct rig *r, struct dev *dev, uint64_t b,
				 enum fate fate)
{
	const struct what *w = &r->what[b];
	bool left = fate == FATE_LEFT;
	const struct range *spared = left || fate == FATE_INODES ?
					     &w->entries : NULL;

	if (count_hurt(r, dev, 0, fate == FATE_OLDER ? r->first : r->v.files,
		       spared))
		return "other files are hurt";
	/* Of its directory or its inodes all may be lost. */
	if (left && w->in_snapshot && !is_user(w))
		return NULL;
	return count_hurt(r, dev, SNAPSHOT, r->first, left ? spared : NULL) ?
	       "the snapshot is hurt" : NULL;
}

/* The undo file brings back all but what could not be read. */
static const char *look_at_undo(struct rig *r, uint64_t b)
{
	size_t at = b * r->v.g.block_size, end = at + r->v.g.block_size;
	struct dev *disk;
	int ret;

	if (!r->keep)
		return NULL;
	if (access(r->undo, F_OK))
		return memcmp(r->bytes, r->before, r->size) ?
		       "written to without an undo file" : NULL;
	memcpy(r->undone, r->bytes, r->size);
	memory_open(&disk, &r->v.cx, r->undone, r->size);
	ret = undo_restore(&r->v.cx, r->undo, disk, false);
	dev_close(disk);
	fail_clear(&r->v.cx);
	if (ret || memcmp(r->undone, r->before, at) ||
	    memcmp(r->undone + end, r->before + end, r->size - end))
		return "cannot be undone";
	return NULL;
}

static const char *look_at_repair(struct rig *r, struct dev *dev, uint64_t b,
				  enum fate fate)
{
	const struct what *w = &r->what[b];
	struct run run = run_tool(r, dev, OPTIONS_YES, true);
	const char *why;
	bool left;

	/* With an undo file the snapshot is given up instead. */
	left = fate == FATE_LEFT &&
	       (w->in_latest || !w->in_snapshot || is_user(w));
	if (run.ret != (fate == FATE_CLEAN ? 0 :
			left ? SESSION_UNCORRECTED : SESSION_REPAIRED))
		return "the repair ends otherwise";
	why = look_at_undo(r, b);
	if (why)
		return why;
	run = run_tool(r, dev, OPTIONS_NO, true);
	if (run.ret != (left ? SESSION_UNCORRECTED : 0))
		return "a second check ends otherwise";
	return look_at_files(r, dev, b, fate);
}

static const char *test_block(struct rig *r, uint64_t b)
{
	const struct fault_plan plan = {
		.bad_off = b * r->v.g.block_size,
		.bad_bytes = r->v.g.block_size,
	};
	enum fate fate = fate_of(&r->what[b]);
	struct dev *disk, *dev;
	const char *why;

	/* Snapshots ask for it; of the others some are enough. */
	r->keep = r->what[b].in_snapshot || r->what[b].kind == KIND_SUPER ||
		  !(b % 8);
	memcpy(r->bytes, r->before, r->size);
	memory_open(&disk, &r->v.cx, r->bytes, r->size);
	fault_open(&dev, &r->v.cx, disk, &plan);
	why = look_at_check(r, dev, b, fate, false);
	if (!why)
		why = look_at_check(r, dev, b, fate, true);
	if (!why)
		why = look_at_repair(r, dev, b, fate);
	dev_close(dev);
	dev_close(disk);
	return why;
}

static bool is_alike(const struct what *a, const struct what *b)
{
	return a->kind == b->kind && a->b.ino == b->b.ino && is_user(a) &&
	       !a->b.is_node && !b->b.is_node &&
	       a->in_latest == b->in_latest && a->in_snapshot == b->in_snapshot;
}

/* There are many of these; MET were seen before. */
static bool is_passed_over(enum fate fate, unsigned int met)
{
	return (fate == FATE_REPAIRED || fate == FATE_LEFT) &&
	       !is_sampled(met, 2);
}

int main(void)
{
	static unsigned int met[FATE_LEFT + 1], tried[FATE_LEFT + 1];
	struct rig r;
	const char *why;
	unsigned int bad = 0;
	uint64_t b;
	int i;

	rig_open(&r);
	for (b = 1; b < r.nblocks; b++) {
		const struct what *w = &r.what[b];
		enum fate fate = fate_of(w);

		if (w->kind == KIND_NOTHING || is_alike(w - 1, w) ||
		    is_passed_over(fate, met[fate]++))
			continue;
		tried[fate]++;
		why = test_block(&r, b);
		if (!why)
			continue;
		printf("# block %llu, kind %d, inode %llu, %s %llu, in %d %d: %s\n",
		       (unsigned long long)b, w->kind,
		       (unsigned long long)w->b.ino,
		       w->b.is_node ? "node" : "block",
		       (unsigned long long)w->b.blkoff, w->in_latest,
		       w->in_snapshot, why);
		bad++;
	}
	is_int(bad, 0, "any block may be bad");
	for (i = 0; i <= FATE_LEFT; i++)
		ok(tried[i], "fate %d: %u blocks", i, tried[i]);
	rig_close(&r);
	return tap_done();
}
