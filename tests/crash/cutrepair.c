// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cutrepair [--tear-supers] [--rebuild] [--keep DIR] IMAGE: the repair of a
 * damaged image under power cuts, at every write and flush, torn and reordered.
 *
 * What a check says of the image, with the checksums of all logs, is compared:
 * after a cut it must be what was said before the repair or what is said after
 * a whole one.  Only superblocks may be seen half-way, because they are written
 * in place.  A second repair, a second later, must come to the same end as a
 * whole one, perhaps with more checkpoints.
 * Without zones no log may be left that a mount does not find, but would after a crash:
 * it does not belong to the volume as it is then.
 * The image is not written to: what reaches the device is kept in memory.
 *
 * The writes of a whole repair are played again for each cut, and each state of
 * the device is judged once.  For a cut before each operation, and for each that
 * fails, the repair itself is run, as on zones for all.
 *
 * Where zbd(8)'s description of zones stands beside the image as IMAGE.zones,
 * the device has them: it refuses what does not go to a write pointer, and a
 * repair that would fails.  What is wrong with zones after a cut is not
 * compared, but has to be repaired.  Writes are not reordered there.
 *
 * Writes are torn between sectors, of which a superblock takes one; with
 * --tear-supers inside superblocks, too.  That is one more damage, which not
 * each volume allows beside that to be repaired.
 *
 * With --keep the states are not judged but put into DIR for others to do that,
 * each once: before.001, the image; after.002, wholly repaired; then those that
 * a cut leaves, old.N or new.N by what a check says of the volume.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dev/devfile.h"
#include "dev/overlay.h"
#include "dev/zonedump.h"
#include "dev/zoned.h"
#include "disk/super.h"
#include "fsck/session.h"
#include "states.h"
#include "tests/testdev/fault.h"
#include "tests/testdev/trace.h"
#include "vol/volume.h"

#define SECTOR 512
#define SUPER_PART 64	/* of a superblock: its checksum, not its times */
#define SEEDS 8

struct rig {
	struct context cx;
	struct dev *image;
	struct dev *kept;	/* over it: what has reached the device */
	struct dev *disk;	/* that, with its zones if there are any */
	struct zonedump zones;	/* as they are at first */
	char side[64];		/* where flushes keep the pointers */
	char *path;
	bool tear_supers, rebuild;
	char *before, *after;	/* verdicts */
	unsigned int old, new, between, bad;
	struct states states;	/* DIR is NULL without --keep */
	struct trace writes;	/* of a whole repair, without zones */
};

static void die(struct rig *r, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, r->cx.failure);
	exit(99);
}

static bool has_zones(const struct rig *r)
{
	return r->zones.pointers;
}

/* The device is as it was before all repairs. */
static void restore(struct rig *r)
{
	int ret;

	if (!has_zones(r)) {
		overlay_drop(r->kept);
		r->disk = r->kept;
		return;
	}
	dev_close(r->disk);
	overlay_drop(r->kept);
	ret = zonedump_write(&r->cx, r->side, &r->zones);
	if (!ret)
		ret = zoned_emulate(&r->disk, &r->cx, r->kept, r->side,
				    NULL);
	unlink(r->side);
	if (ret)
		die(r, r->side);
}

/* Runs fsck.nilfs2 on DEV; its status, or a failure.  The text is malloc()ed. */
static int run(struct rig *r, struct dev *dev, int mode, char **textp)
{
	char *argv[] = { r->path, NULL };
	struct cli_tool cli = { .name = "fsck.nilfs2" };
	struct tool tool = { .cli = &cli, .argc = 1, .argv = argv };
	struct options options = {
		.force = true, .data = true, .everything = true, .mode = mode,
		.rebuild = r->rebuild,
	};
	int ret;

	context_child(&r->cx, &tool.cx);
	if (out_open_memory(&tool.cx, &tool.out))
		die(r, "memory");
	report_init(&tool.report, tool.out, REPORT_TEXT);
	progress_init(&tool.progress, -1, true);
	ret = session_run(&tool, &options, dev);
	if (textp) {
		*textp = strdup(out_memory(tool.out, NULL));
		if (!*textp)
			die(r, "memory");
	}
	out_close(tool.out, &tool.cx);
	return ret;
}

/* A check of what is on the device now; ends the program where it fails. */
static char *verdict(struct rig *r)
{
	char *text;
	int ret = run(r, r->disk, OPTIONS_NO, &text);

	if (ret < 0)
		die(r, "check");
	return text;
}

/* Whether the cut of a repair is made by playing its writes. */
static bool is_played(const struct rig *r, const struct fault_plan *fault)
{
	return !has_zones(r) &&
	       (fault->kind == FAULT_TEAR || fault->reorder);
}

