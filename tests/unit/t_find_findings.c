// SPDX-License-Identifier: GPL-2.0-or-later
/* Findings: counted from many threads, some of them shown, said in words. */
#include "find/finding.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disk/ondisk.h"
#include "find/findprint.h"
#include "find/inorder.h"
#include "tap.h"

static struct place group_at(uint64_t cno, uint64_t ino, uint64_t group)
{
	return (struct place){
		.kind = PLACE_GROUP, .cno = cno, .ino = ino, .number = group,
	};
}

static struct context cx;

struct seen {
	unsigned int calls;
	struct finding last;
};

static void see(void *arg, const struct finding *f)
{
	struct seen *seen = arg;

	seen->calls++;
	seen->last = *f;
}

static void test_counts(void)
{
	struct seen seen = { .calls = 0 };
	struct findings *f;
	unsigned int i;

	is_int(findings_open(&f, &cx, see, &seen, false), 0, "a list");
	is_int(findings_count_severity(f, RULE_WARNING), 0, "is empty");
	for (i = 0; i < FINDINGS_SHOWN + 7; i++)
		findings_differ(f, RULE_PALLOC_NFREES,
				group_at(0, NILFS_DAT_INO, i), 5, i);
	is_int(seen.calls, FINDINGS_SHOWN, "no more of a rule are shown");
	is_int(seen.last.place.number, FINDINGS_SHOWN - 1, "the first ones");
	findings_broken(f, RULE_SU_FLAGS, place_number(PLACE_SEGMENT, 3));
	is_int(seen.calls, FINDINGS_SHOWN + 1, "one of another rule is");
	ok(!seen.last.has_want && !seen.last.has_got && !seen.last.detail,
	   "and says only what it knows");
	findings_broken(f, RULE_SB_MAGIC, place_number(PLACE_SUPER, 0));
	is_int(findings_count(f, RULE_PALLOC_NFREES), FINDINGS_SHOWN + 7,
	       "all are counted");
	is_int(findings_count(f, RULE_PALLOC_NFREES_RANGE), 0,
	       "not under another rule");
	is_int(findings_count_severity(f, RULE_FATAL), 1, "fatal ones");
	is_int(findings_count_severity(f, RULE_ERROR), FINDINGS_SHOWN + 8,
	       "errors and worse");
	is_int(findings_count_severity(f, RULE_WARNING), FINDINGS_SHOWN + 9,
	       "all");
	findings_close(f);
	findings_close(NULL);
}

static void test_everything(void)
{
	struct seen seen = { .calls = 0 };
	struct findings *f;
	unsigned int i;

	findings_open(&f, &cx, see, &seen, true);
	for (i = 0; i < 3 * FINDINGS_SHOWN; i++)
		findings_broken(f, RULE_SU_FLAGS,
				place_number(PLACE_SEGMENT, i));
	is_int(seen.calls, 3 * FINDINGS_SHOWN, "everything is shown if asked");
	findings_close(f);
}

static void test_history(void)
{
	struct seen seen = { .calls = 0 };
	struct findings *f;
	int everything;

	for (everything = 0; everything < 2; everything++) {
		findings_open(&f, &cx, see, &seen, everything);
		f->mark = FINDINGS_HISTORY;
		findings_broken(f, RULE_INODE_MODE, place_inode(5, 12));
		findings_broken(f, RULE_INODE_MODE, place_inode(4, 12));
		is_int(f->nhistory, 2, "history is counted");
		is_int(findings_count(f, RULE_INODE_MODE) +
		       findings_count_severity(f, RULE_WARNING), 0,
		       "not with the rest");
		f->mark = FINDINGS_NEWEST;
		findings_broken(f, RULE_INODE_SIZE, place_inode(6, 12));
		is_int(findings_count_severity(f, RULE_WARNING), 1,
		       "the rest is");
		ok(!seen.last.history, "and is no history");
		findings_close(f);
	}
	is_int(seen.calls, 1 + 3, "it is shown with everything only");
}

