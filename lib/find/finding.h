/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a checker finds, and the list of it.
 *
 * A finding never changes what a pass does next by itself.  The list counts
 * what is added and passes it to a sink, one at a time whatever the
 * number of threads.  Findings of a rule after the first FINDINGS_SHOWN are only
 * counted.
 */
#ifndef NILFS2_FIND_FINDING_H
#define NILFS2_FIND_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/rule.h"
#include "find/place.h"

#define FINDINGS_SHOWN 100

struct finding {
	enum rule rule;
	struct place place;
	bool has_want, has_got;
	uint64_t want, got;	/* what the rule compares */
	bool history;		/* of a checkpoint that is not kept */
	bool snapshot;		/* see findings_snapshots(); the list sets both */
	const char *detail;	/* more in words, or NULL; borrowed */
};

struct findings;

/* Gets each finding that is to be shown.  F is valid during the call. */
typedef void findings_sink(void *arg, const struct finding *f);

/*
 * An empty list.  With EVERYTHING no finding is left out.  -ENOMEM.  Freed
 * with findings_close(), which accepts NULL.
 */
int findings_open(struct findings **fp, struct context *cx,
		  findings_sink *sink, void *arg, bool everything);
void findings_close(struct findings *f);

/*
 * WATCH gets every finding from now on but history, before the sink, and also
 * those that the sink does not get.
 */
void findings_watch(struct findings *f, findings_sink *watch, void *arg);

/*
 * With ON what is added from now on is history: of a checkpoint that is neither
 * the newest nor a snapshot.  Such ones go by themselves, and cannot be
 * repaired, as what is written stays as it is; so they are counted separately,
 * and shown only with EVERYTHING.  Not while other threads may add.
 */
void findings_history(struct findings *f, bool on);

/*
 * With ON what is added from now on is of snapshots that the newest checkpoint
 * does not share it with, and is marked so.  Not while other threads may add.
 */
void findings_snapshots(struct findings *f, bool on);

/* Adds one; from any thread.  F may be NULL: it is dropped. */
void findings_add(struct findings *f, const struct finding *finding);

/* The commonest forms: a rule and a place; and a number; and two that differ. */
void findings_broken(struct findings *f, enum rule rule, struct place place);
void findings_got(struct findings *f, enum rule rule, struct place place,
		  uint64_t got);
void findings_differ(struct findings *f, enum rule rule, struct place place,
		     uint64_t want, uint64_t got);

/*
 * A rule and a place, in words what CX's failure text says, which is then
 * forgotten: for readers that say what is wrong only so.
 */
void findings_failed(struct findings *f, struct context *cx, enum rule rule,
		     struct place place);

/* How often, history aside: a rule, all of a severity or worse. */
uint64_t findings_count(const struct findings *f, enum rule rule);
uint64_t findings_count_severity(const struct findings *f,
				 enum rule_severity least);
uint64_t findings_count_history(const struct findings *f);

/*
 * Whether a rule was broken, history aside, that has one of TRAITS; that is of
 * AREA and at least as severe as LEAST; whose stage is STAGE.
 */
bool findings_have(const struct findings *f, unsigned int traits);
bool findings_have_area(const struct findings *f, enum rule_area area,
			enum rule_severity least);
bool findings_have_stage(const struct findings *f, enum rule_stage stage);

#endif
