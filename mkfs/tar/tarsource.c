// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A tar archive as a source, where there is libarchive to read it.
 */
#include "config.h"

#include "mkfs/tar/tarsource.h"

#include <errno.h>

#ifdef HAVE_LIBARCHIVE

#include "mkfs/tar/tarlayer.h"

int tarsource_run(struct context *cx, const char *path,
		  const struct entry_rules *rules, uint32_t block_size,
		  struct populate *p)
{
	struct tarreader *r = NULL;
	int ret = tarreader_open(&r, cx, path, block_size);

	if (!ret)
		ret = tarlayer_run(cx, r, rules, block_size, p);
	if (!ret)
		tarreader_drain(r, cx);
	tarreader_close(r);
	return ret;
}

#else

int tarsource_run(struct context *cx, const char *path,
		  const struct entry_rules *rules, uint32_t block_size,
		  struct populate *p)
{
	(void)rules;
	(void)block_size;
	(void)p;
	return fail_said(cx, -EOPNOTSUPP,
			 "%s: archive: built without libarchive", path);
}

#endif
