/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every command of dump.nilfs2 on an image in memory. */
#ifndef NILFS2_TESTS_FUZZ_READING_H
#define NILFS2_TESTS_FUZZ_READING_H

#include <stddef.h>

#include "arena.h"

/* How many there are. */
size_t reading_count(void);

/*
 * Runs number I: NULL, or what is wrong with its end, and said on stdout.  It
 * must end with status 0, or with 1 and a message.  A status of 2 would mean
 * that a command does not know its options, so that nothing was tested.
 */
const char *reading_run(struct arena *a, size_t i);

#endif
