// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How much memory a program asks for at once.
 *
 * A number from the disk may say how much, if nothing bounds it; that it is not
 * granted would look like any other failure.  The linker puts these functions in
 * the place of the library's (--wrap).
 */
#include "heap.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static atomic_size_t largest;

static void note(size_t size)
{
	size_t is = atomic_load(&largest);

	while (size > is && !atomic_compare_exchange_weak(&largest, &is, size))
		;
}

size_t heap_largest(void)
{
	return atomic_exchange(&largest, 0);
}

void *__wrap_malloc(size_t size)
{
	note(size);
	return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	note(n && size > SIZE_MAX / n ? SIZE_MAX : n * size);
	return __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	note(size);
	return __real_realloc(old, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	note(size);
	return __real_aligned_alloc(alignment, size);
}
