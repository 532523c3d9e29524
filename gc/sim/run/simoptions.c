// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The options of gcsim.nilfs2, their defaults, and their ranges, regardless of
 * the volume and the trace.
 */
#include "gc/sim/run/simoptions.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "gc/sim/trace/simformat.h"

#define AT(member) offsetof(struct simoptions, member)

const struct simoptions simoptions_defaults = {
	.segment_size = 8u << 20,
	.block_size = 4096,
	.fill = 80,
	.vol.placement = &simplace_list[0],
	.work.kind = &simwork_list[0],
	.hot = 10,
	.work.hot_writes = 90,
	.work.file_blocks = 1,
	.work.sequential = 50,
	.run.snapshots = 1,
	.work.seed = 1,
	.seeds = 1,
	.cleaner.step = 1,
	.cleaner.mc_min_reclaimable = SIMOPTIONS_SAME,
	.scarce = SIMOPTIONS_SAME,
};

static const char *const ties[] = { "first", "last", "oldest", "youngest",
				    "random", NULL };
static const char *const ages[] = { "age", "root", NULL };
static const char *const counts[] = { "exact", "counters", "halved", NULL };
static const char *const clocks[] = { "writes", "time", NULL };
static const char *const addresses[] = { "dense", "raw", NULL };

/* The maximum of a time in blocks: sums of several do not overflow. */
#define BLOCKS_MAX (UINT64_MAX / 8)
#define BLOCKS_OF_SEGMENT (UINT32_MAX / 2)

/* Options of a workload, which a replay excludes. */
#define WITH_TRACE 1u
/* Options of the other way of cleaning, which cleaning by garbage excludes. */
#define BY_GARBAGE 2u
/* Actions instead of the runs. */
#define INSTEAD 3u

/* "1000", or "20%". */
static int set_amount(struct context *cx, const char *arg, void *where)
{
	struct simoptions_amount *amount = where;
	size_t len = strlen(arg);
	char number[24];
	uint64_t percent;
	int err;

	amount->is_given = true;
	if (!len || arg[len - 1] != '%' || len > sizeof(number)) {
		amount->percent = 0;
		return option_between(cx, "--warm-up", arg, 0, BLOCKS_MAX,
				      &amount->blocks);
	}
	memcpy(number, arg, len - 1);
	number[len - 1] = '\0';
	err = option_between(cx, "--warm-up", number, 0, 99, &percent);
	amount->percent = (uint32_t)percent;
	return err;
}

static int set_placement(struct context *cx, const char *arg, void *where)
{
	const struct simplace_kind **kind = where;

	*kind = simplace_find(arg);
	return *kind ? 0 : fail(cx, -EINVAL, "--placement: unknown placement "
					     "'%s'",
				arg);
}

static int set_workload(struct context *cx, const char *arg, void *where)
{
	const struct simwork_kind **kind = where;

	*kind = simwork_find(arg);
	return *kind ? 0 : fail(cx, -EINVAL, "--workload: unknown workload "
					     "'%s'",
				arg);
}

