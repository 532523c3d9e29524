/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The zones of an emulated device, kept in a file beside its image. */
#ifndef NILFS2_DEV_ZONEDUMP_H
#define NILFS2_DEV_ZONEDUMP_H

#include "dev/zone.h"

struct zonedump {
	struct zones zones;
	uint64_t *pointers;   /* one for each zone, as struct zone has them */
	uint64_t bytes;	      /* of the device */
	uint32_t sector_size; /* bytes */
};

/*
 * Writes the file PATH again, in the form that zbd(8) writes with "dump" and
 * reads with "report" and "restore".  Failures: as open(2) and write(2).
 */
int zonedump_write(struct context *cx, const char *path,
		   const struct zonedump *dump);

/*
 * Reads it.  -EINVAL if it is not such a file or describes impossible zones,
 * -ENOENT if there is none.  zonedump_fini() is allowed in any case.
 */
int zonedump_read(struct context *cx, const char *path,
		  struct zonedump *dump);

void zonedump_fini(struct zonedump *dump);

#endif
