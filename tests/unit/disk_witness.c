// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The outside witness of the disk format: the kernel's own header, in a file
 * by itself because it uses the same names as ours.
 */
#include <stddef.h>
#include <linux/nilfs2_ondisk.h>


#include "disk_witness.h"

const struct disk_witness disk_witness[] = {
#include "disk_witness.def"
	{ NULL, 0, 0 },
};
