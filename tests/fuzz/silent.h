/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes that a checker cannot find, each with its reason. */
#ifndef NILFS2_TESTS_FUZZ_SILENT_H
#define NILFS2_TESTS_FUZZ_SILENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A field that was changed, of a structure as "dump.nilfs2 set" names it. */
struct silent_change {
	const char *structure, *field;
	const void *bytes;	/* the structure as it was */
	bool latest;		/* a log or superblock that is opened by */
	uint32_t size;		/* of the field, in bytes */
	uint32_t element;
	uint32_t offset;	/* of the field in BYTES */
	uint64_t old, now;
	const uint64_t *checkpoints;	/* those of the volume, ascending */
	size_t ncheckpoints;
};

/* Why a checker need not find it with its checksums right, or NULL. */
const char *silent_reason(const struct silent_change *c);

#endif
