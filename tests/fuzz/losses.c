// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * losses [-d] IMAGE [EVERY [FIRST]]: whether a repair names all that it gives up.
 *
 * Each block of metadata, or with -d of the DAT and of the last log, is zeroed,
 * filled with noise or has one bit flipped, and the volume repaired; of these
 * changes every so many are tried.  Then the latest state and all snapshots are
 * compared with the sound image, file by file: what was
 * there and is not, or has other bytes and can be read, must be in the list of
 * losses.  What cannot be read is no silent loss.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "arena.h"
#include "checker.h"
#include "damage.h"
#include "tests/testdev/memory.h"
#include "disk/checkpoint.h"
#include "disk/inode.h"
#include "losslines.h"
#include "vol/blockscan.h"
#include "vol/cptable.h"
#include "vol/dir.h"
#include "vol/extent.h"
#include "vol/root.h"
#include "vol/volume.h"

int fsck_main(int argc, char **argv);

struct judge {
	struct checker checker;
	struct context cx;
	char *sound; /* the image as it was */
	struct dev *sound_dev;
	struct volume *vol; /* the sound image */
	struct volume *now; /* after the repair */
	struct damage damage;
	struct losslines losses;
	bool latest;  /* the state that is compared, */
	uint64_t cno; /* and its checkpoint in the sound image */
	unsigned long number, every, first, repaired, silent, bad;
	uint64_t listed, needless; /* blocks in losses; that are the same */
};

static void die(struct judge *j, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, j->cx.failure);
	exit(99);
}

static bool is_state(const struct judge *j, const struct lossline *loss)
{
	return loss->ino && (j->latest ? loss->latest
				       : !loss->latest && loss->cno == j->cno);
}

static bool is_of_file(const struct judge *j, const struct lossline *loss,
		       uint64_t ino)
{
	return is_state(j, loss) && loss->ino == ino &&
	       strcmp(loss->kind, "name") != 0;
}

/* Whether the list has inode INO as removed, or, with LEN, the bytes. */
static bool is_listed(const struct judge *j, uint64_t ino, uint64_t offset,
		      uint64_t len)
{
	const struct lossline *loss;
	size_t i;

	for (i = 0; i < j->losses.n; i++) {
		loss = &j->losses.lines[i];
		if (!is_of_file(j, loss, ino))
			continue;
		if (!strcmp(loss->kind, "removed") ||
		    (len && loss->offset <= offset &&
		     offset < loss->offset + loss->length))
			return true;
	}
	return false;
}

static bool is_name_listed(const struct judge *j, uint64_t dir, uint64_t ino)
{
	size_t i;

	if (is_listed(j, dir, 0, 0) || is_listed(j, ino, 0, 0))
		return true;
	for (i = 0; i < j->losses.n; i++)
		if (is_state(j, &j->losses.lines[i]) &&
		    ((!strcmp(j->losses.lines[i].kind, "name") &&
		      j->losses.lines[i].ino == ino) ||
		     (!strcmp(j->losses.lines[i].kind, "unknown") &&
		      j->losses.lines[i].ino == dir)))
			return true;
	return false;
}

static bool is_checkpoint_listed(const struct judge *j, uint64_t cno)
{
	size_t i;

	for (i = 0; i < j->losses.n; i++)
		if (!j->losses.lines[i].ino && j->losses.lines[i].cno <= cno &&
		    cno <= (j->losses.lines[i].last ? j->losses.lines[i].last
						    : j->losses.lines[i].cno))
			return true;
	return false;
}

static void report(struct judge *j, uint64_t ino, const char *what,
		   uint64_t where)
{
	printf("SILENT: %s %" PRIu64 ": inode %" PRIu64 ": %s %" PRIu64 "\n",
	       j->latest ? "latest state," : "snapshot", j->cno, ino, what,
	       where);
	j->silent++;
}

static const char *bytes_at(struct judge *j, bool sound, uint64_t blocknr)
{
	static const char zeros[65536];

	if (!blocknr)
		return zeros;
	return (sound ? j->sound : j->checker.arena->bytes) +
	       (blocknr << j->vol->geo.block_bits);
}

/* Bytes of the block that are in the file. */
static uint64_t bytes_in(const struct judge *j, const struct file *file,
			 uint64_t blkoff)
{
	uint64_t size = le64_get(file->inode.i_size);
	uint64_t at = blkoff << j->vol->geo.block_bits;

	if (at >= size)
		return 0;
	return size - at < j->vol->geo.block_size ? size - at
						  : j->vol->geo.block_size;
}