/* A repair with FAULT; 1 where that happened, 0 where the repair was whole. */
static int repair(struct rig *r, const struct fault_plan *fault)
{
	struct dev *dev = NULL;
	int ret;

	if (fault_open(&dev, &r->cx, r->disk, fault))
		die(r, "fault");
	ret = is_played(r, fault) ? trace_play(&r->writes, &r->cx, dev) :
				    run(r, dev, OPTIONS_YES, NULL);
	if (ret < 0 && !fault_happened(dev))
		die(r, "repair");
	ret = fault_happened(dev);
	dev_close(dev);
	return ret;
}

/* A repair without a fault, whose writes are noted. */
static void repair_whole(struct rig *r)
{
	struct dev *dev = NULL;

	if (has_zones(r))
		dev = r->disk;
	else if (trace_open(&dev, &r->cx, r->disk, &r->writes))
		die(r, "trace");
	if (run(r, dev, OPTIONS_YES, NULL) < 0)
		die(r, "repair");
	if (dev != r->disk)
		dev_close(dev);
}

/* How much of two verdicts is to be the same. */
enum alike {
	ALIKE_VOLUME,	/* what is not about superblocks or zones */
	ALIKE_ENDS,	/* what is not about superblocks, of that what was
			   found, and the number of files */
};

/* Whether the line is of something that does not have to be the same. */
static bool is_left_out(const char *line, enum alike alike)
{
	return !strncmp(line, "sb-", 3) ||
	       (alike == ALIKE_VOLUME && !strncmp(line, "zone-", 5));
}

/*
 * The next line that is not left out; the last one, with the counts
 * of findings, begins after them, and for ALIKE_ENDS ends before the number
 * of the checkpoint.
 */
static const char *next_line(const char **at, size_t *len, enum alike alike)
{
	const char *line, *counts, *checkpoint;

	do {
		line = *at;
		*len = strcspn(line, "\n");
		*at = line + *len + (line[*len] == '\n');
	} while (is_left_out(line, alike));
	checkpoint = strstr(line, " files, checkpoint ");
	if (!checkpoint || checkpoint > line + *len)
		return line;
	for (counts = checkpoint; counts[-1] != ' '; )
		counts--;
	*len -= (size_t)(counts - line);
	if (alike == ALIKE_ENDS)
		*len = (size_t)(checkpoint - counts);
	return counts;
}

static bool is_same(const char *a, const char *b, enum alike alike)
{
	const char *line_a, *line_b;
	size_t len_a, len_b;

	do {
		line_a = next_line(&a, &len_a, alike);
		line_b = next_line(&b, &len_b, alike);
		if (len_a != len_b || memcmp(line_a, line_b, len_a))
			return false;
	} while (*a || *b);
	return true;
}

static bool repairs_again(struct rig *r)
{
	struct fault_plan none = { .kind = FAULT_NONE };
	char *again;
	bool same;

	r->cx.now++;
	repair(r, &none);
	r->cx.now--;
	again = verdict(r);
	same = is_same(again, r->after, ALIKE_ENDS);
	if (!same)
		printf("after a second repair:\n%s", again);
	free(again);
	return same;
}

/* Puts the state into the directory, if it is another one. */
static void keep(struct rig *r, const char *class)
{
	char *now;

	if (!class) {
		now = verdict(r);
		class = is_same(now, r->after, ALIKE_VOLUME) ? "new" : "old";
		if (*class == 'o' && !is_same(now, r->before, ALIKE_VOLUME))
			r->bad++;
		free(now);
	}
	r->new += *class == 'n';
	r->old += *class == 'o';
	if (states_keep(&r->states, &r->cx, r->disk, class))
		die(r, class);
}

/* The latest checkpoint of DEV, or 0 if there is none. */
static uint64_t latest(struct rig *r, struct dev *dev)
{
	struct volume *vol;
	uint64_t cno;

	if (volume_open(&vol, &r->cx, dev, NULL)) {
		fail_clear(&r->cx);
		return 0;
	}
	cno = vol->latest.cno;
	volume_close(vol);
	return cno;
}

/* Whether logs that no superblock names yet lead to a checkpoint that a mount does not
   find now: one after a crash might. */
static bool hides_logs(struct rig *r)
{
	struct dev *dev = NULL;
	struct nilfs_super_block sb;
	uint64_t found = latest(r, r->disk);
	unsigned int i;
	bool hides;

	if (overlay_open(&dev, &r->cx, r->disk, true))
		die(r, "overlay");
	for (i = 0; i < 2; i++) {
		uint64_t at = i ? super_offset2(dev->size) : NILFS_SB_OFFSET_BYTES;

		if (dev_read(dev, &r->cx, at, &sb, sizeof(sb)) ||
		    super_check(&sb) != RULE_OK)
			continue;
		sb.s_state = le16_make(0);
		sb.s_sum = le32_make(super_checksum(&sb));
		if (dev_write(dev, &r->cx, at, &sb, sizeof(sb)))
			die(r, "overlay");
	}
	fail_clear(&r->cx);
	hides = found && latest(r, dev) > found;
	dev_close(dev);
	return hides;
}

