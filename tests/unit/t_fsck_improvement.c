// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Better or worse: two looks at a volume, compared by what each has found.
 *
 * The rules stand for the stages at which they are repaired, in order: a super
 * root, an entry of the DAT, segment usage, a map, a name.
 */
#include "fsck/apply/repair.h"

#include <stdlib.h>

#include "tap.h"

#define MOST 6

/*
 * A look: what it finds in the newest checkpoint, there in an ifile, in snapshots
 * alone, and in snapshots that are found only now.
 */
struct seen {
	enum rule newest[MOST], ifile[MOST], snapshots[MOST], revealed[MOST];
	bool no_volume, dat_broken, leaks_hidden;
};

static void add_all(struct check_tally *tally, const enum rule rules[MOST],
		    bool later, enum check_scope whose)
{
	unsigned int i;

	for (i = 0; i < MOST && rules[i]; i++)
		tally[rule_info(rules[i]) - rule_at(0)].n[later][whose]++;
}

static void look(struct check *c, struct volume *vol, const struct seen *seen)
{
	struct check_tally *tally;
	size_t n = 0;

	while (rule_at(n))
		n++;
	tally = calloc(n, sizeof(*tally));
	if (!tally)
		exit(99);
	*c = (struct check){
		.vol = seen->no_volume ? NULL : vol,
		.dat_broken = seen->dat_broken,
		.leaks_known = !seen->leaks_hidden,
		.tally = tally,
	};
	add_all(tally, seen->newest, false, CHECK_NEWEST);
	add_all(tally, seen->ifile, true, CHECK_NEWEST);
	add_all(tally, seen->snapshots, false, CHECK_SNAPSHOTS);
	add_all(tally, seen->revealed, false, CHECK_REVEALED);
}

static void look_away(struct check *c)
{
	free((void *)(uintptr_t)c->tally);
}

/* Whether NOW is better than BEFORE; *WORSE is the rule that is to blame. */
static bool is_better(const struct seen *now, const struct seen *before,
		      enum rule *worse)
{
	static struct volume vol;
	const struct rule_info *blamed;
	struct check a, b;
	bool better;

	look(&a, &vol, now);
	look(&b, &vol, before);
	better = improvement_meets(&a, &b, IMPROVEMENT_ONLY, &blamed);
	*worse = blamed ? blamed->rule : RULE_OK;
	look_away(&a);
	look_away(&b);
	return better;
}

static void test_same(void)
{
	static const struct seen cases[] = {
		{ .newest = { RULE_OK } },
		{ .newest = { RULE_BMAP_TWICE, RULE_SU_FLAGS } },
		{ .snapshots = { RULE_BMAP_TWICE } },
		{ .no_volume = true },
		{ .dat_broken = true },
	};
	unsigned int i, bad = 0;
	enum rule worse;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		bad += is_better(&cases[i], &cases[i], &worse) || worse;
	is_int(bad, 0,
	       "nothing is better than itself, and no rule is to blame");
}

