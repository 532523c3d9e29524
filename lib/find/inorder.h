/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Findings of jobs that run at the same time, in the order of the jobs.
 */
#ifndef NILFS2_FIND_INORDER_H
#define NILFS2_FIND_INORDER_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "find/finding.h"

/* The findings of one job, with their details. Empty if all zero. */
struct inorder_list {
	struct finding *items;
	size_t n, room;
	int err;		/* -ENOMEM: some are missing */
};

struct inorder {
	pthread_mutex_t lock;
	findings_sink *sink;
	void *arg;
	uint64_t next;		/* job whose findings are passed on next */
	/* Jobs that were done before that one. */
	struct inorder_job {
		uint64_t number;
		struct inorder_list list;
	} *jobs;
	size_t n, room;
};

/* The findings of jobs numbered from 0 on go to SINK, one at a time. */
void inorder_init(struct inorder *o, findings_sink *sink, void *arg);

/* Drops what was not passed on. */
void inorder_fini(struct inorder *o);

/* Drops the findings in LIST. */
void inorder_drop(struct inorder_list *list);

/* A sink, for a list of findings of one job: copies F to LIST. */
void inorder_keep(void *list, const struct finding *f);

/*
 * Job number JOB is done: takes its findings from *LIST, which is empty then, and
 * passes on what follows in order. From any thread. -ENOMEM.
 */
int inorder_done(struct inorder *o, struct context *cx, uint64_t job,
		 struct inorder_list *list);

#endif
