// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dump.nilfs2 report: a whole volume on one page.
 *
 * Each part is put as far as the volume can be read; what cannot is told in its
 * place.  The page is HTML, or JSON with the same parts, as text of this length
 * is what the other commands are for.
 */
#include <errno.h>
#include <string.h>

#include "cli/outfile.h"
#include "dump/commands.h"
#include "dump/image.h"
#include "dump/info.h"
#include "dump/report_check.h"
#include "dump/report_files.h"
#include "dump/report_past.h"
#include "dump/report_space.h"
#include "out/report_html.h"

struct report_options {
	bool fast;
};

struct page {
	struct tool *tool;
	const struct report_options *o;
	struct dump_image im;
	struct info_super supers;
	int status;
};

static int note(struct page *p, int err)
{
	if (err > 0)
		p->status = err;
	if (err >= 0)
		return 0;
	err = image_complain(p->tool, err);
	p->status = 1;
	return err < 0 ? err : 0;
}

static int put_volume(struct page *p)
{
	struct tool *tool = p->tool;
	int err = note(p, report_space_put(tool, &p->im));

	if (!err)
		err = note(p, report_past_put(tool, &p->im));
	if (!err && !p->o->fast)
		err = note(p, report_files_put(tool, &p->im));
	return err;
}

static int put_parts(struct page *p)
{
	struct tool *tool = p->tool;
	int err = 0;

	if (!p->o->fast)
		err = note(p, report_check_put(tool, p->im.dev));
	if (!err && p->im.vol)
		err = put_volume(p);
	if (!err)
		err = note(p, info_report(tool, &p->supers, p->im.vol,
					  p->im.dev->size));
	return err;
}

static void open_page(struct page *p)
{
	char title[SEGMAP_TITLE_MAX] = "NILFS2 volume", label[VOLUME_LABEL_MAX];
	struct segmap_volume v;

	if (p->im.vol) {
		image_describe(&p->im, &v, label);
		segmap_title(&v, title);
	}
	report_html_open(p->tool->out, title, p->tool->argv[0]);
}

/* Puts all of it to the output of the tool; FAILED is that of opening. */
static int put_page(struct page *p, int failed)
{
	struct report *r = &p->tool->report;
	bool html = r->mode == REPORT_TEXT;
	int err;

	if (html) {
		r->mode = REPORT_HTML;
		open_page(p);
	}
	err = note(p, failed);
	if (!err)
		err = put_parts(p);
	if (!err && html)
		report_html_close(p->tool->out);
	return err;
}

/* The same into the file PATH: output goes there meanwhile. */
static int write_page(struct page *p, const char *path, int failed)
{
	struct tool *tool = p->tool;
	struct out *out = tool->out;
	struct outfile file;
	int err = outfile_open(&file, &tool->cx, path, tool->argv[0]);

	if (err)
		return err;
	tool->out = tool->report.out = tool->report.json.out = file.out;
	err = put_page(p, failed);
	if (!err)
		report_fini(&tool->report);
	tool->out = out;
	report_init(&tool->report, out, REPORT_TEXT);
	return outfile_close(&file, &tool->cx, err);
}

static int report_run(struct tool *tool, const void *options)
{
	struct page p = { .tool = tool, .o = options };
	int failed, err;

	failed = image_open(&p.im, tool, tool->argv[0], NULL);
	err = failed;
	if (p.im.dev) {
		info_super_read(&p.supers, &tool->cx, p.im.dev);
		if (p.supers.shown[0] || p.supers.shown[1])
			err = 0;
	}
	if (!err && tool->argc > 1)
		err = write_page(&p, tool->argv[1], failed);
	else if (!err)
		err = put_page(&p, failed);
	image_close(&p.im);
	return err ? err : p.status;
}

static const struct cli_option report_rows[] = {
	{ 0, "fast", NULL, "do not check the volume, nor look at files",
	  OPTION_FLAG, offsetof(struct report_options, fast), 0, 0, NULL,
	  NULL },
	{ 0 },
};

const struct cli_command report_command = {
	.name = "report",
	.summary = "everything on one page of HTML, with pictures",
	.synopsis = "IMAGE [FILE]",
	.about = "Writes a page to FILE or standard output: check, what holds "
		 "the space, segments,\ncheckpoints, largest and most "
		 "fragmented files, superblocks.",
	.options = report_rows,
	.options_size = sizeof(struct report_options),
	.min_args = 1,
	.max_args = 2,
	.run = report_run,
};
