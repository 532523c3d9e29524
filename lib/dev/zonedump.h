/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The zones of an emulated device, saved in a file in the folder of its image. */
#ifndef NILFS2_DEV_ZONEDUMP_H
#define NILFS2_DEV_ZONEDUMP_H

#include "dev/zone.h"

struct zonedump {
	struct zones zones;
	uint64_t *pointers;   /* one for each zone, as in struct zone */
	uint64_t bytes;	      /* of the device */
	uint32_t sector_size; /* bytes */
};

/*
 * Writes the file PATH, in the format that zbd(8) writes with "dump" and reads with
 * "report" and "restore".  It is replaced as a whole, if zonedump_may_replace()
 * permits that.  Fails as output_open(), write(2) and output_commit().
 */
int zonedump_write(struct context *cx, const char *path,
		   const struct zonedump *dump);

/*
 * Whether zonedump_write() may use the name PATH: there is no such file, or it is a
 * regular file that is empty or begins like a file of zones.  -EEXIST, or as
 * output_check().
 */
int zonedump_may_replace(struct context *cx, const char *path);

/*
 * Reads the file PATH; a symbolic link is not followed.  -EINVAL if it is not such a
 * file or describes impossible zones, -ENOENT if there is none.  zonedump_fini() may
 * be called in any case.
 */
int zonedump_read(struct context *cx, const char *path,
		  struct zonedump *dump);

void zonedump_fini(struct zonedump *dump);

#endif
