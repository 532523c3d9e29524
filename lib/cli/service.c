// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Services of systemd: notification and directories of state.
 *
 * The protocol of sd_notify(3) is one datagram to a socket that the environment names,
 * and is documented for programs that do not link with libsystemd.
 */
#include "config.h"

#include "cli/service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

void service_notify(const char *state)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	size_t len = path ? strlen(path) : 0;
	int fd;

	if (!len || len >= sizeof(to.sun_path))
		return;
	memcpy(to.sun_path, path, len);
	/* An abstract name. */
	if (to.sun_path[0] == '@')
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	/* The service continues if its manager has exited. */
	if (sendto(fd, state, strlen(state), MSG_NOSIGNAL,
		   (struct sockaddr *)&to,
		   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)) < 0)
		errno = 0;
	close(fd);
}

void service_path(char *path, size_t size, enum service_directory directory,
		  const char *folder, const char *name)
{
	const char *dir = getenv(directory == SERVICE_STATE ? "STATE_DIRECTORY" :
							      "RUNTIME_DIRECTORY");

	if (dir && *dir)
		snprintf(path, size, "%s/%s", dir, name);
	else
		snprintf(path, size, "%s/%s/%s", directory == SERVICE_STATE ?
			 "/var/lib" : "/run", folder, name);
}

int64_t service_now(void)
{
	return time(NULL);
}
