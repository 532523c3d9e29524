/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of losses of a repair, as --json-lines has it. */
#ifndef NILFS2_TESTS_FUZZ_LOSSLINES_H
#define NILFS2_TESTS_FUZZ_LOSSLINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lossline {
	char kind[16];
	bool latest;
	/* 0: not there. */
	uint64_t cno, last, ino, offset, length;
};

/* All zero is empty. */
struct losslines {
	struct lossline *lines;
	size_t n;
};

/* Reads the lines of TEXT, which is taken apart, in place of those in L. */
void losslines_read(struct losslines *l, char *text);
void losslines_free(struct losslines *l);

#endif