static void compare_block(struct judge *j, const struct file *sound,
			  struct file *now, uint64_t blkoff, uint64_t blocknr)
{
	uint64_t len = bytes_in(j, sound, blkoff), other = 0;
	uint64_t at = blkoff << j->vol->geo.block_bits;

	if (file_lookup(now, &j->cx, blkoff, &other) < 0) {
		fail_clear(&j->cx);
		return;
	}
	if (bytes_in(j, now, blkoff) < len && !is_listed(j, sound->ino, at, 1))
		report(j, sound->ino, "shorter, byte", at);
	else if (memcmp(bytes_at(j, true, blocknr), bytes_at(j, false, other),
			len) &&
		 !is_listed(j, sound->ino, at, 1))
		report(j, sound->ino, other ? "other bytes at" : "zeros at",
		       at);
}

static void compare_data(struct judge *j, struct file *sound, struct file *now)
{
	struct extent_cursor cur;
	struct extent e;
	uint64_t i;

	if (extent_cursor_open(&cur, &j->cx, sound, 0))
		die(j, "a file of the sound image");
	while (extent_cursor_next(&cur, &j->cx, UINT32_MAX, &e) > 0)
		for (i = 0; i < e.count; i++)
			compare_block(j, sound, now, e.blkoff + i,
				      e.blocknr + i);
	extent_cursor_close(&cur);
}

/* A step through the directory after the repair, beside one through the other. */
struct follower {
	struct dir_cursor cur;
	bool is_open;
};

/* Whether its next entry is E. */
static bool follows(struct judge *j, struct follower *f,
		    const struct dir_entry *e)
{
	struct dir_entry next;

	if (f->is_open && dir_cursor_next(&f->cur, &j->cx, &next) <= 0) {
		dir_cursor_close(&f->cur);
		f->is_open = false;
	}
	fail_clear(&j->cx);
	return f->is_open && next.ino == e->ino && !strcmp(next.name, e->name);
}

/* To look at all of it for each name would take longer than the repair. */
static bool has_name(struct judge *j, struct file *now, struct follower *f,
		     const struct dir_entry *e)
{
	uint64_t ino;
	int err;

	if (follows(j, f, e))
		return true;
	err = dir_lookup(now, &j->cx, e->name, e->len, &ino);
	fail_clear(&j->cx);
	return err ? err != -ENOENT : ino == e->ino;
}

static void compare_names(struct judge *j, struct file *sound, struct file *now)
{
	struct follower follower;
	struct dir_cursor cur;
	struct dir_entry entry;

	if (dir_cursor_open(&cur, &j->cx, sound))
		die(j, "a directory of the sound image");
	follower.is_open = !dir_cursor_open(&follower.cur, &j->cx, now);
	fail_clear(&j->cx);
	while (dir_cursor_next(&cur, &j->cx, &entry) > 0) {
		if (!has_name(j, now, &follower, &entry) &&
		    strcmp(entry.name, ".") && strcmp(entry.name, "..") &&
		    !is_name_listed(j, sound->ino, entry.ino))
			report(j, sound->ino, "name of inode", entry.ino);
	}
	if (follower.is_open)
		dir_cursor_close(&follower.cur);
	dir_cursor_close(&cur);
}

static void compare_file(struct judge *j, struct root *sound, struct root *now,
			 uint64_t ino)
{
	struct file a, b;
	int err = root_file(sound, &j->cx, ino, &a);

	fail_clear(&j->cx);
	if (err)
		return;
	err = root_file(now, &j->cx, ino, &b);
	fail_clear(&j->cx);
	if (err == -ENOENT ||
	    (!err && (le16_get(a.inode.i_mode) & S_IFMT) !=
			     (le16_get(b.inode.i_mode) & S_IFMT))) {
		if (!is_name_listed(j, 0, ino))
			report(j, ino, "is gone,", 1);
	} else if (!err && S_ISDIR(le16_get(a.inode.i_mode))) {
		compare_names(j, &a, &b);
	} else if (!err && inode_has_bmap(&a.inode)) {
		compare_data(j, &a, &b);
	}
}

