// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An older version of the SUFILE looks sound, and has other segments in use.
 * A DAT that is wrong may lead to one.
 */
#include "fsck/derive/sufile_doubt.h"

#include "check/damage.h"
#include "check/listings.h"

/* Whether block L of the SUFILE is there: 1, 0, or a failure. */
static int is_newest(const struct check *c, struct context *cx,
		     const struct listing *l)
{
	uint64_t blocknr;
	int ret = file_lookup(&c->vol->sufile, cx, l->number, &blocknr);

	return ret > 0 ? blocknr == l->blocknr : damage_forgive(cx, ret);
}

int sufile_doubt(struct check *c, struct context *cx)
{
	struct listings l = { 0 };
	size_t i;
	int ret;

	c->sufile_doubted = true;
	ret = listings_of_file(&l, cx, c, NILFS_SUFILE_INO);
	for (i = 0, ret = ret ? ret : 1; i < l.n && ret > 0; i++)
		ret = is_newest(c, cx, &l.items[i]);
	c->sufile_doubted = ret <= 0;
	listings_fini(&l);
	return ret < 0 ? ret : 0;
}
