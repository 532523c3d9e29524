// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Findings in the order of jobs.
 *
 * Workers find damage at the same time, and the order in which they report it
 * differs between runs. So each job keeps its findings, and they are passed on
 * when all earlier jobs are done. Later ones wait in memory, a few of each job.
 */
#include "find/inorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void inorder_init(struct inorder *o, findings_sink *sink, void *arg)
{
	*o = (struct inorder){ .sink = sink, .arg = arg };
	pthread_mutex_init(&o->lock, NULL);
}

void inorder_drop(struct inorder_list *list)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		free((char *)(uintptr_t)list->items[i].detail);
	free(list->items);
	*list = (struct inorder_list){ .items = NULL };
}

void inorder_fini(struct inorder *o)
{
	while (o->n)
		inorder_drop(&o->jobs[--o->n].list);
	free(o->jobs);
	pthread_mutex_destroy(&o->lock);
}

void inorder_keep(void *list, const struct finding *f)
{
	struct inorder_list *l = list;
	struct finding *kept;

	if (!array_has_room(&l->items, &l->room, l->n)) {
		l->err = -ENOMEM;
		return;
	}
	kept = &l->items[l->n++];
	*kept = *f;
	if (f->detail && !(kept->detail = strdup(f->detail)))
		l->err = -ENOMEM;
}

int inorder_done(struct inorder *o, struct context *cx, uint64_t job,
		 struct inorder_list *list)
{
	int err = list->err ? fail(cx, list->err, "findings") : 0;
	size_t i;

	pthread_mutex_lock(&o->lock);
	if (!err && job != o->next) {
		err = array_push(cx, &o->jobs, &o->n, &o->room,
				 (struct inorder_job){ job, *list });
		if (!err)
			*list = (struct inorder_list){ .items = NULL };
	}
	/* This one, then those that waited for it. */
	while (!err && job == o->next) {
		for (i = 0; i < list->n; i++)
			o->sink(o->arg, &list->items[i]);
		inorder_drop(list);
		o->next++;
		for (i = 0; i < o->n && o->jobs[i].number != o->next; i++)
			;
		if (i < o->n) {
			job = o->next;
			*list = o->jobs[i].list;
			o->jobs[i] = o->jobs[--o->n];
		}
	}
	pthread_mutex_unlock(&o->lock);
	if (err)
		inorder_drop(list);
	return err;
}
