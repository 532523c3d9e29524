// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gcsim.nilfs2: one simulation for each requested policy, all with the same
 * writes, and their results side by side.
 */
#include <errno.h>
#include <stdlib.h>

#include "cli/tool.h"
#include "dev/devfile.h"
#include "gc/sim/simoptions.h"
#include "gc/sim/simreport.h"
#include "gc/sim/simsetup.h"
#include "gc/sim/simsvg.h"

static void show_asked(void *arg, uint64_t done)
{
	struct tool *tool = arg;

	progress_update(&tool->progress, done);
}

static int list_victims(struct tool *tool, struct simsetup *s, uint32_t n)
{
	static const struct column columns[] = {
		{ "segment", "SEGMENT", VALUE_U64, 10 },
		{ "live", "LIVE", VALUE_U64, 8 },
	};
	struct table t;
	int64_t i;

	table_begin(&t, &tool->report, "victims", columns, 2);
	while (n-- && (i = simclean_choose(&s->cleaner)) >= 0)
		table_row(&t, (struct value[]){
			value_u64((uint64_t)i),
			value_u64(s->vol.segments[i].live),
		});
	table_end(&t);
	return 0;
}

/* The results of one run. */
struct result {
	struct simpolicy policy;
	struct simreport_row row;
	struct simsvg_run drawn;
};

static int run_to_end(struct tool *tool, struct simsetup *s, const char *policy)
{
	int ret;

	progress_begin(&tool->progress, policy, simsetup_total(s), false);
	ret = simsetup_run(s, &tool->cx, show_asked, tool);
	progress_end(&tool->progress);
	return ret;
}

/* What is reported of one run. */
static int take(struct tool *tool, const struct simoptions *o,
		const struct simrun *run, struct result *result, bool is_last)
{
	const char *policy = result->policy.name;

	simreport_take(&result->row, run, policy);
	if (is_last && o->curve)
		simreport_curve(&tool->report, run, policy);
	if (is_last && o->wear)
		simreport_wear(&tool->report, run);
	return o->svg ? simsvg_take(&result->drawn, &tool->cx, run, policy) :
			0;
}

static int simulate(struct tool *tool, const struct simoptions *o,
		    const struct simimage *image, struct result *result,
		    bool is_last)
{
	struct simsetup s;
	int ret = simsetup_open(&s, &tool->cx, o, image, &result->policy);

	if (!ret && o->victims) {
		ret = is_last ? list_victims(tool, &s, o->victims) : 0;
		simsetup_close(&s);
		return ret;
	}
	if (!ret)
		ret = run_to_end(tool, &s, result->policy.name);
	if (!ret)
		ret = take(tool, o, &s.run, result, is_last);
	simsetup_close(&s);
	return ret;
}

static int find_policies(struct tool *tool, const struct simoptions *o,
			 struct result *results)
{
	size_t i;

	results[0].policy.name = policy_list[0].name;
	for (i = 0; i < o->policies.count; i++)
		results[i].policy.name = o->policies.items[i];
	for (i = 0; i < o->policies.count || !i; i++) {
		struct simpolicy *p = &results[i].policy;

		p->policy = policy_parse(p->name, &p->weight);
		if (!p->policy)
			return tool_usage(tool, "--policy: unknown policy '%s'",
					  p->name);
	}
	return 0;
}

static int report_results(struct tool *tool, const struct simoptions *o,
			  const struct result *results, size_t n)
{
	const char *input = o->trace ? o->trace : tool->argv[0];
	struct simreport_row *rows = calloc(n, sizeof(*rows));
	struct simsvg_run *drawn = calloc(n, sizeof(*drawn));
	size_t i;
	int ret = 0;

	if (!rows || !drawn)
		ret = fail(&tool->cx, -ENOMEM, "results");
	for (i = 0; i < n && !ret; i++) {
		rows[i] = results[i].row;
		drawn[i] = results[i].drawn;
	}
	if (!ret)
		simreport_put(&tool->report, rows, n);
	if (!ret && o->svg)
		ret = simsvg_write(&tool->cx, o->svg, input, drawn, n);
	free(drawn);
	free(rows);
	return ret;
}

static int simulate_policies(struct tool *tool, const struct simoptions *o,
			     const struct simimage *image)
{
	size_t n = o->policies.count ? o->policies.count : 1, i;
	struct result *results = calloc(n, sizeof(*results));
	int ret;

	if (!results)
		return fail(&tool->cx, -ENOMEM, "results");
	ret = find_policies(tool, o, results);
	for (i = 0; i < n && !ret; i++)
		ret = simulate(tool, o, image, &results[i], i == n - 1);
	if (!ret && !o->victims)
		ret = report_results(tool, o, results, n);
	for (i = 0; i < n; i++)
		simsvg_free(&results[i].drawn);
	free(results);
	return ret;
}

static int run_gcsim(struct tool *tool, const void *options)
{
	const struct simoptions *o = options;
	struct simimage image = { 0 };
	struct dev *dev = NULL;
	int ret = 0;

	if (tool->argc && o->trace)
		return tool_usage(tool, "a trace cannot be replayed on an "
					"image");
	if (!tool->argc && o->hot_files.count)
		return tool_usage(tool, "--hot-file: there is no image");
	if (tool->argc)
		ret = devfile_open(&dev, &tool->cx, tool->argv[0],
				   DEVFILE_READ);
	if (!ret && dev)
		ret = simimage_read(&image, &tool->cx, dev, &o->hot_files);
	if (!ret)
		ret = simulate_policies(tool, o, dev ? &image : NULL);
	simimage_close(&image);
	dev_close(dev);
	return ret;
}

static const struct cli_command command = {
	.summary = "simulate a volume and its cleaner",
	.synopsis = "[IMAGE]",
	.options = simoptions_rows,
	.options_size = sizeof(struct simoptions),
	.defaults = &simoptions_defaults,
	.min_args = 0,
	.max_args = 1,
	.run = run_gcsim,
};

static const struct cli_tool gcsim = {
	.name = "gcsim.nilfs2",
	.summary = "Simulate a volume that is written and cleaned.",
	.only = &command,
	.exit_failure = 1,
	.exit_usage = 2,
	.only_reads = true,
};

int main(int argc, char **argv)
{
	return tool_main(&gcsim, argc, argv);
}
