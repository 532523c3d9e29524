// SPDX-License-Identifier: GPL-2.0-or-later
/* Progress on a descriptor: whole percents, one line each; of a checker. */
#include "cli/progress.h"

#include <stdlib.h>
#include <unistd.h>

#include "tap.h"

/* All that a run of COUNT updates of TOTAL says. */
static char *said(uint64_t total, uint64_t count, bool quiet)
{
	static char text[64 << 10];
	char path[] = "/tmp/t_cli_progress.XXXXXX";
	struct progress p;
	int fd = mkstemp(path);
	uint64_t i;
	ssize_t n;

	if (fd < 0)
		exit(99);
	unlink(path);
	progress_init(&p, fd, quiet);
	progress_begin(&p, "reading", total, false);
	for (i = 0; i <= count; i++)
		progress_update(&p, i);
	progress_end(&p);
	progress_begin(&p, "checking", 2, false);
	progress_update(&p, 1);
	progress_end(&p);
	progress_update(&p, 2);
	/* Nor would a terminal show what has not begun. */
	p.terminal = true;
	progress_update(&p, 3);
	n = pread(fd, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	close(fd);
	return text;
}

static unsigned int lines_of(const char *text)
{
	unsigned int n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static const char of_checker[] =
	"1 0 700 a\\040disk\\011\\012\n"
	"1 250 700 a\\040disk\\011\\012\n"
	"1 500 700 a\\040disk\\011\\012\n"
	"2 160 200 a\\040disk\\011\\012\n"
	"2 200 200 a\\040disk\\011\\012\n"
	"3 10 20 a\\040disk\\011\\012\n"
	"5 50 50 a\\040disk\\011\\012\n";

/* Half of one step, another, one of them again, and the end. */
static const char *said_of_device(void)
{
	static char text[4096];
	char path[] = "/tmp/t_cli_progress.XXXXXX";
	struct progress p;
	int fd = mkstemp(path);
	ssize_t n;

	if (fd < 0)
		exit(99);
	unlink(path);
	progress_init(&p, fd, false);
	p.device = "a disk\t\n";
	progress_begin(&p, "reading", 2, false);
	progress_until(&p, 50);
	progress_update(&p, 0);
	progress_update(&p, 1);
	progress_end(&p);
	progress_begin(&p, "checking", 10, false);
	progress_until(&p, 90);
	progress_update(&p, 9);
	progress_end(&p);
	progress_begin(&p, "reading", 2, false);
	progress_until(&p, 50);
	progress_update(&p, 1);
	progress_end(&p);
	progress_begin(&p, "counting", 0, false);
	progress_until(&p, 91);
	progress_update(&p, 7);
	progress_end(&p);
	progress_until(&p, 100);
	n = pread(fd, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	close(fd);
	return text;
}

int main(void)
{
	const char *text = said(100000, 100000, false);

	ok(!strncmp(text, "1 0 100000 reading\n", 19),
	   "step, done, total and name");
	ok(lines_of(text) <= 102, "no more than a line per percent");
	ok(lines_of(text) >= 100, "and no fewer");
	ok(strstr(text, "\n2 1 2 checking\n"), "steps are counted");
	ok(!strstr(text, "null") && !strstr(text, "\033"),
	   "nothing is said outside of a step");
	ok(lines_of(said(0, 1000000, false)) < 2000,
	   "an unknown total does not flood");
	is_str(said_of_device(), of_checker,
	       "of a device: its place in the passes of e2fsck");
	is_str(said(100, 100, true), "", "quiet is quiet");
	return tap_done();
}