const struct cli_option simoptions_rows[] = {
	{ 0, "addresses", "HOW",
	  "blocks of a trace: dense, those that are written; raw, all",
	  OPTION_CHOICE, AT(addresses), 0, 0, addresses },
	{ 0, "ages", "HOW", "ages that policies use: age, root", OPTION_CHOICE,
	  AT(ages), 0, 0, ages },
	{ 'b', "block-size", "SIZE", "size of a block (4096)", OPTION_SIZE,
	  AT(block_size), .least = 1024, .most = 65536 },
	{ 0, "check", "N", "check counts every N blocks", OPTION_U64,
	  AT(run.check_every), .least = 1, .most = BLOCKS_MAX },
	{ 0, "classes", "N", "classes of a placement that may have others",
	  OPTION_U32, AT(vol.classes), .least = 1 },
	{ 0, "clock", "HOW", "ages of segments are in: writes, time of a trace",
	  OPTION_CHOICE, AT(clock), 0, 0, clocks },
	{ 0, "counts", "HOW",
	  "counts that policies use: exact, counters, halved", OPTION_CHOICE,
	  AT(vol.counts), 0, 0, counts },
	{ 0, "csv", NULL, "print comma-separated values", OPTION_FLAG, AT(csv),
	  OPTION_GROUP_TOOL },
	{ 0, "curve", NULL, "show free space and writes over time", OPTION_FLAG,
	  AT(curve) },
	{ 0, "dat", "N", "blocks described by a block of the DAT", OPTION_U32,
	  AT(vol.dat_fanout) },
	{ 0, "dat-entries", NULL, "its entries are allocated as by the kernel",
	  OPTION_FLAG, AT(vol.dat_allocates) },
	{ 0, "data", "N", "blocks with data, in place of a share", OPTION_U64,
	  AT(vol.data), .against = WITH_TRACE, .least = 1,
	  .most = SIMVOL_NONE - 1 },
	{ 0, "dirty-pages", "N", "written blocks kept in memory", OPTION_U64,
	  AT(run.dirty_pages) },
	{ 0, "emit", NULL, "print a command for each run, and do none",
	  OPTION_FLAG, AT(emit), INSTEAD },
	{ 0, "file-blocks", "N", "length of a file", OPTION_U32,
	  AT(work.file_blocks), .against = WITH_TRACE, .least = 1 },
	{ 0, "file-size", "DISTRIBUTION", "sizes of files in blocks",
	  OPTION_STRING, AT(file_size), .against = WITH_TRACE },
	{ 'f', "fill", "PERCENT", "share of the blocks that has data (80)",
	  OPTION_U32, AT(fill), .against = BY_GARBAGE, .least = 1, .most = 100 },
	{ 0, "fill-holes", "N",
	  "where fewer segments are clean, write over dead blocks", OPTION_U32,
	  AT(vol.holes), .least = 1 },
	{ 0, "flush-every", "N", "a checkpoint every N blocks", OPTION_U64,
	  AT(run.flush_every), .most = BLOCKS_MAX },
	{ 0, "force", NULL, "replace FILE of --svg if it exists", OPTION_FLAG,
	  AT(force) },
	{ 0, "frees-dead", NULL, "segments without live blocks are clean",
	  OPTION_FLAG, AT(vol.frees_dead) },
	{ 0, "garbage-threshold", "PERCENT",
	  "clean a step where more of the blocks are garbage", OPTION_U32,
	  AT(cleaner.choice.garbage), BY_GARBAGE, .least = 1, .most = 99 },
	{ 0, "high", "N", "clean segments at which the cleaner ends",
	  OPTION_U32, AT(cleaner.high), .against = BY_GARBAGE, .least = 1 },
	{ 0, "hot", "PERCENT", "share of the data that is hot (10)", OPTION_U32,
	  AT(hot), .against = WITH_TRACE, .most = 100 },
	{ 0, "hot-file", "PATH",
	  "this file of the image is hot; may be repeated", OPTION_LIST,
	  AT(hot_files) },
	{ 0, "hot-writes", "PERCENT", "share of the writes that is hot (90)",
	  OPTION_U32, AT(work.hot_writes), .against = WITH_TRACE, .most = 100 },
	{ 0, "key", "KEY", "of the run, as --emit prints it", OPTION_STRING,
	  AT(key), INSTEAD },
	{ 0, "lifetime", "DISTRIBUTION",
	  "how long files live, in blocks written", OPTION_STRING,
	  AT(lifetime), .against = WITH_TRACE },
	{ 0, "list", NULL, "list workloads, placements and policies",
	  OPTION_FLAG, AT(list), INSTEAD },
	{ 0, "low", "N", "clean segments below which the cleaner begins",
	  OPTION_U32, AT(cleaner.low), .against = BY_GARBAGE, .least = 1 },
	{ 0, "max-search", "N", "examine N segments for each choice",
	  OPTION_U64, AT(cleaner.env.max_search), .least = 1 },
	{ 0, "mc-min-reclaimable", "PERCENT", "the same below --low (as there)",
	  OPTION_U32, AT(cleaner.mc_min_reclaimable), .against = BY_GARBAGE,
	  .most = 100 },
	{ 0, "mc-step", "N", "the same below --low (as there)", OPTION_U32,
	  AT(cleaner.mc_step), .against = BY_GARBAGE, .least = 1 },
	{ 0, "merge", NULL, "read results of such commands, and do no run",
	  OPTION_FLAG, AT(merge), INSTEAD },
	{ 0, "metadata-log", NULL, "metadata has a log of its own", OPTION_FLAG,
	  AT(vol.metadata_log) },
	{ 0, "min-reclaimable", "PERCENT",
	  "skip a step with fewer dead blocks (0)", OPTION_U32,
	  AT(cleaner.min_reclaimable), .against = BY_GARBAGE, .most = 100 },
	{ 0, "moves-change-nodes", NULL, "nodes change when blocks are moved",
	  OPTION_FLAG, AT(vol.moves_change_nodes) },
	{ 0, "nodes", "N", "blocks described by a node", OPTION_U32,
	  AT(vol.node_fanout) },
	{ 0, "placement", "NAME", "which log a block is written to (one)",
	  OPTION_CALL, AT(vol.placement), 0, 0, NULL, set_placement,
	  simplace_word },
	{ 'p', "policy", "NAME[:NUMBER]",
	  "order of cleaning, or all; may be repeated, or a list", OPTION_LIST,
	  AT(policies), .word = simchoice_word },
	{ 0, "protect", "N", "keep blocks live within the last N blocks",
	  OPTION_U64, AT(run.protect), .most = BLOCKS_MAX },
	{ 0, "scarce", "N", "clean segments up to which data-first is greedy",
	  OPTION_U32, AT(scarce), .against = BY_GARBAGE,
	  .most = SIMOPTIONS_SAME - 1 },
	{ 0, "second", "N", "blocks per second; times are whole seconds",
	  OPTION_U32, AT(vol.second), .against = BY_GARBAGE, .least = 1 },
	{ 0, "seed", "N", "seed of the random numbers (1)", OPTION_U64,
	  AT(work.seed) },
	{ 0, "seeds", "N", "N runs of successive seeds, and their mean",
	  OPTION_U32, AT(seeds), .least = 1, .most = SIMOPTIONS_RUNS_MAX },
	{ 0, "segment-size", "SIZE", "size of a segment or zone (8M)",
	  OPTION_SIZE, AT(segment_size), .least = 1 },
	{ 'n', "segments", "N", "size of the volume (1000)", OPTION_U32,
	  AT(vol.nsegments), .against = BY_GARBAGE, .least = 1 },
	{ 0, "sequential", "PERCENT", "share of the writes in sequence (50)",
	  OPTION_U32, AT(work.sequential), .against = WITH_TRACE, .most = 100 },
	{ 0, "skew", "NUMBER", "exponent of Zipf's distribution (1)",
	  OPTION_STRING, AT(skew), .against = WITH_TRACE },
	{ 0, "snapshot-every", "N", "a snapshot every N blocks", OPTION_U64,
	  AT(run.snapshot_every), .most = BLOCKS_MAX },
	{ 0, "snapshot-seconds", "N", "a snapshot every N seconds", OPTION_U32,
	  AT(snapshot_seconds) },
	{ 0, "snapshots", "N", "how many are kept (1)", OPTION_U32,
	  AT(run.snapshots), .least = 1 },
	{ 0, "step", "N", "segments cleaned together (1)", OPTION_U32,
	  AT(cleaner.step), .least = 1 },
	{ 0, "summaries", "N", "blocks per block of summaries", OPTION_U32,
	  AT(vol.summary_span) },
	{ 0, "svg", "FILE", "draw segments and free space over time, or a sweep",
	  OPTION_STRING, AT(svg) },
	{ 0, "sweep", "OPTION=VALUES",
	  "a run for each, as fill=50:90:5; may be repeated", OPTION_LIST,
	  AT(sweeps) },
	{ 0, "sync", NULL, "each write is followed by its nodes", OPTION_FLAG,
	  AT(run.syncs) },
	{ 0, "ties", "WHICH",
	  "of equal segments: first, last, oldest, youngest, random",
	  OPTION_CHOICE, AT(cleaner.choice.ties), 0, 0, ties },
	{ 't', "trace", "FILE", "replay a trace (-: standard input)",
	  OPTION_STRING, AT(trace), WITH_TRACE },
	{ 0, "trace-format", "FORMAT",
	  "guess, blktrace, fio, msr, alibaba, tencent, blkparse, csv",
	  OPTION_CHOICE, AT(trace_format), 0, 0, simformat_names },
	{ 0, "trims", "PERCENT", "share of the operations that trim (0)",
	  OPTION_U32, AT(work.trims), .against = WITH_TRACE, .most = 99 },
	{ 0, "victims", "N", "list the first N victims and do nothing",
	  OPTION_U32, AT(victims), .least = 1 },
	{ 0, "volume", "ID", "volume of the trace, or each, one by one",
	  OPTION_STRING, AT(volume) },
	{ 0, "warm-up", "N[%]", "blocks before the measurement", OPTION_CALL,
	  AT(warm_up), 0, 0, NULL, set_amount },
	{ 0, "wear", NULL, "show how many segments were cleaned how often",
	  OPTION_FLAG, AT(wear) },
	{ 'w', "workload", "NAME", "pattern of writes (uniform)", OPTION_CALL,
	  AT(work.kind), 0, 0, NULL, set_workload, simwork_word, WITH_TRACE },
	{ 0, "writes", "N", "blocks that are measured", OPTION_U64,
	  AT(writes), .least = 1, .most = BLOCKS_MAX },
	{ 0 },
};

