// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The list of findings.
 *
 * Findings are not stored: there is a count for each rule, a lock, and the sink that
 * gets each finding at once.  So the memory does not depend on the number of
 * findings.
 */
#include "config.h"

#include "find/finding.h"

#include <errno.h>
#include <stdlib.h>

int findings_open(struct findings **fp, struct context *cx,
		  findings_sink *sink, void *arg, bool everything)
{
	struct findings *f;
	size_t nrules = 0;

	while (rule_at(nrules))
		nrules++;
	f = calloc(1, sizeof(*f) + nrules * sizeof(f->counts[0]));
	*fp = f;
	if (!f)
		return fail(cx, -ENOMEM, "findings");
	pthread_mutex_init(&f->lock, NULL);
	f->sink = sink;
	f->arg = arg;
	f->most = everything ? UINT64_MAX : FINDINGS_SHOWN;
	f->nrules = nrules;
	return 0;
}

void findings_close(struct findings *f)
{
	if (!f)
		return;
	pthread_mutex_destroy(&f->lock);
	free(f);
}

void findings_add(struct findings *f, const struct finding *finding)
{
	const struct rule_info *rule = rule_info(finding->rule);
	struct finding marked = *finding;
	uint64_t *count;

	if (!f)
		return;
	pthread_mutex_lock(&f->lock);
	marked.history = f->mark == FINDINGS_HISTORY;
	marked.snapshot = f->mark == FINDINGS_SNAPSHOTS;
	count = marked.history ? &f->nhistory : &f->counts[rule - rule_at(0)];
	if (f->watch)
		f->watch(f->watch_arg, &marked);
	if (f->sink && *count < f->most &&
	    (!marked.history || f->most == UINT64_MAX))
		f->sink(f->arg, &marked);
	(*count)++;
	pthread_mutex_unlock(&f->lock);
}

void findings_broken(struct findings *f, enum rule rule, struct place place)
{
	findings_add(f, &(struct finding){ .rule = rule, .place = place });
}

void findings_got(struct findings *f, enum rule rule, struct place place,
		  uint64_t got)
{
	findings_add(f, &(struct finding){
		.rule = rule, .place = place, .has_got = true, .got = got,
	});
}

void findings_differ(struct findings *f, enum rule rule, struct place place,
		     uint64_t want, uint64_t got)
{
	findings_add(f, &(struct finding){
		.rule = rule, .place = place,
		.has_want = true, .want = want,
		.has_got = true, .got = got,
	});
}

void findings_failed(struct findings *f, struct context *cx, enum rule rule,
		     struct place place)
{
	findings_add(f, &(struct finding){
		.rule = rule, .place = place,
		.detail = *cx->failure ? cx->failure : NULL,
	});
	fail_clear(cx);
}

/* Counts are read while other threads may add findings. */
uint64_t findings_count(const struct findings *f, enum rule rule)
{
	const uint64_t *count = &f->counts[rule_info(rule) - rule_at(0)];

	return __atomic_load_n(count, __ATOMIC_RELAXED);
}

bool findings_have(const struct findings *f, unsigned int traits)
{
	size_t i;

	for (i = 0; i < f->nrules; i++)
		if ((rule_at(i)->traits & traits) &&
		    findings_count(f, rule_at(i)->rule))
			return true;
	return false;
}

bool findings_have_area(const struct findings *f, enum rule_area area,
			enum rule_severity least)
{
	const struct rule_info *info;
	size_t i;

	for (i = 0; i < f->nrules; i++) {
		info = rule_at(i);
		if (info->area == area && info->severity >= least &&
		    findings_count(f, info->rule))
			return true;
	}
	return false;
}

bool findings_have_stage(const struct findings *f, enum rule_stage stage)
{
	size_t i;

	for (i = 0; i < f->nrules; i++)
		if (rule_stage(rule_at(i)) == stage &&
		    findings_count(f, rule_at(i)->rule))
			return true;
	return false;
}

uint64_t findings_count_severity(const struct findings *f,
				 enum rule_severity least)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < f->nrules; i++)
		if (rule_at(i)->severity >= least)
			sum += findings_count(f, rule_at(i)->rule);
	return sum;
}