static void test_failure(void)
{
	struct seen seen = { .calls = 0 };
	struct findings *f;

	findings_open(&f, &cx, see, &seen, false);
	findings_failed(f, &cx, RULE_SR_SUM, place_number(PLACE_BLOCK, 9));
	ok(!seen.last.detail, "no failure text is no detail");
	fail(&cx, -EUCLEAN, "block %d: odd", 9);
	findings_failed(f, &cx, RULE_SR_SUM, place_number(PLACE_BLOCK, 9));
	ok(seen.last.detail == cx.failure, "the failure text is the detail");
	is_str(cx.failure, "", "and is forgotten");
	findings_close(f);
}

/* A watcher misses nothing for its being too much to be shown. */
static void test_watch(void)
{
	struct seen seen = { .calls = 0 }, watched = { .calls = 0 };
	struct findings *f;
	unsigned int i;

	findings_open(&f, &cx, see, &seen, false);
	f->watch = see;
	f->watch_arg = &watched;
	for (i = 0; i < 3 * FINDINGS_SHOWN; i++)
		findings_broken(f, RULE_SU_FLAGS,
				place_number(PLACE_SEGMENT, i));
	f->mark = FINDINGS_HISTORY;
	findings_broken(f, RULE_SU_FLAGS, place_number(PLACE_SEGMENT, i));
	is_int(seen.calls, FINDINGS_SHOWN, "some are shown");
	is_int(watched.calls, 3 * FINDINGS_SHOWN + 1,
	       "all are watched, history too");
	findings_close(f);
}

#define THREADS 4
#define EACH 20000

static void *add_many(void *arg)
{
	unsigned int i;

	for (i = 0; i < EACH; i++)
		findings_broken(arg, RULE_DAT_START,
				place_number(PLACE_VBLOCK, i));
	return NULL;
}

static void test_threads(void)
{
	struct seen seen = { .calls = 0 };
	pthread_t threads[THREADS];
	struct findings *f;
	unsigned int i;

	findings_open(&f, &cx, see, &seen, true);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, add_many, f))
			exit(99);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	is_int(findings_count(f, RULE_DAT_START), THREADS * EACH,
	       "threads that add at once are all counted");
	is_int(seen.calls, THREADS * EACH, "and shown one at a time");
	findings_close(f);
}

static void is_place(struct place place, const char *want)
{
	char text[PLACE_TEXT_MAX];

	findprint_place(&place, text);
	is_str(text, want, want);
}

static void test_places(void)
{
	const struct place widest = {
		.kind = PLACE_NAME, .cno = UINT64_MAX, .ino = UINT64_MAX,
		.blkoff = UINT64_MAX, .offset = UINT32_MAX,
	};
	char text[PLACE_TEXT_MAX];

	is_place(place_number(PLACE_VOLUME, 0), "volume");
	is_place(place_number(PLACE_SUPER, 1), "superblock 2");
	is_place(place_number(PLACE_SEGMENT, 7), "segment 7");
	is_place(place_number(PLACE_LOG, 12), "log 12");
	is_place(place_number(PLACE_BLOCK, 12), "block 12");
	is_place(place_number(PLACE_CHECKPOINT, 5), "checkpoint 5");
	is_place(place_number(PLACE_VBLOCK, 99), "virtual block 99");
	is_place(group_at(0, NILFS_DAT_INO, 3), "DAT: group 3");
	is_place(group_at(5, NILFS_IFILE_INO, 0),
		 "checkpoint 5: ifile: group 0");
	is_place(place_inode(5, 12), "checkpoint 5: inode 12");
	is_place(place_inode(0, NILFS_SUFILE_INO), "sufile");
	is_place(place_map(5, 12, 40, 0), "checkpoint 5: inode 12: block 40");
	is_place(place_map(0, NILFS_CPFILE_INO, 40, 2),
		 "cpfile: node of level 2 at block 40");
	is_place((struct place){ .kind = PLACE_NAME, .cno = 5, .ino = 2,
				 .blkoff = 1, .offset = 24 },
		 "checkpoint 5: inode 2: block 1: byte 24");
	findprint_place(&widest, text);
	ok(strstr(text, "byte 4294967295") != NULL, "the widest place fits");
}

