// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * collect: how many requests become of a sequential write, with the nodes
 * written as they come, and collected.
 *
 * "f2fs: avoid issuing small bios due to several dirty node pages" (2013): 231
 * MB/s before, 255 MB/s with 512 nodes written together; 512 GB SSD on SATA2.
 *
 * Not stated are the largest request, and how often nodes are looked at.  Here
 * it is every MiB, when the node in use is dirty, and the one before if data
 * has gone on to the next.  Nodes have another log than data, so that they end
 * the request that is being filled.  Time is bytes by what the link carries
 * (300 MB/s), and something for each request, which is set so that the first
 * way is as fast as it was.  Whether the second is, is the question.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#define BLOCK 4096.0
#define DATA (1u << 20)		/* blocks: 4 GiB */
#define PER_NODE 1018u
#define LINK 300e6
#define BEFORE 231e6

struct stream {
	uint32_t largest, every, collect;	/* blocks; blocks; nodes */
	uint64_t requests, nodes;
	uint32_t pending;	/* data blocks of the request being filled */
	uint32_t written_to;	/* nodes below it are clean */
};

static void submit(struct stream *s)
{
	s->requests += s->pending != 0;
	s->pending = 0;
}

/* Nodes of all data so far; the last one may change again. */
static void look(struct stream *s, uint32_t block)
{
	uint32_t last = block / PER_NODE, dirty = last + 1 - s->written_to;

	if (dirty < s->collect)
		return;
	submit(s);
	s->requests += (dirty + s->largest - 1) / s->largest;
	s->nodes += dirty;
	/* Collected nodes are complete but for the last. */
	s->written_to = last + (s->collect > 1);
}

static void run(struct stream *s)
{
	uint32_t i;

	for (i = 0; i < DATA; i++) {
		if (++s->pending == s->largest)
			submit(s);
		if ((i + 1) % s->every == 0)
			look(s, i);
	}
	submit(s);
}

static double bytes(const struct stream *s)
{
	return BLOCK * (DATA + (double)s->nodes);
}

static void compare(uint32_t largest)
{
	struct stream one = { largest, 256, 1, 0, 0, 0, 0 };
	struct stream many = { largest, 256, 512, 0, 0, 0, 0 };
	double request, time;

	run(&one);
	run(&many);
	request = (BLOCK * DATA / BEFORE - bytes(&one) / LINK) /
		  (double)one.requests;
	time = request * (double)many.requests + bytes(&many) / LINK;
	printf("%u %" PRIu64 " %" PRIu64 " %.0f %.0f %.0f\n", largest * 4,
	       one.requests, one.nodes, bytes(&one) / (double)one.requests,
	       BEFORE / 1e6, request * 1e6);
	printf("%u %" PRIu64 " %" PRIu64 " %.0f %.0f %.0f\n", largest * 4,
	       many.requests, many.nodes, bytes(&many) / (double)many.requests,
	       BLOCK * DATA / time / 1e6, request * 1e6);
}

int main(void)
{
	puts("largest-KiB requests nodes mean-bytes MB/s us/request");
	compare(64);
	compare(128);
	compare(256);
	return 0;
}
