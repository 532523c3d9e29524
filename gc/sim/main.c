// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gcsim.nilfs2: one simulation for each policy that is asked for, all of them
 * with the same user, and what came of them side by side.
 */
#include <errno.h>
#include <stdlib.h>

#include "cli/tool.h"
#include "dev/devfile.h"
#include "gc/sim/simoptions.h"
#include "gc/sim/simreport.h"
#include "gc/sim/simsetup.h"
#include "gc/sim/simsvg.h"

static void told(void *arg, uint64_t done)
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

/* What is said of one run only. */
static int say_more(struct tool *tool, const struct simoptions *o,
		    const struct simrun *run, const char *policy)
{
	const char *input = o->trace ? o->trace : tool->argv[0];

	if (o->curve)
		simreport_curve(&tool->report, run, policy);
	if (o->wear)
		simreport_wear(&tool->report, run);
	return o->svg ? simsvg_write(&tool->cx, o->svg, input, run) : 0;
}

static int run_to_end(struct tool *tool, struct simsetup *s, const char *policy)
{
	int ret;

	progress_begin(&tool->progress, policy, simsetup_total(s), false);
	ret = simsetup_run(s, &tool->cx, told, tool);
	progress_end(&tool->progress);
	return ret;
}

/* One run. */
static int simulate(struct tool *tool, const struct simoptions *o,
		    const struct simimage *image,
		    const struct simpolicy *policy,
		    struct simreport_row *row, bool is_last)
{
	struct simsetup s;
	int ret = simsetup_open(&s, &tool->cx, o, image, policy);

	if (!ret && o->victims) {
		ret = is_last ? list_victims(tool, &s, o->victims) : 0;
		simsetup_close(&s);
		return ret;
	}
	if (!ret)
		ret = run_to_end(tool, &s, policy->name);
	if (!ret)
		simreport_take(row, &s.run, policy->name);
	if (!ret && is_last)
		ret = say_more(tool, o, &s.run, policy->name);
	simsetup_close(&s);
	return ret;
}

static int find_policies(struct tool *tool, const struct simoptions *o,
			 struct simpolicy *policies)
{
	size_t i;

	policies[0].name = policy_list[0].name;
	for (i = 0; i < o->policies.count; i++)
		policies[i].name = o->policies.items[i];
	for (i = 0; i < o->policies.count || !i; i++) {
		struct simpolicy *p = &policies[i];

		p->policy = policy_parse(p->name, &p->weight);
		if (!p->policy)
			return tool_usage(tool, "--policy: there is no '%s'",
					  p->name);
	}
	return 0;
}

static int run_all(struct tool *tool, const struct simoptions *o,
		   const struct simimage *image)
{
	size_t n = o->policies.count ? o->policies.count : 1, i;
	struct simpolicy *policies = calloc(n, sizeof(*policies));
	struct simreport_row *rows = calloc(n, sizeof(*rows));
	int ret;

	if (!policies || !rows)
		ret = fail(&tool->cx, -ENOMEM, "policies");
	else
		ret = find_policies(tool, o, policies);
	for (i = 0; i < n && !ret; i++)
		ret = simulate(tool, o, image, &policies[i], &rows[i],
			       i == n - 1);
	if (!ret && !o->victims)
		simreport_put(&tool->report, rows, n);
	free(rows);
	free(policies);
	return ret;
}

static int run(struct tool *tool, const void *options)
{
	const struct simoptions *o = options;
	struct simimage image = { 0 };
	struct dev *dev = NULL;
	int ret = 0;

	if (tool->argc && o->trace)
		return tool_usage(tool, "a trace does not know what is on an "
				  "image");
	if (!tool->argc && o->hot_files.count)
		return tool_usage(tool, "--hot-file: there is no image");
	if (tool->argc)
		ret = devfile_open(&dev, &tool->cx, tool->argv[0],
				   DEVFILE_READ);
	if (!ret && dev)
		ret = simimage_read(&image, &tool->cx, dev, &o->hot_files);
	if (!ret)
		ret = run_all(tool, o, dev ? &image : NULL);
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
	.run = run,
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
