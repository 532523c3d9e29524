// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Policies of the simulator.
 *
 * random, d-choices: Van Houdt, "A mean field model for a class of garbage
 * collection algorithms in flash-based solid state drives", SIGMETRICS 2013;
 * Li, Lee and Lui, "Stochastic modeling of large-scale solid-state storage
 * systems", SIGMETRICS 2013: the emptiest of so many that are drawn at random.
 *
 * windowed: Hu et al., "Write amplification analysis in flash-based solid state
 * drives", SYSTOR 2009: the emptiest of so many that were written first.
 *
 * age-threshold: the victims of ATGC, by Chao Yu, "f2fs: support age threshold
 * based garbage collection", Linux 5.10; see simchoice_by_age().
 *
 * cost-benefit-data: as Rosenblum and Ousterhout have it, TOCS 10(1), 1992: the
 * age of a segment is that of its youngest data, which does not become younger
 * by being moved.
 */
#include "gc/sim/volume/simpolicy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gc/sim/volume/simchoice.h"

/* Van Houdt finds little to be gained by more choices than these. */
#define CHOICES 10u
#define WINDOW 100u

static uint64_t dead(const struct policy_segment *s,
		     const struct policy_env *env)
{
	return policy_find("greedy")->importance(s, env);
}

static uint64_t nothing(const struct policy_segment *s,
			const struct policy_env *env)
{
	(void)s, (void)env;
	return 0;
}

static uint64_t benefit(const struct policy_segment *s,
			const struct policy_env *env)
{
	return policy_find("cost-benefit-lfs")->importance(s, env);
}

static const struct simpolicy_kind kinds[] = {
	{ { "random", "any segment", nothing, false, false },
	  .parameter = 1, .pick = simchoice_draw },
	{ { "d-choices", "the most dead blocks of some at random", dead, false,
	    false },
	  .parameter = CHOICES, .has_parameter = true, .pick = simchoice_draw },
	{ { "windowed", "the most dead blocks of the oldest few", dead, false,
	    false },
	  .parameter = WINDOW, .has_parameter = true,
	  .pick = simchoice_window },
	{ { "age-threshold", "by age and dead blocks of the oldest fifth",
	    dead, false, false },
	  .has_parameter = true, .data_ages = true,
	  .pick = simchoice_by_age },
	{ { "cost-benefit-data", "cost-benefit-lfs by the age of data",
	    benefit, false, true },
	  .data_ages = true, .pick = simchoice_scan },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

const char *simpolicy_word(size_t i)
{
	if (i < policy_count)
		return policy_list[i].name;
	i -= policy_count;
	return i < KINDS ? kinds[i].policy.name : NULL;
}

/* TEXT after a colon, a number of at most nine digits. */
static int parse_parameter(const char *text, uint32_t *parameter)
{
	size_t digits = strspn(text, "0123456789");

	if (!digits || digits > 9 || text[digits])
		return -EINVAL;
	*parameter = (uint32_t)strtoul(text, NULL, 10);
	return 0;
}

static int parse_kind(struct simpolicy *p, const struct simpolicy_kind *k,
		      const char *rest)
{
	p->kind = k;
	p->policy = &k->policy;
	p->parameter = k->parameter;
	if (!*rest)
		return 0;
	if (!k->has_parameter || parse_parameter(rest + 1, &p->parameter))
		return -EINVAL;
	return p->parameter || !k->parameter ? 0 : -EINVAL;
}

int simpolicy_parse(struct simpolicy *p, const char *text)
{
	size_t length = strcspn(text, ":"), i;

	*p = (struct simpolicy){ .name = text };
	for (i = 0; i < KINDS; i++)
		if (strlen(kinds[i].policy.name) == length &&
		    !strncmp(kinds[i].policy.name, text, length))
			return parse_kind(p, &kinds[i], text + length);
	p->policy = policy_parse(text, &p->parameter);
	return p->policy ? 0 : -EINVAL;
}