/* Each is better than the one after it, and that one is not better. */
static const struct step {
	struct seen now, before;
	enum rule worse;	/* the other way round */
	const char *name;
} steps[] = {
	{ { .newest = { RULE_OK } }, { .newest = { RULE_DIR_DOT } },
	  RULE_DIR_DOT, "nothing is better than an error" },
	{ { .revealed = { RULE_BMAP_LIFETIME, RULE_BMAP_LIFETIME } },
	  { .newest = { RULE_CP_CNO } },
	  RULE_CP_CNO, "a snapshot with errors is better than none" },
	{ { .ifile = { RULE_PALLOC_NFREES, RULE_PALLOC_NFREES } },
	  { .newest = { RULE_CP_CNO } },
	  RULE_CP_CNO, "an ifile with errors than a checkpoint without" },
	{ { .newest = { RULE_CP_CNO } }, { .newest = { RULE_PALLOC_NFREES } },
	  RULE_PALLOC_NFREES, "but not a DAT" },
	{ { .newest = { RULE_OK } }, { .newest = { RULE_DIR_TYPE } },
	  RULE_DIR_TYPE, "and than a warning" },
	{ { .newest = { RULE_DIR_DOT } },
	  { .newest = { RULE_DIR_DOT, RULE_DIR_DOT } },
	  RULE_DIR_DOT, "one is better than two" },
	{ { .newest = { RULE_DIR_TYPE, RULE_DIR_TYPE, RULE_DAT_LEAKED } },
	  { .newest = { RULE_DIR_DOT } },
	  RULE_DIR_DOT, "any warnings are better than an error" },
	{ { .newest = { RULE_BMAP_TWICE, RULE_DIR_DOT, RULE_DIR_LOOP } },
	  { .newest = { RULE_SU_NBLOCKS } },
	  RULE_SU_NBLOCKS, "errors of files than one of segment usage" },
	{ { .newest = { RULE_INODE_UNREACHABLE, RULE_DIR_NO_INODE } },
	  { .newest = { RULE_INODE_EMPTY, RULE_DIR_NO_INODE } },
	  RULE_INODE_EMPTY, "files without names than names without files" },
	{ { .newest = { RULE_INODE_DIR_BLOCKS, RULE_DIR_NO_INODE } },
	  { .newest = { RULE_DIR_NO_INODE, RULE_DIR_NO_INODE } },
	  RULE_DIR_NO_INODE, "a damaged directory than one that is not there" },
	{ { .newest = { RULE_BMAP_ROOT_LEVEL, RULE_BMAP_TWICE } },
	  { .newest = { RULE_INODE_MODE } },
	  RULE_INODE_MODE, "a damaged map than an invalid type, which hides it" },
	{ { .newest = { RULE_INODE_TYPE, RULE_INODE_TYPE } },
	  { .newest = { RULE_BMAP_TWICE } },
	  RULE_BMAP_TWICE, "files with the type of others than their blocks" },
	{ { .newest = { RULE_INODE_LINKS_NAMES, RULE_INODE_LINKS_NAMES } },
	  { .newest = { RULE_INODE_UNREACHABLE } },
	  RULE_INODE_UNREACHABLE, "wrong counts of names than a missing one" },
	{ { .newest = { RULE_SU_NBLOCKS, RULE_CP_CNO } },
	  { .newest = { RULE_DAT_START } },
	  RULE_DAT_START, "those of metadata files than one of the DAT" },
	{ { .newest = { RULE_DAT_START } },
	  { .newest = { RULE_SB_DEVICE_SIZE } },
	  RULE_SB_DEVICE_SIZE, "those of the DAT than a device too small" },
	{ { .newest = { RULE_BMAP_TWICE } }, { .newest = { RULE_LOG_NEXT } },
	  RULE_LOG_NEXT, "those of files than a log's" },
	{ { .newest = { RULE_BMAP_VBLOCK_UNWRITTEN } },
	  { .newest = { RULE_BMAP_VBLOCK_FREE } },
	  RULE_BMAP_VBLOCK_FREE, "an entry without a block than a free one" },
	{ { .newest = { RULE_DAT_START, RULE_BMAP_TWICE } },
	  { .newest = { RULE_SB_NO_SUPER_ROOT } },
	  RULE_SB_NO_SUPER_ROOT, "all that than a lost super root" },
	{ { .newest = { RULE_BMAP_TWICE }, .snapshots = { RULE_BMAP_TWICE } },
	  { .newest = { RULE_BMAP_TWICE, RULE_BMAP_TWICE } },
	  RULE_BMAP_TWICE,
	  "damage of snapshots alone than the newest state's" },
	{ { .newest = { RULE_DIR_DOT }, .snapshots = { RULE_BMAP_TWICE } },
	  { .newest = { RULE_BMAP_TWICE } },
	  RULE_BMAP_TWICE, "although the newest state shows what that hid" },
	{ { .newest = { RULE_OK } }, { .snapshots = { RULE_BMAP_TWICE } },
	  RULE_BMAP_TWICE, "none than that" },
	{ { .newest = { RULE_DAT_START, RULE_DIR_DOT } },
	  { .no_volume = true },
	  RULE_OK, "a volume that opens than none, whatever it shows" },
	{ { .newest = { RULE_SB_NO_SUPER_ROOT, RULE_DIR_DOT } },
	  { .dat_broken = true },
	  RULE_OK, "a DAT that can be trusted than one that cannot" },
};

