// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fields MODE IMAGE [EVERY [FIRST]] <STRUCTURES: a tool against every field.
 *
 * The structures are named one a line, as "dump.nilfs2 set" has them.  Each
 * number in each of them, element by element of arrays that are not long, is
 * set to 0, all ones, one more and one less, has its first, middle and last bit
 * flipped, or gets a random value; with the checksums left as they were and
 * with them right again.  What the tool must do then depends on MODE: see
 * field_fsck.c (check, repair), field_dump.c (read, read-all) and field_gc.c
 * (collect, unchecked); field_mkfs.c (add).  It never crashes, hangs, or asks for memory by a number
 * from the disk.  With EVERY, only every so many changes are tried, beginning
 * with number FIRST, which is in the last line printed.
 *
 * Where a structure lies and how its checksums are set is what dump.nilfs2
 * knows; its sources are compiled in, and main() of the tool.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "disk/field.h"
#include "dump/blocks/logfind.h"
#include "dump/common/seal.h"
#include "dump/target.h"
#include "fieldtool.h"
#include "heap.h"
#include "tests/testdev/memory.h"
#include "trials.h"
#include "vol/cptable.h"

/* Of arrays, such as the pointers of a node, both ends in use are tried. */
#define ELEMENTS_MAX 8

/* More than any of the images needs with the memory that the tools are given. */
#define MOST_BYTES (48u << 20)

#define LINES_MAX 4096

enum change { ZERO, ONES, MORE, LESS, FIRST, MIDDLE, LAST, RANDOM, CHANGES };

static const char *const change_names[CHANGES] = {
	"0", "all ones", "+1", "-1", "first bit", "middle bit", "last bit",
	"random",
};

struct fuzz {
	const char *mode, *path;
	char (*lines)[80];	/* structures */
	size_t nlines;
	struct arena arena;
	char *sound;		/* the image as it was */
	struct context cx;
	struct dev *dev;	/* the image of the arena */
	struct dev *sound_dev;
	struct target_source source;	/* of the sound image */
	uint64_t *checkpoints;	/* of it */
	size_t ncheckpoints;
	struct fieldtool *tool;
	struct trials *trials;
	const char *structure;
	struct fieldtool_case now;
	unsigned long number, every, first;
};

static uint64_t changed(enum change change, uint64_t old, unsigned int bits,
			unsigned long seed)
{
	switch (change) {
	case ZERO:
		return 0;
	case ONES:
		return UINT64_MAX;
	case MORE:
		return old + 1;
	case LESS:
		return old - 1;
	case FIRST:
		return old ^ 1;
	case MIDDLE:
		return old ^ (uint64_t)1 << bits / 2;
	case LAST:
		return old ^ (uint64_t)1 << (bits - 1);
	default:
		/* An odd factor mixes all bits; the same on every system. */
		return (seed + 1) * 0x9e3779b97f4a7c15;
	}
}

static void die(struct fuzz *f, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, f->cx.failure);
	exit(99);
}

/* The log that holds a block, in the sound image. */
static uint64_t log_of(struct fuzz *f, const struct target *t,
		       uint64_t blocknr)
{
	struct logfind find;

	if (t->cover == TARGET_COVER_LOG)
		return t->log;
	if (logfind_block(&find, &f->cx, f->source.vol, blocknr) ||
	    find.part == LOGFIND_NONE)
		die(f, f->structure);
	return find.log.pseg;
}

static void ignore_sum(void *arg, const char *structure, const char *field,
		       uint32_t old, uint32_t new)
{
	(void)arg, (void)structure, (void)field, (void)old, (void)new;
}

/* A header may say what no checksum can cover: then they stay as they were. */
static void seal(struct fuzz *f, const struct target *t)
{
	static const struct seal_watcher ignore = { .sum = ignore_sum };
	const struct nilfs_geometry *geo;
	uint64_t blocknr, pseg;

	if (t->cover == TARGET_COVER_SUPER) {
		seal_super(f->dev, &f->cx, t->byte, &ignore);
		return;
	}
	geo = &f->source.vol->geo;
	blocknr = t->byte >> geo->block_bits;
	pseg = log_of(f, t, blocknr);
	seal_log(f->dev, &f->cx, geo, pseg, blocknr - pseg, &ignore);
}

