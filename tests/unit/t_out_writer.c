// SPDX-License-Identifier: GPL-2.0-or-later
/* The buffered writer: numbers as printf() writes them, errors kept. */
#include "out/out.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "out/number.h"
#include "out/value.h"
#include "tap.h"

static struct context cx;

static struct out *memory(void)
{
	struct out *out;

	if (out_open_memory(&cx, &out))
		exit(99);
	return out;
}

/* Numbers around each power of ten and of two, against printf(). */
static void test_numbers(void)
{
	struct out *out = memory();
	unsigned int wrong = 0, i;
	uint64_t power = 1;

	for (i = 0; i < 84; i++) {
		uint64_t base = i < 64 ? 1ull << i : power;
		uint64_t around[3] = { base - 1, base, base + 1 };
		unsigned int k;

		for (k = 0; k < 3; k++) {
			uint64_t v = around[k];
			char want[128];

			out->next = out->buffer;
			out_u64(out, v);
			out_char(out, ' ');
			value_put(out, VALUE_I64, NULL,
				  &(struct value){ .present = true,
						   .number = v }, 0, false);
			out_char(out, ' ');
			out->next = number_hex(out_reserve(out, 64), v, 1);
			out_char(out, ' ');
			out->next = number_hex(out_reserve(out, 64), v, 12);
			snprintf(want, sizeof(want),
				 "%" PRIu64 " %" PRId64 " %" PRIx64
				 " %012" PRIx64, v, (int64_t)v, v, v);
			wrong += strcmp(out_memory(out, NULL), want) != 0;
		}
		if (i >= 64)
			power *= 10;
	}
	is_int(wrong, 0, "integers as printf() writes them");
	out_close(out, &cx);
}

static void test_memory(void)
{
	struct out *out = memory();
	size_t len, i;
	const char *text;

	for (i = 0; i < 3 * OUT_BUFFER_SIZE; i++)
		out_char(out, (char)('a' + i % 26));
	text = out_memory(out, &len);
	is_int(len, 3 * OUT_BUFFER_SIZE, "memory grows past the buffer");
	for (i = 0; i < len && text[i] == (char)('a' + i % 26); i++)
		;
	is_int(i, len, "and keeps every byte");
	is_int(out_close(out, &cx), 0, "closing memory is no failure");
}

/* Short and long puts mixed, so that the direct way keeps the order. */
static void test_order(void)
{
	static char big[2 * OUT_BUFFER_SIZE], got[2 * OUT_BUFFER_SIZE + 16];
	char path[] = "/tmp/t_out_writer.XXXXXX";
	int fd = mkstemp(path);
	struct out *out;
	ssize_t n;

	if (fd < 0 || out_open(&cx, fd, "file", &out))
		exit(99);
	unlink(path);
	memset(big, 'x', sizeof(big));
	out_string(out, "first ");
	out_bytes(out, big, sizeof(big));
	out_string(out, " last");
	is_int(out_close(out, &cx), 0, "a file takes all");
	n = pread(fd, got, sizeof(got), 0);
	is_int(n, sizeof(big) + 11, "short and long puts all arrive");
	ok(!memcmp(got, "first x", 7) && !memcmp(got + n - 6, "x last", 6),
	   "in the order of the calls");
	close(fd);
}

static void test_errors(void)
{
	int full = open("/dev/full", O_WRONLY), ends[2];
	struct out *out;
	int i;

	if (full < 0 || pipe(ends) || out_open(&cx, full, "full", &out))
		exit(99);
	out_string(out, "lost");
	is_int(out->error, 0, "an error is not known before the flush");
	out_flush(out);
	is_int(out->error, -ENOSPC, "but after it");
	for (i = 0; i < 100000; i++)
		out_printf(out, "dropped %d\n", i);
	is_int(out_close(out, &cx), -ENOSPC, "and again at the end");
	is_str(cx.failure, "full: write", "with the name of the writer");

	signal(SIGPIPE, SIG_IGN);
	close(ends[0]);
	if (out_open(&cx, ends[1], "pipe", &out))
		exit(99);
	out_string(out, "lost");
	is_int(out_close(out, &cx), -EPIPE, "a pipe without reader");
	is_int(out_close(NULL, &cx), 0, "NULL is closed already");
	close(full);
	close(ends[1]);
}

int main(void)
{
	context_init(&cx);
	test_numbers();
	test_memory();
	test_order();
	test_errors();
	return tap_done();
}
