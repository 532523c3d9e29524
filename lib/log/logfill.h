/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The content of a log's pieces, and which of them have any: those of a
 * forecast have none (payload_ops.fill), and are not written unless the log is
 * wanted whole.
 */
#ifndef NILFS2_LOG_LOGFILL_H
#define NILFS2_LOG_LOGFILL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "log/logcut.h"
#include "log/logout.h"

/*
 * COUNT blocks of PIECE, from its block SKIP on, to BUF; zeros where there is
 * no content.  Fails as the payload does.
 */
int logfill_piece(const struct logout_piece *piece, struct context *cx,
		  uint32_t skip, uint32_t count, void *buf,
		  uint32_t block_bits);

/*
 * The next blocks of part CUT of LOG, at or after *FROM, that have content:
 * *COUNT from *FROM on, counted from the beginning of the part; false where
 * none follow.
 */
bool logfill_next(const struct logout_log *log, const struct logcut *cut,
		  uint32_t *from, uint32_t *count);

#endif
