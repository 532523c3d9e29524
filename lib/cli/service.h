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

/*
 * The path of NAME in the directory of state that is lost with a reboot: that of the
 * service by systemd.exec(5) (RUNTIME_DIRECTORY), or /run/FOLDER.
 */
void service_runtime_path(char *path, size_t size, const char *folder,
			  const char *name);

/* Seconds since 1970, now. */
int64_t service_now(void);

#endif