int simoptions_check_words(struct context *cx, const struct simoptions *o,
			   const struct simchoice_policy *p)
{
	const char *wrong = NULL;

	if (o->trace && !o->hot_files.count &&
	    o->vol.placement == simplace_find("hot-cold"))
		return fail(cx, -EINVAL, "--placement: %s: a trace does not "
			    "say what is hot", o->vol.placement->name);
	if (o->cleaner.env.max_search && p->kind)
		wrong = "--max-search";
	if (o->cleaner.choice.ties && (o->cleaner.env.max_search || p->policy->data_first))
		wrong = "--ties";
	if (o->cleaner.choice.garbage && (o->cleaner.env.max_search || p->policy->data_first))
		wrong = "--garbage-threshold";
	if (o->ages && o->cleaner.env.max_search && p->policy->ages)
		wrong = "--ages";
	if (o->vol.second && p->policy != policy_find("timestamp"))
		wrong = "--second";
	return wrong ? fail(cx, -EINVAL, "%s is not for the policy %s%s", wrong,
			    p->name, o->cleaner.env.max_search ? " with --max-search" :
						     "") : 0;
}

int simoptions_work(struct context *cx, const struct simoptions *o,
		    struct simwork_config *c)
{
	int err = 0;

	c->skew = 1;
	c->size = (struct simdist){ SIMDIST_FIXED, o->work.file_blocks, 0 };
	c->lifetime = (struct simdist){ SIMDIST_EXPONENTIAL, (double)c->data,
					0 };
	if (o->skew)
		err = simdist_number(cx, "--skew", o->skew, 0, 100, &c->skew);
	if (!err && o->file_size)
		err = simdist_parse(cx, "--file-size", o->file_size, &c->size);
	if (!err && o->lifetime)
		err = simdist_parse(cx, "--lifetime", o->lifetime,
				    &c->lifetime);
	return err;
}

