// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * packs IMAGE: packs the DAT of IMAGE whatever it brings, which gc.nilfs2 does
 * only where a volume becomes smaller by it; prints how many blocks moved.
 */
#include <inttypes.h>
#include <stdio.h>

#include "dev/devfile.h"
#include "gc/packdat.h"

int main(int argc, char **argv)
{
	const struct packdat_options options = { .batch.time = 1700000000 };
	struct batch_totals totals = { 0 };
	struct context cx;
	struct dev *dev = NULL;
	int ret;

	if (argc != 2)
		return 2;
	context_init(&cx);
	ret = devfile_open(&dev, &cx, argv[1], DEVFILE_WRITE);
	if (!ret)
		ret = packdat_run(&cx, dev, &options, &totals);
	if (ret)
		fprintf(stderr, "packs: %s\n", cx.failure);
	printf("%" PRIu64 "\n", totals.moved);
	dev_close(dev);
	return ret != 0;
}
