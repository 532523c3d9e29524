// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the passes share: how a failure becomes a finding.
 *
 * The readers in lib/vol say that a volume is broken by failing, because
 * nobody else can go on then.  The checker can.
 */
#include "fsck/check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#define NOTE_MAX 512

void check_note(const struct check *c, const char *fmt, ...)
{
	char text[NOTE_MAX];
	va_list ap;

	if (!c->note)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	c->note(c->note_arg, text);
}

int check_damage(struct check *c, struct context *cx, int err, enum rule rule,
		 struct place place)
{
	switch (err) {
	case -EIO:
		rule = RULE_DEV_UNREADABLE;
		break;
	case -EUCLEAN:
	case -ENOENT:
		break;
	default:
		return err;
	}
	findings_failed(c->findings, cx, rule, place);
	return 0;
}

int check_skip_unreadable(void *arg, struct context *cx, uint64_t blkoff)
{
	(void)arg;
	(void)blkoff;
	fail_clear(cx);
	return 0;
}

void check_fini(struct check *c)
{
	size_t i;

	bitmap_fini(&c->used_segments);
	bitmap_fini(&c->broken_segments);
	bitmap_fini(&c->live_segments);
	sparse_fini(&c->claimed);
	for (i = 0; i < CHECK_LISTED; i++)
		sparse_fini(&c->listed[i]);
	sparse_fini(&c->referenced);
	sparse_fini(&c->lingering);
	volume_close(c->vol);
	c->vol = NULL;
}

bool check_knows_sufile(const struct check *c)
{
	const struct findings *f = c->findings;

	return !c->sufile_doubted && !findings_count(f, RULE_SU_UNREADABLE) &&
	       !(c->dat_broken && (findings_count(f, RULE_SU_NBLOCKS) ||
				   findings_count(f, RULE_SU_NCLEAN)));
}
