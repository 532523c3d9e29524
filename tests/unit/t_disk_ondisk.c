// SPDX-License-Identifier: GPL-2.0-or-later
/* Our structures and constants against those of <linux/nilfs2_ondisk.h>. */
#include "disk/ondisk.h"

#include "disk_witness.h"
#include "tap.h"

static const struct disk_witness ours[] = {
#include "disk_witness.def"
	{ NULL, 0, 0 },
};

int main(void)
{
	size_t i;

	for (i = 0; ours[i].what; i++) {
		ok(ours[i].first == disk_witness[i].first &&
			   ours[i].second == disk_witness[i].second,
		   "%s", ours[i].what);
	}
	ok(i > 200, "%zu rows", i);
	return tap_done();
}