/*
 * What cannot be read hides what is in it: to have more of it is no worse where
 * something else was repaired, nor is what shows once there is less of it.
 */
static void test_unreadable(void)
{
	const struct seen hidden = { .newest = { RULE_DEV_UNREADABLE } };
	const struct seen shown = { .newest = { RULE_DIR_DOT } };
	const struct seen both = { .newest = { RULE_DIR_DOT,
					       RULE_DEV_UNREADABLE } };
	enum rule worse;

	ok(is_better(&shown, &hidden, &worse), "damage than what hides it");
	ok(is_better(&hidden, &shown, &worse),
	   "a block that is met once damage is repaired");
	ok(is_better(&shown, &both, &worse) &&
		   !is_better(&both, &shown, &worse),
	   "but alone it is worse than none");
}

static void test_steps(void)
{
	enum rule worse;
	unsigned int i;

	for (i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		const struct step *s = &steps[i];

		ok(is_better(&s->now, &s->before, &worse), "%s", s->name);
		ok(!is_better(&s->before, &s->now, &worse),
		   "and not the other way round");
		is_int(worse, s->worse, "because of that rule");
	}
}

/* Neither of the two is better. */
static const struct step draws[] = {
	{ { .newest = { RULE_BMAP_TWICE } },
	  { .newest = { RULE_BMAP_KEY_ORDER } },
	  RULE_BMAP_KEY_ORDER, "one error in place of another at a stage" },
	{ { .newest = { RULE_DIR_TYPE } }, { .newest = { RULE_DAT_LEAKED } },
	  RULE_DAT_LEAKED, "one warning in place of another" },
	{ { .snapshots = { RULE_BMAP_TWICE } },
	  { .snapshots = { RULE_BMAP_KEY_ORDER } },
	  RULE_BMAP_KEY_ORDER, "and in a snapshot" },
};

static void test_draws(void)
{
	enum rule worse;
	unsigned int i;

	for (i = 0; i < sizeof(draws) / sizeof(*draws); i++) {
		const struct step *s = &draws[i];

		ok(!is_better(&s->now, &s->before, &worse), "%s", s->name);
		is_int(worse, s->now.newest[0] ? s->now.newest[0] :
						 s->now.snapshots[0],
		       "is no better, for the new one");
		ok(!is_better(&s->before, &s->now, &worse),
		   "nor the other way round");
		is_int(worse, s->worse, "for that one");
	}
}

/* The newest state is not to be bought with what snapshots have. */
static void test_price(void)
{
	const struct seen now = {
		.snapshots = { RULE_DAT_START, RULE_DAT_START },
	};
	const struct seen before = { .newest = { RULE_DIR_DOT } };
	enum rule worse;

	ok(!is_better(&now, &before, &worse),
	   "an earlier stage of a snapshot is no price for a name");
	is_int(worse, RULE_DAT_START, "and is to blame");
}

/* What was not looked for before may have been there. */
static void test_hidden(void)
{
	const struct seen now = { .newest = { RULE_DAT_LEAKED } };
	const struct seen before = {
		.newest = { RULE_DIR_TYPE }, .leaks_hidden = true,
	};
	enum rule worse;

	ok(is_better(&now, &before, &worse),
	   "a leak that was hidden is no price for a warning");
}

int main(void)
{
	test_same();
	test_steps();
	test_unreadable();
	test_draws();
	test_price();
	test_hidden();
	return tap_done();
}
