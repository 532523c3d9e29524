// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The list of losses and what the summary makes of it: a volume is not called
 * clean where something was lost that is not listed.
 */
#include "fsck/account/losslist.h"

#include <stdlib.h>

#include "fsck/session.h"
#include "tap.h"

#define BLOCK 4096u

static struct context cx;

static struct loss zeros(uint64_t cno, uint64_t ino, uint64_t block)
{
	return (struct loss){
		.kind = LOSS_ZERO,
		.snapshot = true,
		.cno = cno,
		.ino = ino,
		.offset = block * BLOCK,
		.length = BLOCK,
	};
}

static void add(struct losslist *l, struct loss loss)
{
	losslist_add(l, &cx, &loss, NULL, 0);
}

static void test_ranges(void)
{
	struct losslist l = {.items = NULL};
	struct loss stale = zeros(2, 12, 3);

	add(&l, zeros(2, 12, 1));
	add(&l, zeros(2, 12, 2));
	is_int(l.n, 1, "blocks in a row are one loss");
	is_int(l.items[0].length, 2 * BLOCK, "of the bytes of both");
	stale.kind = LOSS_STALE;
	add(&l, stale);
	add(&l, zeros(2, 12, 5));
	add(&l, zeros(2, 13, 6));
	add(&l, zeros(3, 13, 7));
	is_int(l.n, 5, "another kind, a gap, another file, another snapshot");
	losslist_fini(&l);
}

static void test_drop(void)
{
	struct losslist l = {.items = NULL};
	struct loss unknown = zeros(4, 12, 3);

	unknown.is_open = true;
	add(&l, zeros(2, 12, 1));
	add(&l, unknown);
	unknown.ino++;
	add(&l, unknown);
	losslist_drop(&l, 0);
	is_int(l.n, 3, "losses of which one is known stay");
	losslist_drop(&l, 1);
	is_int(l.n, 1, "those after it do not");
	losslist_drop(&l, 1);
	is_int(l.n, 1, "none is left to be dropped");
	losslist_fini(&l);
}

/* Text of a report about L. */
static void is_reported(const struct losslist *l, enum report_mode mode,
			bool all, const char *want, const char *name)
{
	struct report r;
	struct out *out;

	if (out_open_memory(&cx, &out))
		exit(99);
	report_init(&r, out, mode);
	losslist_report(l, &r, all);
	report_fini(&r);
	is_str(out_memory(out, NULL), want, name);
	out_close(out, &cx);
}

static void test_attributes(void)
{
	struct losslist l = {.items = NULL};
	struct loss loss = {
		.kind = LOSS_ATTRIBUTES,
		.snapshot = true,
		.cno = 4,
		.from = 3,
	};

	for (loss.ino = 12; loss.ino < 15; loss.ino++) {
		loss.last_ino = loss.ino;
		add(&l, loss);
	}
	loss.last_ino = loss.ino;
	loss.from = 0;
	add(&l, loss);
	loss.kind = LOSS_LINKS;
	loss.last_ino = 0;
	loss.offset = 3;
	loss.length = 2;
	add(&l, loss);
	is_reported(&l, REPORT_TEXT, false,
		    "lost: snapshot 4: inodes 12 to 14: attributes are of "
		    "checkpoint 3\n"
		    "lost: snapshot 4: inode 15: attributes may have "
		    "changed\n"
		    "lost: snapshot 4: inode 15: the link count is 2, and "
		    "was 3\n",
		    "inodes in a row with the attributes of one checkpoint");
	losslist_fini(&l);
}

static void test_open_range(void)
{
	struct losslist l = {.items = NULL};
	struct loss loss = zeros(4, 31, 0);

	loss.kind = LOSS_PERHAPS;
	loss.offset = loss.length = 0;
	loss.last_ino = 31;
	add(&l, loss);
	loss.ino = 32;
	loss.last_ino = UINT64_MAX;
	add(&l, loss);
	is_reported(&l, REPORT_TEXT, false,
		    "lost: snapshot 4: inodes from 31 on: may have been lost "
		    "files\n",
		    "inodes of which no last one is known");
	is_reported(&l, REPORT_JSON_LINES, false,
		    "{\"record\":\"loss\",\"kind\":\"perhaps\",\"checkpoint\":4,"
		    "\"last_checkpoint\":null,\"latest\":false,"
		    "\"snapshot\":true,\"unsure\":false,\"inode\":31,"
		    "\"last_inode\":null,\"path\":null,"
		    "\"block\":null,"
		    "\"offset\":null,\"length\":null,"
		    "\"links_before\":null,\"links\":null,"
		    "\"from_checkpoint\":null,\"time\":null}\n",
		    "the same for scripts");
	losslist_fini(&l);
}

