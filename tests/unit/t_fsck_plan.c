// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The plan of repairs: by whom a finding is repaired, what that may cost, and
 * that every fix of every rule has a fixer.
 */

#include <errno.h>

#include "disk/ondisk.h"
#include "fsck/plan/fixers.h"

#include "tap.h"

#define FILE_INO 12u

static struct finding map_of(enum rule rule, uint64_t ino)
{
	return (struct finding){ .rule = rule,
				 .place = place_map(0, ino, 3, 0) };
}

static struct finding at(enum rule rule, struct place place)
{
	return (struct finding){ .rule = rule, .place = place };
}

/* A broken map is repaired with what it is the map of. */
static void test_metadata(void)
{
	static const struct {
		uint64_t ino;
		enum rule_fix fix;
		enum rule_danger danger;
		const char *name;
	} files[] = {
		{ NILFS_DAT_INO, RULE_FIX_DAT, RULE_DANGER_SAFE, "the DAT" },
		{ NILFS_CPFILE_INO, RULE_FIX_CHECKPOINTS, RULE_DANGER_LOSES,
		  "the checkpoint file" },
		{ NILFS_SUFILE_INO, RULE_FIX_SEGMENTS, RULE_DANGER_SAFE,
		  "segment usage" },
		{ NILFS_IFILE_INO, RULE_FIX_INODES, RULE_DANGER_LOSES,
		  "the file of inodes" },
		{ NILFS_ROOT_INO, RULE_FIX_MAPS, RULE_DANGER_LOSES,
		  "the root directory" },
		{ FILE_INO, RULE_FIX_MAPS, RULE_DANGER_LOSES, "a file" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct finding f = map_of(RULE_BMAP_NODE_LEVEL, files[i].ino);

		is_int(plan_fix_of(&f), files[i].fix, files[i].name);
		is_int(plan_danger_of(files[i].fix, &f), files[i].danger,
		       "and what that may cost");
		is_int(plan_second_of(&f), RULE_FIX_NONE,
		       "and no other fixer repairs its map");
	}
}

/* What cannot be read is repaired as what it is part of, or not at all. */
static void test_unreadable(void)
{
	struct finding f = map_of(RULE_DEV_UNREADABLE, NILFS_DAT_INO);

	is_int(plan_fix_of(&f), RULE_FIX_DAT, "an unreadable block of the DAT");
	is_int(plan_danger_of(RULE_FIX_DAT, &f), RULE_DANGER_LOSES,
	       "is derived, and what no log lists is lost");
	f = map_of(RULE_DEV_UNREADABLE, NILFS_SUFILE_INO);
	is_int(plan_fix_of(&f), RULE_FIX_SEGMENTS, "one of segment usage");
	is_int(plan_danger_of(RULE_FIX_SEGMENTS, &f), RULE_DANGER_SAFE,
	       "follows from the rest");
	f = map_of(RULE_DEV_UNREADABLE, FILE_INO);
	is_int(plan_fix_of(&f), RULE_FIX_MAPS, "one of a file");
	is_int(plan_danger_of(RULE_FIX_MAPS, &f), RULE_DANGER_LOSES,
	       "may be lost to it");
	f = at(RULE_DEV_UNREADABLE, place_number(PLACE_SUPER, 1));
	is_int(plan_fix_of(&f), RULE_FIX_SUPER, "a superblock");
	is_int(plan_danger_of(RULE_FIX_SUPER, &f), RULE_DANGER_SAFE,
	       "has a copy");
	f = at(RULE_DEV_UNREADABLE, place_number(PLACE_SEGMENT, 1));
	is_int(plan_fix_of(&f), RULE_FIX_NONE, "a segment of "
	       "unknown content is left");
}

/* Allocators: the DAT's, or that of a file of inodes. */
static void test_allocators(void)
{
	struct finding f = at(RULE_PALLOC_NFREES,
			      (struct place){ .kind = PLACE_GROUP,
					      .ino = NILFS_DAT_INO });

	is_int(plan_fix_of(&f), RULE_FIX_DAT, "a count of the DAT");
	f = at(RULE_PALLOC_NFREES, (struct place){ .kind = PLACE_GROUP,
						   .ino = NILFS_IFILE_INO });
	is_int(plan_fix_of(&f), RULE_FIX_IFILE, "one of a file of inodes");
	f = map_of(RULE_PALLOC_BLOCK, NILFS_DAT_INO);
	is_int(plan_fix_of(&f), RULE_FIX_DAT, "a block of the DAT");
	f = map_of(RULE_PALLOC_BLOCK, NILFS_IFILE_INO);
	is_int(plan_fix_of(&f), RULE_FIX_INODES, "one of a file of inodes");
	f = at(RULE_PALLOC_ENTRY_MISSING, place_inode(0, NILFS_IFILE_INO));
	is_int(plan_fix_of(&f), RULE_FIX_INODES, "inodes that are nowhere");
	f = at(RULE_PALLOC_ENTRY_MISSING, place_inode(0, NILFS_DAT_INO));
	is_int(plan_fix_of(&f), RULE_FIX_DAT, "entries of the DAT");
	f = at(RULE_INODE_RESERVED_FREE, place_inode(0, NILFS_DAT_INO));
	is_int(plan_fix_of(&f), RULE_FIX_INODES,
	       "a reserved inode, whichever, is one of the file of inodes");
}

/* Two structures disagree, and either may be wrong. */
static void test_second(void)
{
	struct finding f = at(RULE_SU_CLEAN_HOLDS,
			      place_number(PLACE_SEGMENT, 1));

	is_int(plan_fix_of(&f), RULE_FIX_DAT, "the DAT is asked first");
	is_int(plan_second_of(&f), RULE_FIX_SEGMENTS, "segment usage next");
	is_int(plan_danger_of(RULE_FIX_DAT, &f), RULE_DANGER_SAFE,
	       "at no price");
	f = map_of(RULE_BMAP_LIFETIME, FILE_INO);
	is_int(plan_fix_of(&f), RULE_FIX_DAT, "an entry that has ended");
	is_int(plan_second_of(&f), RULE_FIX_MAPS, "or is not the file's");
	is_int(plan_danger_of(RULE_FIX_MAPS, &f), RULE_DANGER_LOSES,
	       "which may cost a block");
	f = map_of(RULE_BMAP_VBLOCK_UNWRITTEN, NILFS_IFILE_INO);
	is_int(plan_second_of(&f), RULE_FIX_INODES, "or of inodes");
	f = at(RULE_LOG_UNLISTED, place_number(PLACE_VBLOCK, 1));
	is_int(plan_second_of(&f), RULE_FIX_MOVES, "a log may be wrong");
	is_int(plan_danger_of(RULE_FIX_MOVES, &f), RULE_DANGER_SAFE,
	       "which costs nothing");
}

/* In whatever place it is found: a fixer of each rule exists, and says why. */
static void test_every_rule(void)
{
	static const uint64_t inos[] = {
		NILFS_ROOT_INO, NILFS_DAT_INO, NILFS_CPFILE_INO,
		NILFS_SUFILE_INO, NILFS_IFILE_INO, FILE_INO,
	};
	unsigned int missing = 0, free_of_charge = 0, k;
	const struct rule_info *rule;
	enum rule_fix fix;
	size_t i;

	for (i = 0; (rule = rule_at(i)); i++)
		for (k = 0; k < sizeof(inos) / sizeof(*inos); k++) {
			struct finding f = map_of(rule->rule, inos[k]);

			fix = plan_fix_of(&f);
			missing += fix != RULE_FIX_NONE && !fixers_of(fix);
			free_of_charge += fix != RULE_FIX_NONE &&
				plan_danger_of(fix, &f) == RULE_DANGER_NONE &&
				rule->fix != RULE_FIX_NONE;
		}
	ok(i > 100, "%zu rules", i);
	is_int(missing, 0, "every repair has a fixer");
	is_int(free_of_charge, 0, "and it is known what that may cost");
}

static void test_lists(void)
{
	struct plan plan = { .err = 0 };
	struct finding f = map_of(RULE_BMAP_TWICE, FILE_INO);
	const struct plan_kind *k = &plan.kinds[RULE_FIX_MAPS];
	uint64_t i, wrong = 0;

	ok(plan_is_empty(&plan), "a plan begins empty");
	f.has_got = true;
	for (i = 0; i < PLAN_MAX + 10; i++) {
		f.got = i;
		plan_add(&plan, RULE_FIX_MAPS, &f);
	}
	ok(!plan_is_empty(&plan), "and is not with something to repair");
	is_int(plan.err, 0, "of which there is much");
	is_int(k->n, PLAN_MAX, "the list has an end");
	is_int(k->found, PLAN_MAX + 10, "the count has not");
	for (i = 0; i < k->n; i++)
		wrong += k->fixes[i].got != i || !k->fixes[i].has_got ||
			 k->fixes[i].has_want ||
			 k->fixes[i].rule != RULE_BMAP_TWICE ||
			 k->fixes[i].place.ino != FILE_INO;
	is_int(wrong, 0, "it is in the order found");
	is_int(plan.kinds[RULE_FIX_NAMES].n, 0, "other kinds have their own");
	plan_fini(&plan);
	ok(plan_is_empty(&plan), "and it can be emptied");
}

/* The digest of two findings, of files A and B, as of checkpoint CNO. */
static uint64_t digest_of_two(uint64_t a, uint64_t b, uint64_t cno, uint64_t latest)
{
	struct plan plan = { .err = 0 };
	struct finding f = map_of(RULE_BMAP_TWICE, a);
	uint64_t digest;

	f.place.cno = cno;
	plan_add(&plan, RULE_FIX_MAPS, &f);
	f.place.ino = b;
	plan_add(&plan, RULE_FIX_MAPS, &f);
	digest = plan_digest(&plan, RULE_FIX_MAPS, latest);
	plan_fini(&plan);
	return digest;
}

static void test_digest(void)
{
	uint64_t digest = digest_of_two(20, 21, 5, 5);

	is_int(digest_of_two(21, 20, 5, 5), digest, "the order does not count");
	is_int(digest_of_two(20, 21, 6, 6), digest,
	       "nor that the latest checkpoint is another one");
	ok(digest_of_two(20, 21, 5, 6) != digest, "a snapshot counts");
	ok(digest_of_two(20, 22, 5, 5) != digest, "and so does each file");
}

int main(void)
{
	test_metadata();
	test_unreadable();
	test_allocators();
	test_second();
	test_every_rule();
	test_lists();
	test_digest();
	return tap_done();
}
