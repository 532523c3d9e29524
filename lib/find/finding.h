/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Findings of a checker, and their list.
 *
 * A finding does not change the next steps of a pass by itself.  The list counts the
 * findings and passes them to a sink, one at a time for any number of threads.
 * Findings of a rule after the first FINDINGS_SHOWN are only counted.
 */
#ifndef NILFS2_FIND_FINDING_H
#define NILFS2_FIND_FINDING_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/rule.h"

#define FINDINGS_SHOWN 100

/*
 * The place of something on a volume: a kind and a few numbers, so it can be stored,
 * compared and printed for people and for scripts without the volume.
 */
enum place_kind {
	PLACE_VOLUME,		/* no place in particular */
	PLACE_SUPER,		/* number: 0 the first copy, 1 the second */
	PLACE_BLOCK,		/* number: the block of the device */
	PLACE_SEGMENT,		/* number */
	PLACE_LOG,		/* number: its first block */
	PLACE_CHECKPOINT,	/* number */
	PLACE_VBLOCK,		/* number: virtual block, its entry in the DAT */
	/* In a file: */
	PLACE_GROUP,		/* cno, ino, number: of a persistent allocator */
	PLACE_INODE,		/* cno, ino */
	PLACE_MAP,		/* cno, ino, blkoff, level: a pointer of its map */
	PLACE_NAME,		/* cno, ino, blkoff, offset: directory entry */
	PLACE_IN_FILE = PLACE_GROUP,
};

struct place {
	enum place_kind kind;
	unsigned int level;	/* 0: data, else of the B-tree node */
	uint32_t offset;	/* bytes in the block */
	uint64_t number;
	uint64_t cno;		/* checkpoint; 0: as of the super root */
	uint64_t ino;
	uint64_t blkoff;	/* block of the file, first one below a node */
};

static inline struct place place_number(enum place_kind kind, uint64_t number)
{
	return (struct place){ .kind = kind, .number = number };
}

static inline struct place place_inode(uint64_t cno, uint64_t ino)
{
	return (struct place){ .kind = PLACE_INODE, .cno = cno, .ino = ino };
}

static inline struct place place_map(uint64_t cno, uint64_t ino,
				     uint64_t blkoff, unsigned int level)
{
	return (struct place){ .kind = PLACE_MAP, .cno = cno, .ino = ino,
			       .blkoff = blkoff, .level = level };
}

#define PLACE_TEXT_MAX 160

struct finding {
	enum rule rule;
	struct place place;
	bool has_want, has_got;
	uint64_t want, got;	/* the values that the rule compares */
	bool history;		/* of a checkpoint that is not kept */
	bool snapshot;		/* see enum findings_mark; the list sets both */
	const char *detail;	/* more in words, or NULL; borrowed */
};

/* Gets each finding that must be printed.  F is valid during the call. */
typedef void findings_sink(void *arg, const struct finding *f);

/* The checkpoints to which findings belong. */
enum findings_mark {
	FINDINGS_NEWEST,	/* the newest checkpoint, or none */
	FINDINGS_SNAPSHOTS,	/* snapshots, but not the newest checkpoint */
	/*
	 * History: a checkpoint that is neither the newest nor a snapshot.  The cleaner
	 * removes such a checkpoint, and no repair changes one.  So these findings are
	 * counted separately, and shown only with EVERYTHING.
	 */
	FINDINGS_HISTORY,
};

struct findings {
	pthread_mutex_t lock;	/* over counts and calls of the sinks */
	findings_sink *sink;
	void *arg;
	uint64_t most;		/* maximum of shown findings per rule */
	size_t nrules;
	/*
	 * WATCH, or NULL, gets all later findings, before the sink, including those
	 * that the sink does not get.  MARK is that of later findings.
	 * Both are set by the owner while no other thread may add.
	 */
	findings_sink *watch;
	void *watch_arg;
	enum findings_mark mark;
	uint64_t nhistory;	/* findings of history */
	uint64_t counts[];	/* of all others, by place in the registry */
};

/*
 * Opens an empty list.  With EVERYTHING all findings are passed to SINK, which is NULL if
 * they are only counted.  -ENOMEM.
 * Freed with findings_close(), which accepts NULL.
 */
int findings_open(struct findings **fp, struct context *cx,
		  findings_sink *sink, void *arg, bool everything);
void findings_close(struct findings *f);

/* Adds a finding; from any thread.  If F is NULL, it is dropped. */
void findings_add(struct findings *f, const struct finding *finding);

/* The most common forms: a rule and a place; with a number; with two values. */
void findings_broken(struct findings *f, enum rule rule, struct place place);
void findings_got(struct findings *f, enum rule rule, struct place place,
		  uint64_t got);
void findings_differ(struct findings *f, enum rule rule, struct place place,
		     uint64_t want, uint64_t got);

/*
 * Adds a finding with CX's failure text as detail, and clears that text: for
 * functions that report damage only by a failure.
 */
void findings_failed(struct findings *f, struct context *cx, enum rule rule,
		     struct place place);

/* The number of findings, except history, of a rule; of a severity or worse. */
uint64_t findings_count(const struct findings *f, enum rule rule);
uint64_t findings_count_severity(const struct findings *f,
				 enum rule_severity least);

/*
 * Whether a rule was broken, except in history: with one of TRAITS; of AREA and at
 * least as severe as LEAST; with the stage STAGE.
 */
bool findings_have(const struct findings *f, unsigned int traits);
bool findings_have_area(const struct findings *f, enum rule_area area,
			enum rule_severity least);
bool findings_have_stage(const struct findings *f, enum rule_stage stage);

#endif
