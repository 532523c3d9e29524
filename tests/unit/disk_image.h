/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Images by the distribution's mkfs.nilfs2, whose word is not ours. */
#ifndef NILFS2_TESTS_DISK_IMAGE_H
#define NILFS2_TESTS_DISK_IMAGE_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Where Debian has it; a user's PATH may lack the directory. */
#define DISK_IMAGE_MKFS "/sbin/mkfs.nilfs2"

/*
 * An image of LEN bytes made with OPTIONS, mapped privately: it may be damaged
 * at will and goes away with the process.  NULL where it cannot be made.
 */
static inline unsigned char *disk_image(const char *options, size_t len)
{
	char name[] = "/tmp/t_disk.XXXXXX", command[256];
	int fd = mkstemp(name);
	void *map = MAP_FAILED;

	if (fd < 0)
		return NULL;
	snprintf(command, sizeof(command), "%s -q %s %s >/dev/null 2>&1",
		 DISK_IMAGE_MKFS, options, name);
	if (!ftruncate(fd, len) && !system(command))
		map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd,
			   0);
	unlink(name);
	close(fd);
	return map == MAP_FAILED ? NULL : map;
}

#endif
