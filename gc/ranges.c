// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ranges of checkpoints on the command line, by number or time.
 *
 * One pass over the checkpoints finds the first and the last one of every range by
 * time.  A clock may have been set back: a range by time, too, is one of numbers.
 */
#include "gc/ranges.h"

#include <errno.h>
#include <stdlib.h>

#include "gc/move/target.h"
#include "live/live.h"
#include "vol/cptable.h"
#include "vol/volume.h"

/* Ranges whose ends are times, and the checkpoints found for these, or 0. */
struct search {
	const struct range_set *set;
	struct ends {
		uint64_t since, until;
	} *found;
};

/* Takes checkpoint CNO, made at TIME, for the ranges that it may begin or end. */
static void take_checkpoint(const struct search *s, uint64_t cno, uint64_t time)
{
	const struct range *r = s->set->ranges;
	size_t i;

	for (i = 0; i < s->set->count; i++) {
		if (!s->found[i].since && time >= (r[i].first & ~MOMENT_TIME))
			s->found[i].since = cno;
		if (time <= (r[i].last & ~MOMENT_TIME))
			s->found[i].until = cno;
	}
}

static int take_mounted(void *arg, struct context *cx, const struct nilfs_cpinfo *info)
{
	(void)cx;
	take_checkpoint(arg, info->ci_cno, info->ci_create);
	return 0;
}

/* Replaces the times in SET by numbers. */
static int resolve_times(struct context *cx, const struct options *o,
			 struct dev *dev, struct range_set *set)
{
	struct search s = {
		.set = set,
		.found = calloc(set->count, sizeof(*s.found)),
	};
	struct volume *vol = NULL;
	struct cptable_cursor cur;
	struct nilfs_checkpoint cp;
	struct range *r;
	size_t i;
	int ret;

	if (!s.found)
		return fail(cx, -ENOMEM, "list of ranges");
	if (o->live) {
		ret = live_each_checkpoint(o->live, cx, NILFS_CHECKPOINT,
					   take_mounted, &s);
	} else {
		ret = target_open_volume(&vol, cx, dev);
		if (!ret) {
			ret = cptable_cursor_open(&cur, cx, vol);
			while (!ret &&
			       (ret = cptable_cursor_next(&cur, cx, &cp)) > 0) {
				take_checkpoint(&s, cur.cno - 1,
						le64_get(cp.cp_create));
				ret = 0;
			}
			cptable_cursor_close(&cur);
		}
		volume_close(vol);
	}
	for (i = 0; i < set->count && !ret; i++) {
		r = &set->ranges[i];
		if (range_is_time(r->first) && r->first == r->last)
			s.found[i].since = s.found[i].until;
		if (range_is_time(r->first))
			r->first = s.found[i].since;
		if (range_is_time(r->last))
			r->last = s.found[i].until;
		/* Without a checkpoint it ends before it begins. */
		if (!r->last || (!r->first && !s.found[i].since))
			*r = (struct range){ .first = 2, .last = 1 };
	}
	free(s.found);
	return ret;
}

int ranges_parse(struct tool *tool, const struct options *o, struct dev *dev,
		 const char *option, const struct option_list *words,
		 struct range_set *set)
{
	bool any = false;
	size_t i;
	int ret = 0;

	set->times = true;
	for (i = 0; i < words->count && !ret; i++)
		ret = range_parse_list(&tool->cx, option, words->items[i],
				       set);
	tool->bad_usage |= ret == -EINVAL;
	for (i = 0; i < set->count && !ret; i++)
		any |= range_is_time(set->ranges[i].first) ||
		       range_is_time(set->ranges[i].last);
	return any && !ret ? resolve_times(&tool->cx, o, dev, set) : ret;
}

int ranges_warn_unmet(struct tool *tool, const char *option,
		      const struct range_set *set)
{
	char text[RANGE_TEXT_MAX];
	size_t i;
	int ret = 0;

	for (i = 0; i < set->count; i++) {
		if (set->ranges[i].met)
			continue;
		if (set->ranges[i].first > set->ranges[i].last)
			tool_warn(tool, "%s: %s: there is no checkpoint of that time",
				  tool->argv[0], option);
		else
			tool_warn(tool, "%s: %s: there is no checkpoint %s",
				  tool->argv[0], option,
				  range_text(&set->ranges[i], text));
		ret = JOB_UNDONE;
	}
	return ret;
}
