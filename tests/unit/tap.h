/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The least of the Test Anything Protocol that our unit tests need.
 *
 * A test is a main() of ok() lines that ends with `return tap_done();`.  The
 * counters are static in each test program, which is one file.
 */
#ifndef NILFS2_TESTS_TAP_H
#define NILFS2_TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_count, tap_failed;

__attribute__((format(printf, 4, 5))) static inline bool
tap_result(bool good, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %d - ", good ? "" : "not ", ++tap_count);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	if (!good) {
		printf("# at %s:%d\n", file, line);
		tap_failed++;
	}
	return good;
}

/* One result: passes where COND holds; the rest is a printf text. */
#define ok(cond, ...) tap_result((cond), __FILE__, __LINE__, __VA_ARGS__)

/* Passes where two integers are equal, and shows both where they are not. */
#define is_int(got, want, name)                                             \
	do {                                                                \
		long long got_ = (long long)(got), want_ = (long long)(want); \
		if (!ok(got_ == want_, "%s", (name)))                       \
			printf("# got %lld, want %lld\n", got_, want_);     \
	} while (0)

/* The same for strings. */
#define is_str(got, want, name)                                             \
	do {                                                                \
		const char *got_ = (got), *want_ = (want);                  \
		if (!ok(!strcmp(got_, want_), "%s", (name)))                \
			printf("# got '%s', want '%s'\n", got_, want_);     \
	} while (0)

/* A call that prepares a test: where it fails there is none. */
static inline void must(long result)
{
	if (result >= 0)
		return;
	perror("Bail out! preparing the test");
	exit(99);
}

static inline int tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed != 0;
}

#endif
