/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A tool that stays, as a service of systemd or by itself. */
#ifndef NILFS2_CLI_SERVICE_H
#define NILFS2_CLI_SERVICE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sends STATE, lines such as "READY=1" and "STATUS=...", to the manager that has
 * started the process, if it wants such: the protocol of sd_notify(3).
 */
void service_notify(const char *state);

/* Directories of state. */
enum service_directory {
	SERVICE_RUNTIME,	/* lost with a reboot: RUNTIME_DIRECTORY, or /run/FOLDER */
	SERVICE_STATE,		/* STATE_DIRECTORY, or /var/lib/FOLDER */
};

/*
 * The path of NAME in DIRECTORY: that of the service by systemd.exec(5), which the
 * environment has, or that of FOLDER.
 */
void service_path(char *path, size_t size, enum service_directory directory,
		  const char *folder, const char *name);

/* Seconds since 1970, now. */
int64_t service_now(void);

#endif