/* The current change: NULL, or what is wrong. */
static const char *try_tool(struct fuzz *f)
{
	const char *wrong;
	size_t bytes;

	heap_largest();
	wrong = fieldtool_run(f->tool, &f->now);
	bytes = heap_largest();
	if (wrong || bytes <= MOST_BYTES)
		return wrong;
	printf("%zu bytes\n", bytes);
	return "so much memory was asked for at once";
}

static void try_change(struct fuzz *f, const char *what, bool sealed)
{
	const char *wrong;

	printf("fields %s %s EVERY %lu: %s, %s, checksums %s\n", f->mode,
	       f->path, f->number - 1, f->structure, what,
	       sealed ? "right" : "left");
	f->now.number = f->trials->cases++;
	f->now.sealed = sealed;
	f->now.excused = false;
	wrong = try_tool(f);
	f->trials->excused += f->now.excused;
	if (wrong) {
		printf("FAILED: %s\n", wrong);
		if (!f->trials->wrong++)
			arena_keep(&f->arena, "fields.image");
	}
}

/* Whether it is this change's turn. */
static bool wanted(struct fuzz *f)
{
	unsigned long number = f->number++;

	if (number < f->trials->next || number < f->first ||
	    (number - f->first) % f->every)
		return false;
	f->trials->next = f->number;
	return true;
}

static void put_back(struct fuzz *f, uint64_t offset, uint64_t length)
{
	memcpy(f->arena.bytes + offset, f->sound + offset, length);
}

/* All that the change and its checksums may have touched. */
static void undo(struct fuzz *f, const struct target *t)
{
	const struct nilfs_geometry *geo = &f->source.vol->geo;
	uint64_t segment = (uint64_t)geo->blocks_per_segment
			   << geo->block_bits;
	uint64_t begin = t->byte / segment * segment;

	if (t->cover == TARGET_COVER_SUPER)
		put_back(f, t->byte, t->length);
	else
		put_back(f, begin, segment);
}

static bool is_as_it_was(const struct fuzz *f, const struct target *t)
{
	return !memcmp(f->arena.bytes + t->byte, f->sound + t->byte, t->length);
}

static void check_change(struct fuzz *f, const struct target *t,
			 const char *what)
{
	unsigned int sealed;

	for (sealed = 0; sealed < 2; sealed++) {
		if (sealed)
			seal(f, t);
		/* A checksum that was changed is right again. */
		if (!is_as_it_was(f, t))
			try_change(f, what, sealed);
	}
	undo(f, t);
}

/* Whether the volume is opened by the superblock, or the log, at T. */
static bool is_latest(const struct fuzz *f, const struct target *t)
{
	const struct volume *vol = f->source.vol;

	if (t->cover == TARGET_COVER_SUPER)
		return t->byte == vol->super_offset[vol->super_used];
	return t->cover == TARGET_COVER_LOG &&
	       t->log == vol->latest.pseg_start;
}

static void try_element(struct fuzz *f, const struct target *t,
			const struct field *field, uint32_t i)
{
	const char *path = field->name;
	uint8_t *base = (uint8_t *)f->arena.bytes + t->byte;
	unsigned int bits = field->size * 8;
	uint64_t old = 0, value;
	enum change change;
	char what[160];

	for (change = 0; change < CHANGES; change++) {
		if (!wanted(f) || !field_get(field, base, i, &old))
			continue;
		value = changed(change, old, bits, f->number);
		if (bits < 64)
			value &= ((uint64_t)1 << bits) - 1;
		if (value == old || !field_set(field, base, i, value))
			continue;
		f->now.change = (struct silent_change){
			.latest = is_latest(f, t),
			.structure = f->structure, .field = path,
			.bytes = f->sound + t->byte,
			.element = i, .size = field->size,
			.offset = field->offset,
			.old = old, .now = value,
			.checkpoints = f->checkpoints,
			.ncheckpoints = f->ncheckpoints,
		};
		snprintf(what, sizeof(what), "%s[%u] %s", path, i,
			 change_names[change]);
		check_change(f, t, what);
	}
}

/* How many elements of FIELD are in use: of a node those of its children. */
static uint32_t count_used(const struct fuzz *f, const struct target *t,
			   const struct field *field)
{
	const struct nilfs_btree_node *node = (void *)(f->sound + t->byte);
	uint32_t n = field->count;

	if (n > 1 && !strncmp(f->structure, "node:", 5) &&
	    le16_get(node->bn_nchildren) < n)
		n = le16_get(node->bn_nchildren);
	return n;
}

