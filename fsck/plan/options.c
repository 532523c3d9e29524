// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The options of fsck.nilfs2.
 *
 * The letters are those that fsck(8) and its callers at boot pass to any
 * checker, with the meaning of e2fsck(8).
 */
#include "fsck/plan/options.h"

#include <errno.h>
#include <string.h>

#include "cli/moment.h"

#define AT(member) offsetof(struct options, member)

enum { GROUP_MODE = 1, GROUP_DEPTH };

static int set_rollback(struct context *cx, const char *arg, void *where)
{
	struct options_rollback *r = where;

	r->wanted = true;
	return arg ? moment_parse(cx, arg, &r->moment) : 0;
}

static int add_given_up(struct context *cx, const char *arg, void *where)
{
	static const char snapshot[] = "snapshot=";
	struct options_give_up *g = where;
	int err;

	if (strncmp(arg, snapshot, strlen(snapshot)))
		return fail(cx, -EINVAL, "--give-up: '%s' is not snapshot=CNO",
			    arg);
	if (g->n == OPTIONS_GIVE_UP_MAX)
		return fail(cx, -EINVAL, "--give-up: no more than %u snapshots",
			    OPTIONS_GIVE_UP_MAX);
	err = option_number(cx, "--give-up", arg + strlen(snapshot),
			    UINT64_MAX, &g->cno[g->n]);
	g->n += !err;
	return err;
}

static int set_superblock(struct context *cx, const char *arg, void *where)
{
	uint64_t *superblock = where;
	int err = option_number(cx, "-b", arg, 2, superblock);

	return err || *superblock ? err :
		fail(cx, -EINVAL, "-b: superblocks are 1 and 2");
}

static int options_set_state(struct context *cx, const char *arg, void *where)
{
	uint64_t *state = where;
	int err = moment_parse(cx, arg, state);

	return err || *state ? err :
		fail(cx, -EINVAL, "--state: no checkpoint has number 0");
}

const struct cli_option options_rows[] = {
	{ 'a', NULL, NULL, "preen: make safe repairs automatically",
	  OPTION_SET, AT(mode), GROUP_MODE, OPTIONS_AUTO, NULL, NULL },
	{ 0, "all", NULL, "show all findings, not 100 of each rule",
	  OPTION_FLAG, AT(everything), 0, 0, NULL, NULL },
	{ 'b', "superblock", "N", "use superblock N (1, 2), not the other one",
	  OPTION_CALL, AT(superblock), 0, 0, NULL, set_superblock },
	{ 0, "data", NULL, "verify the checksums of all logs too", OPTION_FLAG,
	  AT(data), 0, 0, NULL, NULL },
	{ 0, "ddrescue-map", "FILE", "areas that ddrescue could not read",
	  OPTION_STRING, AT(ddrescue_map), 0, 0, NULL, NULL },
	{ 'f', NULL, NULL, "check even if clean", OPTION_FLAG, AT(always),
	  GROUP_DEPTH, 0, NULL, NULL },
	{ 0, "force", NULL, "with -y or --undo, override other owners",
	  OPTION_FLAG, AT(force), 0, 0, NULL, NULL },
	{ 0, "give-up", "snapshot=CNO",
	  "make it a plain checkpoint if it cannot be repaired",
	  OPTION_CALL, AT(give_up), 0, 0, NULL, add_given_up },
	{ 0, "list-rules", NULL, "list all rules", OPTION_FLAG,
	  AT(list_rules), 0, 0, NULL, NULL },
	{ 'n', "no", NULL, "change nothing", OPTION_SET, AT(mode), GROUP_MODE,
	  OPTIONS_NO, NULL, NULL },
	{ 0, "output", "FILE", "repair a copy, written to FILE",
	  OPTION_STRING, AT(output), 0, 0, NULL, NULL },
	{ 'p', NULL, NULL, "the same as -a", OPTION_SET, AT(mode), GROUP_MODE,
	  OPTIONS_AUTO, NULL, NULL },
	{ 0, "quick", NULL, "check only the superblocks and the last log",
	  OPTION_FLAG, AT(quick), GROUP_DEPTH, 0, NULL, NULL },
	{ 0, "rebuild", NULL, "derive all metadata files from the logs",
	  OPTION_FLAG, AT(rebuild), 0, 0, NULL, NULL },
	{ 0, "rebuild-counters", NULL, "rebuild the counters of segments, no more",
	  OPTION_SET, AT(mode), GROUP_MODE, OPTIONS_COUNTERS, NULL, NULL },
	{ 0, "rollback", "[=CNO]",
	  "return to checkpoint CNO, a number or time, or the last but one",
	  OPTION_CALL, AT(rollback), GROUP_MODE, 0, NULL, set_rollback },
	{ 0, "share", NULL, "check a mounted volume while it is cleaned",
	  OPTION_FLAG, AT(share), 0, 0, NULL, NULL },
	{ 0, "speed", "SIZE", "read at most so much in a second (0: any)",
	  OPTION_SIZE, AT(speed), 0, 0, NULL, NULL },
	{ 0, "state", "CNO",
	  "check and repair the state of checkpoint CNO, a number or time",
	  OPTION_CALL, AT(state), 0, 0, NULL, options_set_state },
	{ 0, "undo", "FILE", "restore the blocks in an undo file",
	  OPTION_STRING, AT(undo), GROUP_MODE, 0, NULL, NULL },
	{ 0, "undo-file", "FILE", "save blocks to FILE before overwriting them",
	  OPTION_STRING, AT(undo_file), 0, 0, NULL, NULL },
	{ 'y', "yes", NULL, "repair all that can be repaired", OPTION_SET, AT(mode),
	  GROUP_MODE, OPTIONS_YES, NULL, NULL },
	{ 0 },
};