static void compare_files(struct judge *j, struct root *sound, struct root *now)
{
	struct blockscan scan = {0};
	struct palloc_block b;
	uint64_t ino;

	if (blockscan_open(&scan, &j->cx, &sound->ifile, 0))
		die(j, "an ifile of the sound image");
	while (blockscan_next(&scan, &j->cx) > 0) {
		palloc_locate(&j->vol->ifile_palloc, scan.blkoff, &b);
		if (b.kind != PALLOC_ENTRIES)
			continue;
		for (ino = b.first; ino < b.first + b.count; ino++)
			if (!inode_is_private(ino) && ino != NILFS_SKETCH_INO)
				compare_file(j, sound, now, ino);
	}
	blockscan_close(&scan);
}

static void compare_state(struct judge *j, uint64_t cno)
{
	struct root sound, now;
	int err;

	j->latest = !cno;
	j->cno = cno ? cno : j->vol->latest.cno;
	if (root_open(&sound, &j->cx, j->vol, cno))
		die(j, "a checkpoint of the sound image");
	err = root_open(&now, &j->cx, j->now, cno);
	fail_clear(&j->cx);
	if (!err)
		compare_files(j, &sound, &now);
	if (cno &&
	    (err == -ENOENT || (!err && !checkpoint_is_snapshot(&now.cp))) &&
	    !is_checkpoint_listed(j, cno)) {
		printf("SILENT: snapshot %" PRIu64 " is gone\n", cno);
		j->silent++;
	}
}

/* Whether block BLKOFF of a file is what it was; what is not there is not. */
static bool is_as_it_was(struct judge *j, struct file *sound, struct file *now,
			 uint64_t blkoff)
{
	uint64_t a = 0, b = 0;
	bool is_same;

	is_same = file_lookup(sound, &j->cx, blkoff, &a) >= 0 &&
		  file_lookup(now, &j->cx, blkoff, &b) >= 0 &&
		  bytes_in(j, now, blkoff) >= bytes_in(j, sound, blkoff) &&
		  !memcmp(bytes_at(j, true, a), bytes_at(j, false, b),
			  bytes_in(j, sound, blkoff));
	fail_clear(&j->cx);
	return is_same;
}

/* Counts the files and blocks of LOSS that were not lost. */
static void weigh(struct judge *j, const struct lossline *loss)
{
	uint32_t size = j->vol->geo.block_size;
	uint64_t cno = loss->latest ? 0 : loss->cno, blkoff;
	struct root sound, now;
	struct file a, b;

	if (!strcmp(loss->kind, "removed")) {
		j->listed++;
		j->needless += root_open(&sound, &j->cx, j->vol, cno) ||
			       root_file(&sound, &j->cx, loss->ino, &a);
	} else if (!root_open(&sound, &j->cx, j->vol, cno) &&
		   !root_open(&now, &j->cx, j->now, cno) &&
		   !root_file(&sound, &j->cx, loss->ino, &a) &&
		   !root_file(&now, &j->cx, loss->ino, &b) &&
		   S_ISREG(le16_get(a.inode.i_mode)))
		for (blkoff = loss->offset / size;
		     blkoff * size < loss->offset + loss->length; blkoff++) {
			j->listed++;
			j->needless += is_as_it_was(j, &a, &b, blkoff);
		}
	fail_clear(&j->cx);
}

/* Compares all states of the image in the arena with the sound one. */
static void compare(struct judge *j)
{
	struct dev *dev;
	uint64_t *cnos;
	size_t count, i;

	if (memory_open_const(&dev, &j->cx, j->checker.arena->bytes,
			      j->checker.arena->size))
		die(j, "memory");
	if (!volume_open(&j->now, &j->cx, dev, NULL)) {
		compare_state(j, 0);
		if (cptable_list(j->vol, &j->cx, true, &cnos, &count))
			die(j, "the snapshots");
		for (i = 0; i < count; i++)
			compare_state(j, cnos[i]);
		free(cnos);
		for (i = 0; i < j->losses.n; i++)
			if (!strcmp(j->losses.lines[i].kind, "removed") ||
			    (j->losses.lines[i].length &&
			     strcmp(j->losses.lines[i].kind, "suspect") != 0))
				weigh(j, &j->losses.lines[i]);
		volume_close(j->now);
	}
	fail_clear(&j->cx);
	dev_close(dev);
}