int simoptions_check(struct context *cx, const struct simoptions *o)
{
	const struct simplace_kind *k = o->vol.placement;
	uint32_t most = k->most ? k->most : SIMPLACE_CLASSES;
	bool history = o->run.snapshot_every || o->snapshot_seconds ||
		       o->run.protect;
	int err;

	if (o->block_size & (o->block_size - 1))
		return fail(cx, -EINVAL, "--block-size: %" PRIu64 " is no power "
			    "of two", o->block_size);
	if (o->segment_size % o->block_size)
		return fail(cx, -EINVAL, "--segment-size: %" PRIu64 " is no "
			    "number of blocks of %" PRIu64, o->segment_size,
			    o->block_size);
	if (o->segment_size / o->block_size < 2 ||
	    o->segment_size / o->block_size > BLOCKS_OF_SEGMENT)
		return fail(cx, -EINVAL, "--segment-size: %" PRIu64 " is not "
			    "2 to %" PRIu32 " blocks of %" PRIu64,
			    o->segment_size, BLOCKS_OF_SEGMENT, o->block_size);
	if (o->vol.summary_span == 1)
		return fail(cx, -EINVAL, "--summaries: a block of them "
			    "describes itself only");
	/* f2fs has neither summaries nor snapshots. */
	if (o->vol.holes && (o->vol.summary_span || history))
		return fail(cx, -EINVAL, "--fill-holes excludes --summaries, "
			    "snapshots and --protect");
	if (o->vol.holes && o->cleaner.choice.garbage)
		return fail(cx, -EINVAL, "--fill-holes and --garbage-threshold "
			    "exclude each other");
	if (o->vol.dat_allocates && !o->vol.dat_fanout)
		return fail(cx, -EINVAL, "--dat-entries needs --dat");
	if (o->run.syncs && (!o->vol.node_fanout || o->run.dirty_pages))
		return fail(cx, -EINVAL, "--sync needs --nodes, without "
			    "--dirty-pages");
	err = simoptions_work(cx, o, &(struct simwork_config){ .data = 1 });
	if (err)
		return err;
	if (o->cleaner.low && o->cleaner.high &&
	    o->cleaner.high < o->cleaner.low)
		return fail(cx, -EINVAL, "--high: %" PRIu32 " is less than "
			    "--low, %" PRIu32, o->cleaner.high, o->cleaner.low);
	if (o->vol.classes && !k->least)
		return fail(cx, -EINVAL, "--classes: the placement %s has a "
			    "given number of them", k->name);
	if (o->vol.classes && (o->vol.classes < k->least ||
			       o->vol.classes > most))
		return fail(cx, -EINVAL, "--classes: %" PRIu32 ": the "
			    "placement %s has %" PRIu32 " to %" PRIu32,
			    o->vol.classes, k->name, k->least, most);
	if (k->ahead && o->run.dirty_pages)
		return fail(cx, -EINVAL, "--dirty-pages: the placement %s "
			    "knows what is written only without them",
			    k->name);
	return 0;
}
