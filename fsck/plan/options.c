// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The options of fsck.nilfs2.
 *
 * The letters are those that fsck(8) and its callers at boot give to any
 * checker, with the meaning that they have for e2fsck(8).
 */
#include "fsck/plan/options.h"

#define AT(member) offsetof(struct options, member)

enum { GROUP_MODE = 1, GROUP_DEPTH };

enum decision_mode options_decision(const struct options *o, bool can_ask)
{
	switch (o->mode) {
	case OPTIONS_AUTO:
		return DECISION_MODE_SAFE;
	case OPTIONS_YES:
		return o->rebuild ? DECISION_MODE_YES_REBUILD :
				    DECISION_MODE_YES;
	case OPTIONS_PLAIN:
		if (!can_ask)
			break;
		return o->rebuild ? DECISION_MODE_ASK_REBUILD :
				    DECISION_MODE_ASK;
	default:
		break;
	}
	return DECISION_MODE_NO;
}

static int set_rollback(struct context *cx, const char *arg, void *where)
{
	struct options_rollback *r = where;

	r->wanted = true;
	return arg ? option_number(cx, "--rollback", arg, UINT64_MAX,
				   &r->cno) : 0;
}

const struct cli_option options_rows[] = {
	{ 'a', NULL, NULL, "preen: repair automatically what is safe",
	  OPTION_SET, AT(mode), GROUP_MODE, OPTIONS_AUTO, NULL, NULL },
	{ 0, "all", NULL, "show all findings, not 100 of each rule",
	  OPTION_FLAG, AT(everything), 0, 0, NULL, NULL },
	{ 0, "data", NULL, "verify the checksums of all logs too", OPTION_FLAG,
	  AT(data), 0, 0, NULL, NULL },
	{ 0, "ddrescue-map", "FILE", "areas that ddrescue could not read",
	  OPTION_STRING, AT(ddrescue_map), 0, 0, NULL, NULL },
	{ 'f', NULL, NULL, "check even if clean", OPTION_FLAG, AT(always),
	  GROUP_DEPTH, 0, NULL, NULL },
	{ 0, "force", NULL, "with -y or --undo, override other owners",
	  OPTION_FLAG, AT(force), 0, 0, NULL, NULL },
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
	  "return to checkpoint CNO, or the last but one",
	  OPTION_CALL, AT(rollback), GROUP_MODE, 0, NULL, set_rollback },
	{ 0, "undo", "FILE", "restore the blocks in an undo file",
	  OPTION_STRING, AT(undo), GROUP_MODE, 0, NULL, NULL },
	{ 0, "undo-file", "FILE", "save blocks to FILE before overwriting them",
	  OPTION_STRING, AT(undo_file), 0, 0, NULL, NULL },
	{ 'y', "yes", NULL, "repair all that can be repaired", OPTION_SET, AT(mode),
	  GROUP_MODE, OPTIONS_YES, NULL, NULL },
	{ 0 },
};
