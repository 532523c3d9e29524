/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One log of an appender: its listed blocks, their content and positions.
 */
#ifndef NILFS2_LOG_APPENDER_LOG_H
#define NILFS2_LOG_APPENDER_LOG_H

#include <stdint.h>

#include "log/appender.h"

/* Opens a log of at most LIMIT blocks where A is.  -ENOMEM. */
int appender_log_make(struct appender *a, struct context *cx, uint32_t limit);

/* COUNT blocks of PAYLOAD from AT on come next in LOG; it holds them. */
int appender_log_add_piece(struct appender_log *log, struct context *cx,
			   struct payload *payload, uint64_t at,
			   uint32_t count);

/* They have virtual numbers: PLACE. */
int appender_log_add_place(struct appender_log *log, struct context *cx,
			   const struct appender_place *place);

/*
 * The last listed block is BLOCK of M, whose content will be given to its
 * PAYLOAD, of payload_given(), as block AT.
 */
int appender_log_add_meta(struct appender_log *log, struct context *cx,
			  struct metafile *m,
			  const struct metafile_block *block,
			  struct payload *payload, size_t at);

/*
 * Enters where the blocks of LOG, which is full, are: in the DAT and the
 * SUFILE; then, once that is done for all logs, in the map of the DAT.
 */
int appender_log_enter(struct appender *a, struct context *cx,
		       struct appender_log *log);
int appender_log_enter_dat(struct appender *a, struct context *cx,
			   struct appender_log *log);

/* Takes the content of metadata and hands LOG to logout; LOG stays. */
int appender_log_submit(struct appender *a, struct context *cx,
			struct appender_log *log);

void appender_log_free(struct appender_log *log);	/* NULL is accepted */

#endif
