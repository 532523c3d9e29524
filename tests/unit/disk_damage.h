/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sound superblocks and logs, damaged so that they break one rule. */
#ifndef NILFS2_TESTS_DISK_DAMAGE_H
#define NILFS2_TESTS_DISK_DAMAGE_H

#include "disk/geometry.h"
#include "disk/rule.h"

#define BLOCK 1024u

/* Four segments of 1 MiB in blocks of 1 KiB, on a device they fill. */
extern const struct nilfs_geometry disk_damage_geometry;

/* The verdict on a structure damaged to break WANT; RULE_OK: not damaged. */
enum rule disk_damage_super(enum rule want);
enum rule disk_damage_log(enum rule want);
enum rule disk_damage_superroot(enum rule want);

#endif
