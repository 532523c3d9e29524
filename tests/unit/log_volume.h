/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Volumes that tests fill with a writer: a device in memory, files whose
 * content follows from their inode number, a root directory that names them.
 */
#ifndef NILFS2_TESTS_LOG_VOLUME_H
#define NILFS2_TESTS_LOG_VOLUME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "disk/geometry.h"
#include "log/newfile.h"
#include "log/writer.h"
#include "vol/volume.h"

#define LOG_VOLUME_RUNS 4
#define LOG_VOLUME_TIME 1000000

/* A file: its runs of blocks, and what distinguishes its content. */
struct log_file {
	struct newfile_run runs[LOG_VOLUME_RUNS];
	size_t nruns;
	uint64_t size;			/* bytes */
	uint64_t seed;
	uint64_t ino;
	bool gone;			/* removed by a later checkpoint */
};

struct log_volume {
	struct context cx;
	struct dev *dev;
	struct nilfs_geometry g;
	struct log_file *files;
	size_t nfiles;
	uint64_t seeds;			/* given out */
	struct writer_end end;
};

/* How volumes of a test differ. */
struct log_shape {
	uint32_t block_size;
	uint32_t blocks_per_segment;
	uint64_t nsegments;
	uint32_t log_blocks;
	uint32_t collect;
	unsigned int threads;
	bool live_blks;
	bool odd_unusable;	/* as with zones larger than they hold */
	uint64_t spare;		/* segments after the used ones; 0: all */
	uint32_t tail;		/* bytes after the segments; 0: 4096 */
	bool covered;	/* there is nothing after them, no second superblock */
};

void log_volume_init(struct log_volume *v, const struct log_shape *shape);
void log_volume_fini(struct log_volume *v);

/* The options of a shape. */
struct writer_options log_volume_options(const struct log_shape *shape);

/* A file of one run from 0 of NBLOCKS blocks, or of RUNS; known from then. */
struct log_file *log_volume_add(struct log_volume *v,
				const struct newfile_run *runs, size_t nruns);

/* Places FILE, skipping the tail of a segment where it would be cut. */
int log_volume_place(struct log_volume *v, struct writer *w,
		     struct log_file *file);

/* Gives FILE other content and other RUNS; removes it. */
int log_volume_replace(struct log_volume *v, struct writer *w,
		       struct log_file *file, const struct newfile_run *runs,
		       size_t nruns);
int log_volume_remove(struct log_volume *v, struct writer *w,
		      struct log_file *file);

/* The root directory with all files that are not gone. */
int log_volume_place_root(struct log_volume *v, struct writer *w, bool again);

/* Both superblocks, for the end of the last commit. */
int log_volume_write_super(struct log_volume *v);

/* Whether FILE reads back from checkpoint CNO of VOL; *EXTENTS may be NULL. */
bool log_volume_reads(struct log_volume *v, struct volume *vol, uint64_t cno,
		      const struct log_file *file, uint64_t *extents);

/*
 * Everything about VOL that must hold together: says what does not as a
 * comment of the test, and returns whether all does.
 */
bool log_audit(struct context *cx, struct volume *vol);

#endif
