// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The commands of the runs of a sweep, to be executed on several machines.
 *
 * A command has those parameters that are not the defaults, and the key of the
 * run.
 */
#include "gc/sim/sweep/simparam.h"

#include <string.h>

#include "out/table.h"

/* Prints TEXT as one word of a shell. */
static void put_word(struct out *out, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789%+,-./:=@_";

	out_char(out, ' ');
	if (*text && !text[strspn(text, plain)]) {
		out_string(out, text);
		return;
	}
	out_char(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			out_string(out, "'\\'");
		out_char(out, *text);
	}
	out_char(out, '\'');
}

/* Prints an option, and its argument, if it has one. */
static void put_parameter(struct out *out, const char *name, const char *arg)
{
	out_string(out, " --");
	out_string(out, name);
	if (arg)
		put_word(out, arg);
}

int simemit_commands(struct report *r, struct context *cx,
		     const struct simplan *plan, const char *image)
{
	static const struct column columns[] = {
		{ "key", NULL, VALUE_PLAIN },
		{ "command", NULL, VALUE_STRING },
	};
	char key[SIMPARAM_TEXT], text[SIMPARAM_TEXT], usual[SIMPARAM_TEXT];
	const struct simoptions *o;
	const struct option_list *list;
	const struct cli_option *row;
	const char *arg, *other;
	bool is_text = report_is_text(r);
	struct simplan_run run;
	struct out *line;
	struct table t;
	size_t i, k;
	int err = 0;

	if (!is_text)
		table_begin(&t, r, "commands", columns, 2);
	for (i = 0; i < plan->nruns && !err; i++) {
		err = simplan_run(plan, cx, i, &run);
		if (!err)
			err = out_open_memory(cx, &line);
		if (err)
			break;
		/* Options that are not the default, and the key. */
		o = &run.options;
		simparam_key_text(simparam_key(&run, image), key);
		out_string(line, "gcsim.nilfs2");
		for (row = simoptions_rows; row->name; row++) {
			if (!simparam_is(row))
				continue;
			list = (const void *)((const char *)o + row->at);
			for (k = 0; row->kind == OPTION_LIST && k < list->count;
			     k++)
				put_parameter(line, row->name, list->items[k]);
			if (row->kind == OPTION_LIST)
				continue;
			arg = simparam_argument(row, o, text);
			other = simparam_argument(row, &simoptions_defaults,
						  usual);
			if (arg && (!other || strcmp(arg, other) != 0))
				put_parameter(line, row->name,
					      row->kind == OPTION_FLAG ? NULL :
									 arg);
		}
		if (run.volume_name)
			put_parameter(line, "volume", run.volume_name);
		put_parameter(line, "policy", run.policy->name);
		put_parameter(line, "key", key);
		out_string(line, " --json-lines");
		if (image) {
			out_string(line, " --");
			put_word(line, image);
		}
		if (is_text) {
			out_string(r->out, out_memory(line, NULL));
			out_char(r->out, '\n');
		} else {
			table_row(&t, (struct value[]){
				value_string(key),
				value_string(out_memory(line, NULL)),
			});
		}
		err = out_close(line, cx);
	}
	if (!is_text)
		table_end(&t);
	return err;
}