static void test_checkpoints(void)
{
	struct losslist l = {.items = NULL};
	struct loss loss = {.kind = LOSS_CHECKPOINT};

	for (loss.cno = 4; loss.cno < 8; loss.cno++) {
		loss.last = loss.cno;
		loss.snapshot = loss.cno == 6;
		add(&l, loss);
	}
	is_int(l.n, 3, "a snapshot among checkpoints is a loss of its own");
	is_int(l.items[0].last, 5, "those before it are one");
	loss.is_unsure = true;
	loss.last = loss.cno;
	add(&l, loss);
	is_int(l.n, 4, "and one that may have been deleted");
	losslist_fini(&l);
}

static void test_report(void)
{
	struct losslist l = {.items = NULL};
	struct loss named = zeros(2, 12, 1);

	is_reported(&l, REPORT_TEXT, false, "lost: nothing\n",
		    "that nothing was lost is said");
	add(&l, named);
	l.items[0].path = strdup("/a\nb");
	is_reported(&l, REPORT_TEXT, false,
		    "lost: snapshot 2: inode 12, "
		    "/a\\x0ab: bytes 4096 to 8191 are zero now\n",
		    "a range of a file, with its name escaped");
	is_reported(&l, REPORT_JSON_LINES, false,
		    "{\"record\":\"loss\",\"kind\":\"zero\",\"checkpoint\":2,"
		    "\"last_checkpoint\":null,\"latest\":false,"
		    "\"snapshot\":true,\"unsure\":false,\"inode\":12,"
		    "\"last_inode\":null,\"path\":\"/a\\nb\","
		    "\"block\":null,"
		    "\"offset\":4096,\"length\":4096,"
		    "\"links_before\":null,\"links\":null,"
		    "\"from_checkpoint\":null,\"time\":null}\n",
		    "the same for scripts");
	losslist_fini(&l);
	l.incomplete = true;
	is_reported(&l, REPORT_TEXT, false,
		    "lost: perhaps more: the state before the repair "
		    "could not be compared completely\n",
		    "what was not compared is not called nothing");
}

static size_t lines_of(const struct losslist *l, bool all)
{
	struct report r;
	struct out *out;
	const char *at;
	size_t n = 0;

	if (out_open_memory(&cx, &out))
		exit(99);
	report_init(&r, out, REPORT_TEXT);
	losslist_report(l, &r, all);
	report_fini(&r);
	for (at = out_memory(out, NULL); (at = strchr(at, '\n')); at++)
		n++;
	out_close(out, &cx);
	return n;
}

static void test_many(void)
{
	struct losslist l = {.items = NULL};
	uint64_t i;

	for (i = 0; i < 50; i++)
		add(&l, zeros(2, 12, 2 * i));
	is_int(lines_of(&l, false), 21, "the first 20, and how many more");
	is_int(lines_of(&l, true), 50, "or all of them");
	cx.max_memory = l.room * sizeof(*l.items);
	for (; i < 100; i++)
		add(&l, zeros(2, 12, 2 * i));
	ok(l.more > 0, "what memory does not suffice for is counted");
	is_int(losslist_count(&l), 100, "none is forgotten");
	losslist_fini(&l);
	context_init(&cx);
}

static void is_summed_up(const struct session_summary *s, const char *want,
			 const char *name)
{
	struct report r;
	struct out *out;

	if (out_open_memory(&cx, &out))
		exit(99);
	report_init(&r, out, REPORT_TEXT);
	session_report(s, &r);
	report_fini(&r);
	is_str(out_memory(out, NULL), want, name);
	out_close(out, &cx);
}

static bool is_clean(const struct session_summary *s)
{
	struct report r;
	struct out *out;
	bool clean;

	if (out_open_memory(&cx, &out))
		exit(99);
	report_init(&r, out, REPORT_JSON_LINES);
	session_report(s, &r);
	report_fini(&r);
	clean = strstr(out_memory(out, NULL), "\"clean\":true");
	out_close(out, &cx);
	return clean;
}

static void test_summary(void)
{
	struct session_summary s = {.device = "d", .losses_known = true};

	is_summed_up(&s, "d: clean\n", "no repair, no losses");
	s.repaired = true;
	is_summed_up(&s, "d: repaired\n", "a repair without losses");
	s.losses = 2;
	is_summed_up(&s, "d: repaired, 2 losses\n", "one with losses");
	ok(is_clean(&s), "is clean where all of them are listed");
	s.losses_known = false;
	is_summed_up(&s, "d: repaired, 2 losses and perhaps more\n",
		     "more than are listed");
	ok(!is_clean(&s), "is not clean");
	s.losses = 0;
	is_summed_up(&s, "d: repaired, losses could not be determined\n",
		     "nor one of which nothing is known");
	ok(!is_clean(&s), "is clean");
}

int main(void)
{
	context_init(&cx);
	test_ranges();
	test_drop();
	test_attributes();
	test_open_range();
	test_checkpoints();
	test_report();
	test_many();
	test_summary();
	return tap_done();
}