static void try_table(struct fuzz *f, const struct target *t,
		      const struct field_table *table, uint32_t offset)
{
	uint32_t n, i, used;

	for (n = 0; n < table->nfields; n++) {
		struct field field = table->fields[n];

		field.offset += offset;
		if (field.inner) {
			try_table(f, t, field.inner, field.offset);
			continue;
		}
		used = count_used(f, t, &field);
		for (i = 0; field_is_number(&field) && i < used; i++) {
			if (i < ELEMENTS_MAX / 2 ||
			    i + ELEMENTS_MAX / 2 >= used)
				try_element(f, t, &field, i);
		}
	}
}

static void try_structure(struct fuzz *f)
{
	struct target t;
	int err = target_find(&t, &f->source, f->structure);

	/* The entry of a segment may lie in a hole. */
	if (err == -ENOENT) {
		fail_clear(&f->cx);
		return;
	}
	if (err)
		die(f, f->structure);
	if (t.bit < 0) {
		try_table(f, &t, &t.table, 0);
	} else if (wanted(f)) {
		f->arena.bytes[t.byte] ^= (char)(1 << t.bit);
		check_change(f, &t, "bit");
	}
}

static void open_all(struct fuzz *f)
{
	arena_load(&f->arena, f->path);
	f->sound = arena_copy(&f->arena);
	context_init(&f->cx);
	f->tool = fieldtool_open(&f->arena, f->mode);
	if (!f->tool || memory_open(&f->dev, &f->cx, f->arena.bytes,
				    f->arena.size) ||
	    memory_open_const(&f->sound_dev, &f->cx, f->sound,
			      f->arena.size))
		die(f, f->mode);
	f->source.cx = &f->cx;
	f->source.dev = f->sound_dev;
	if (target_need_volume(&f->source) ||
	    cptable_list(f->source.vol, &f->cx, false, &f->checkpoints,
			 &f->ncheckpoints))
		die(f, f->path);
}

static void close_all(struct fuzz *f)
{
	target_source_close(&f->source);
	dev_close(f->sound_dev);
	dev_close(f->dev);
	fieldtool_close(f->tool);
	arena_close(&f->arena);
	free(f->checkpoints);
	free(f->sound);
	free(f->lines);
}

static void try_all(void *arg, struct trials *trials)
{
	struct fuzz *f = arg;
	size_t i;

	f->trials = trials;
	open_all(f);
	for (i = 0; i < f->nlines; i++) {
		f->structure = f->lines[i];
		try_structure(f);
	}
	trials->next = f->number;
	close_all(f);
}

static void read_structures(struct fuzz *f)
{
	char *line;

	f->lines = calloc(LINES_MAX, sizeof(*f->lines));
	if (!f->lines)
		arena_die("memory");
	while (f->nlines < LINES_MAX &&
	       fgets(f->lines[f->nlines], sizeof(*f->lines), stdin)) {
		line = f->lines[f->nlines++];
		line[strcspn(line, "\n")] = '\0';
	}
}

static int usage(void)
{
	fprintf(stderr, "usage: fields MODE IMAGE [EVERY [FIRST]] "
		"<STRUCTURES\n");
	return 2;
}

#undef main
int main(int argc, char **argv)
{
	struct fuzz f = { .every = 1 };
	struct trials *t;
	int bad;

	if (argc < 3)
		return usage();
	f.mode = argv[1];
	f.path = argv[2];
	if (argc > 3)
		f.every = strtoul(argv[3], NULL, 0);
	if (argc > 4)
		f.first = strtoul(argv[4], NULL, 0) % f.every;
	setvbuf(stdout, NULL, _IOLBF, 0);
	read_structures(&f);
	t = trials_run(try_all, &f);
	if (t->excused)
		printf("%lu not to be found\n", t->excused);
	printf("%lu cases, %lu crashes, %lu hangs, %lu wrong, of %lu changes\n",
	       t->cases, t->crashes, t->hangs, t->wrong, t->next);
	bad = trials_failed(t) != 0;
	trials_free(t);
	free(f.lines);
	return bad;
}
