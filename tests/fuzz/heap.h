/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much memory a program asks for at once. */
#ifndef NILFS2_TESTS_FUZZ_HEAP_H
#define NILFS2_TESTS_FUZZ_HEAP_H

#include <stddef.h>

/* The largest request since the last call. */
size_t heap_largest(void);

#endif