static void judge(struct rig *r, const struct fault_plan *fault)
{
	char *now = verdict(r);

	if (!strcmp(now, r->after))
		r->new++;
	else if (!strcmp(now, r->before))
		r->old++;
	else if (is_same(now, r->after, ALIKE_VOLUME) ||
		 is_same(now, r->before, ALIKE_VOLUME))
		r->between++;
	else
		r->bad++;
	if (!has_zones(r) && hides_logs(r)) {
		printf("a log is hidden:\n");
		r->bad++;
	}
	if (r->bad || !repairs_again(r)) {
		printf("kind %d at %llu, %llu bytes, seed %llu:\n%s",
		       (int)fault->kind, (unsigned long long)fault->at,
		       (unsigned long long)fault->tear_bytes,
		       (unsigned long long)(fault->reorder ? fault->seed : 0),
		       now);
		r->bad += !r->bad;
	}
	free(now);
}

/* Every operation in turn, until one is bad; returns how many there are. */
static unsigned int cut_all(struct rig *r, struct fault_plan fault)
{
	for (fault.at = 1; !r->bad; fault.at++) {
		restore(r);
		if (!repair(r, &fault))
			break;
		if (!states_meet(&r->states, &r->cx, r->kept, r->image) &&
		    !has_zones(r))
			continue;
		if (r->states.dir)
			keep(r, NULL);
		else
			judge(r, &fault);
	}
	return (unsigned int)fault.at - 1;
}

static unsigned int test_cuts(struct rig *r)
{
	struct fault_plan cut = {
		.kind = FAULT_CUT, .counted = FAULT_WRITES | FAULT_FLUSHES,
	};
	struct fault_plan error = cut;
	struct fault_plan tear = {
		.kind = FAULT_TEAR, .counted = FAULT_WRITES,
	};
	unsigned int points = cut_all(r, cut);

	error.kind = FAULT_FAIL;
	cut_all(r, error);
	cut_all(r, tear);
	tear.tear_bytes = SECTOR;
	cut_all(r, tear);
	tear.tear_bytes = SUPER_PART;
	if (r->tear_supers)
		cut_all(r, tear);
	cut.reorder = true;
	for (cut.seed = 1; cut.seed <= SEEDS && !has_zones(r); cut.seed++)
		cut_all(r, cut);
	return points;
}

static void find_zones(struct rig *r)
{
	char *side = NULL;

	if (zoned_side(&side, &r->cx, r->path))
		die(r, r->path);
	if (!access(side, F_OK) && zonedump_read(&r->cx, side, &r->zones))
		die(r, side);
	free(side);
}

static void open_all(struct rig *r, char *path)
{
	context_init(&r->cx);
	r->cx.now = 2000000000;
	r->path = path;
	snprintf(r->side, sizeof(r->side), "cutrepair.%ld.zones",
		 (long)getpid());
	if (devfile_open(&r->image, &r->cx, path, DEVFILE_READ) ||
	    overlay_open(&r->kept, &r->cx, r->image, false))
		die(r, path);
	find_zones(r);
	restore(r);
	r->before = verdict(r);
	if (r->states.dir && states_meet(&r->states, &r->cx, r->kept, r->image))
		keep(r, "before");
	repair_whole(r);
	r->after = verdict(r);
	if (r->states.dir && states_meet(&r->states, &r->cx, r->kept, r->image))
		keep(r, "after");
}

static void close_all(struct rig *r)
{
	if (has_zones(r))
		dev_close(r->disk);
	dev_close(r->kept);
	dev_close(r->image);
	zonedump_fini(&r->zones);
	unlink(r->side);
	states_fini(&r->states);
	trace_fini(&r->writes);
	free(r->before);
	free(r->after);
}

static int usage(void)
{
	fprintf(stderr, "usage: cutrepair [--tear-supers] [--rebuild] "
			"[--keep DIR] IMAGE\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct rig r = { .bad = 0 };
	unsigned int points;

	if (argc > 2 && !strcmp(argv[1], "--tear-supers")) {
		r.tear_supers = true;
		argv++;
		argc--;
	}
	if (argc > 2 && !strcmp(argv[1], "--rebuild")) {
		r.rebuild = true;
		argv++;
		argc--;
	}
	if (argc > 3 && !strcmp(argv[1], "--keep")) {
		r.states.dir = argv[2];
		argv += 2;
		argc -= 2;
	}
	if (argc != 2)
		return usage();
	open_all(&r, argv[1]);
	points = test_cuts(&r);
	printf("%u points: %u old, %u new, %u between, %u bad\n", points,
	       r.old, r.new, r.between, r.bad);
	if (r.bad)
		printf("before:\n%safter:\n%s", r.before, r.after);
	close_all(&r);
	return r.bad || !points;
}
