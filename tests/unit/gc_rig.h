/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A volume in memory with something to be cleaned: files, a snapshot of them,
 * and checkpoint after checkpoint with others in place of most of them.
 */
#ifndef NILFS2_TESTS_GC_RIG_H
#define NILFS2_TESTS_GC_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cut.h"
#include "log_volume.h"

#define RIG_FILES 6u
#define RIG_ROUNDS 14u	/* checkpoints */
#define RIG_SNAPSHOT 1u

struct rig {
	const struct log_shape *shape;
	struct log_volume v;
	struct log_file kept[RIG_FILES];	/* as the snapshot has them */
	char *before, *bytes;	/* the device; and to be worked on */
	size_t size;
};

void rig_open(struct rig *r, const struct log_shape *shape);

/* With ROUNDS checkpoints, and MORE segments of zeros after the volume. */
void rig_open_larger(struct rig *r, const struct log_shape *shape,
		     unsigned int rounds, uint64_t more);

/* With CLEAN clean segments: SHAPE becomes as large as that takes. */
void rig_open_with(struct rig *r, struct log_shape *shape, uint64_t clean);
void rig_close(struct rig *r);

/* As a crash leaves it: r->before do not say that the volume was unmounted. */
void rig_leave_mounted(struct rig *r);

/* A job on r->bytes, and who judges it, with ARG. */
struct cut rig_cut(struct rig *r, cut_job *job, cut_judge *judge, void *arg);

/*
 * Whether all of r->bytes holds together, live-block counts are exact where
 * there are any, and files read as they were; *CNO is the latest checkpoint.
 */
bool rig_holds(struct rig *r, uint64_t *cno);

/* The same of its first SIZE bytes, which ALSO must call good as well. */
typedef bool rig_judge(void *arg, struct volume *vol, struct dev *dev);
bool rig_holds_also(struct rig *r, size_t size, rig_judge *also, void *arg);

#endif
