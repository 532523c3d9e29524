/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Times, and checkpoints by number or time, on the command line. */
#ifndef NILFS2_CLI_MOMENT_H
#define NILFS2_CLI_MOMENT_H

#include <stdint.h>

#include "base/context.h"

/* Set in a checkpoint that is given by time; the other bits are seconds since 1970. */
#define MOMENT_TIME (UINT64_C(1) << 63)

/*
 * For rows of options (OPTION_CALL): parses a time into an int64_t, in seconds since
 * 1970: 2026-11-20, 2026-11-20 18:00, with seconds, with T in place of the blank, all in
 * the zone of cx->utc, or as timefmt_parse() takes it.  A day is its beginning.  -EINVAL.
 */
int moment_parse_time(struct context *cx, const char *text, void *seconds);

/* The same, or the number of a checkpoint, into an uint64_t. */
int moment_parse(struct context *cx, const char *text, void *moment);

#endif