static void is_line(const struct finding *f, enum report_mode mode,
		    const char *want, const char *name)
{
	struct report report;
	struct out *out;

	if (out_open_memory(&cx, &out))
		exit(99);
	report_init(&report, out, mode);
	findprint_finding(&report, f);
	is_str(out_memory(out, NULL), want, name);
	out_close(out, &cx);
}

static void test_words(void)
{
	struct finding f = {
		.rule = RULE_PALLOC_NFREES,
		.place = group_at(5, NILFS_IFILE_INO, 1),
		.has_want = true, .want = 10,
		.has_got = true, .got = 12,
	};

	is_line(&f, REPORT_TEXT,
		"palloc-nfrees: checkpoint 5: ifile: group 1: the number of "
		"free entries differs from the bitmap of the group "
		"(expected 10, found 12)\n", "two numbers");
	is_line(&f, REPORT_JSON_LINES,
		"{\"record\":\"finding\",\"rule\":\"palloc-nfrees\","
		"\"number\":6002,\"severity\":\"error\",\"place\":{\"kind\":"
		"\"group\",\"checkpoint\":5,\"inode\":6,\"group\":1},"
		"\"history\":false,"
		"\"wanted\":10,\"got\":12,\"text\":\"the number of free "
		"entries differs from the bitmap of the group\","
		"\"detail\":null}\n", "a JSON line");
	f = (struct finding){
		.rule = RULE_SU_FLAGS,
		.place = place_number(PLACE_SEGMENT, 3),
		.has_got = true, .got = 16, .detail = "seen twice",
	};
	is_line(&f, REPORT_TEXT,
		"su-flags: segment 3: a segment usage has unknown flags "
		"(found 16): seen twice\n", "one number, and more in words");
	f.place = place_number(PLACE_SUPER, 0);
	is_line(&f, REPORT_JSON_LINES,
		"{\"record\":\"finding\",\"rule\":\"su-flags\","
		"\"number\":8003,\"severity\":\"warning\",\"place\":{\"kind\":"
		"\"superblock\",\"number\":1},\"history\":false,"
		"\"wanted\":null,\"got\":16,"
		"\"text\":\"a segment usage has unknown flags\","
		"\"detail\":\"seen twice\"}\n", "superblocks count from 1");
}

/* The places and details of findings, as text. */
static void note_place(void *arg, const struct finding *f)
{
	char *text = arg;
	size_t len = strlen(text);

	snprintf(text + len, 64 - len, "%d%s ", (int)f->place.number,
		 f->detail ? f->detail : "");
}

/* Job NUMBER is done, with N findings. */
static int finish_job(struct inorder *o, uint64_t number, unsigned int n)
{
	struct inorder_list list = { .items = NULL };
	char detail[] = "a";
	unsigned int i;

	for (i = 0; i < n; i++, detail[0]++)
		inorder_keep(&list, &(struct finding){
			.rule = RULE_SU_FLAGS, .detail = i ? detail : NULL,
			.place = place_number(PLACE_SEGMENT, number),
		});
	return inorder_done(o, &cx, number, &list);
}

static void test_order(void)
{
	struct inorder o;
	char text[64] = "";

	inorder_init(&o, note_place, text);
	is_int(finish_job(&o, 2, 1), 0, "job 2 is done first");
	is_int(finish_job(&o, 3, 0), 0, "then job 3, without a finding");
	is_str(text, "", "their findings wait");
	is_int(finish_job(&o, 0, 3), 0, "job 0");
	is_str(text, "0 0b 0c ", "is passed on at once");
	is_int(finish_job(&o, 1, 1), 0, "job 1");
	is_str(text, "0 0b 0c 1 2 ", "and those that waited for it");
	is_int(finish_job(&o, 4, 1), 0, "job 4");
	is_str(text, "0 0b 0c 1 2 4 ", "is next");
	is_int(finish_job(&o, 6, 2), 0, "job 6 waits for job 5, which failed");
	inorder_fini(&o);
	is_str(text, "0 0b 0c 1 2 4 ", "its findings are dropped");
}

int main(void)
{
	context_init(&cx);
	test_counts();
	test_everything();
	test_history();
	test_failure();
	test_watch();
	test_threads();
	test_order();
	test_places();
	test_words();
	return tap_done();
}