static void repair(struct judge *j, uint64_t blocknr, const char *how)
{
	char *text;
	int status = checker_run(&j->checker, "-fy", "--json-lines", &text);

	j->silent = 0;
	if (status == CHECKER_REPAIRED || status == CHECKER_UNCORRECTED) {
		j->repaired++;
		losslines_read(&j->losses, text);
		compare(j);
	}
	printf("losses EVERY %lu: block %" PRIu64 ", %s: status %d, %zu "
	       "losses, %" PRIu64 " needless so far, %lu silent\n",
	       j->number - 1, blocknr, how, status, j->losses.n, j->needless,
	       j->silent);
	j->losses.n = 0;
	if (j->silent && !j->bad++)
		arena_keep(j->checker.arena, "losses.image");
	free(text);
}

static bool is_wanted(struct judge *j)
{
	unsigned long number = j->number++;

	return number >= j->first && (number - j->first) % j->every == 0;
}

static void fill_noise(char *bytes, uint32_t len, uint64_t state)
{
	uint32_t i;

	for (i = 0; i < len; i++) {
		state = state * 6364136223846793005 + 1442695040888963407;
		bytes[i] = (char)(state >> 56);
	}
}

enum change { ZEROED, NOISE, BIT, CHANGES };

static const char *const change_names[CHANGES] = {
	"zeroed",
	"noise",
	"one bit",
};

static void change_block(struct judge *j, const struct damage_range *r,
			 enum change change)
{
	char *bytes = j->checker.arena->bytes + r->offset;
	uint64_t bit = j->number * 2654435761 % (8 * r->len);

	if (change == ZEROED)
		memset(bytes, 0, r->len);
	else if (change == NOISE)
		fill_noise(bytes, r->len, j->number);
	else
		bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
}

static void try_block(struct judge *j, const struct damage_range *r)
{
	struct arena *arena = j->checker.arena;
	enum change change;

	for (change = 0; change < CHANGES; change++) {
		if (!is_wanted(j))
			continue;
		change_block(j, r, change);
		repair(j, r->offset >> j->vol->geo.block_bits,
		       change_names[change]);
		arena_restore(arena, j->sound);
	}
}

static void try_dat(struct judge *j)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	struct damage_range r = {.len = j->vol->geo.block_size};

	if (blockmap_cursor_open(&cur, &j->cx, &j->vol->dat.map, 0, true))
		die(j, "the DAT");
	while (blockmap_cursor_next(&cur, &j->cx, &item) > 0) {
		r.offset = item.ptr << j->vol->geo.block_bits;
		try_block(j, &r);
	}
	blockmap_cursor_close(&cur);
}

static void try_last_log(struct judge *j)
{
	struct damage_range r = {.len = j->vol->geo.block_size};
	uint64_t blocknr = j->vol->latest.pseg_start;

	for (; blocknr <= j->vol->latest.super_root; blocknr++) {
		r.offset = blocknr << j->vol->geo.block_bits;
		try_block(j, &r);
	}
}

static void open_all(struct judge *j, struct arena *arena, const char *path)
{
	arena_load(arena, path);
	j->checker = (struct checker){arena, fsck_main};
	j->sound = arena_copy(arena);
	context_init(&j->cx);
	if (memory_open_const(&j->sound_dev, &j->cx, j->sound, arena->size) ||
	    volume_open(&j->vol, &j->cx, j->sound_dev, NULL))
		die(j, path);
	if (damage_open(&j->damage, j->sound, arena->size))
		exit(99);
}

static void close_all(struct judge *j)
{
	damage_close(&j->damage);
	volume_close(j->vol);
	dev_close(j->sound_dev);
	arena_close(j->checker.arena);
	losslines_free(&j->losses);
	free(j->sound);
}

#undef main
int main(int argc, char **argv)
{
	struct judge j = {.every = 1};
	struct arena arena = {.bytes = NULL};
	bool dat = argc > 1 && !strcmp(argv[1], "-d");
	size_t i;

	argc -= dat;
	argv += dat;
	if (argc < 2) {
		fprintf(stderr, "usage: losses [-d] IMAGE [EVERY [FIRST]]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	open_all(&j, &arena, argv[1]);
	if (argc > 2)
		j.every = strtoul(argv[2], NULL, 0);
	if (argc > 3)
		j.first = strtoul(argv[3], NULL, 0) % j.every;
	if (dat) {
		try_dat(&j);
		try_last_log(&j);
	}
	for (i = 0; !dat && i < j.damage.count; i++)
		try_block(&j, &j.damage.ranges[i]);
	close_all(&j);
	printf("%lu repairs, %lu with silent losses; %" PRIu64 " of %" PRIu64
	       " files or blocks listed needlessly\n",
	       j.repaired, j.bad, j.needless, j.listed);
	return j.bad != 0;
}
