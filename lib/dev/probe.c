// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Who uses a device or an image file.
 *
 * A block device is known by its number, an image file by file system and
 * inode; names are not compared, for one device has many.  An image file is
 * mounted by way of a loop device, so its loop devices are looked up and then
 * treated as the device itself.  What the kernel does not list (RAID, device
 * mapper, other mount name spaces) is found by asking for an exclusive open.
 */
#include "config.h"

#include "dev/probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

struct search {
	const struct probe_system *system;
	struct probe_use *use;
	struct stat st; /* of the path */
	dev_t device;	/* the device number looked for, or 0 */
};

static void found(struct search *search, enum probe_use_kind kind,
		  const char *where, bool read_only)
{
	struct probe_use *use = search->use;

	if (kind < use->kind)
		return;
	/* Writable somewhere is writable. */
	if (kind == use->kind && read_only)
		return;
	use->kind = kind;
	use->read_only = read_only;
	snprintf(use->where, sizeof(use->where), "%.*s", PROBE_TEXT_MAX - 1,
		 where);
}

static bool is_same_file(const struct search *search, const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return false;
	if (S_ISBLK(st.st_mode))
		return search->device && st.st_rdev == search->device;
	return st.st_dev == search->st.st_dev && st.st_ino == search->st.st_ino;
}

/* Undoes the kernel's octal escapes of blanks and backslashes in place. */
static void unescape(char *text)
{
	char *to = text;

	while (*text) {
		if (text[0] == '\\' && strspn(text + 1, "01234567") >= 3) {
			*to++ = (char)((text[1] - '0') * 64 +
				       (text[2] - '0') * 8 + text[3] - '0');
			text += 4;
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
}

/* The word of LINE with this number, from 0; LINE is cut up. */
static char *word(char *line, unsigned int number)
{
	char *saved = NULL, *found_word = strtok_r(line, " \n", &saved);

	while (number-- && found_word)
		found_word = strtok_r(NULL, " \n", &saved);
	return found_word;
}

/* One line: id parent major:minor root point ... - type source options */
static void mount_line(struct search *search, char *line)
{
	char *rest = strstr(line, " - "), *point, *source, *options;
	unsigned int maj, min;

	if (!rest || sscanf(line, "%*u %*u %u:%u", &maj, &min) != 2)
		return;
	*rest = '\0';
	rest += 3;
	options = strrchr(rest, ' ');
	if (!options)
		return;
	*options++ = '\0';
	point = word(line, 4);
	source = word(rest, 1);
	if (!point || !source)
		return;
	unescape(source);
	/* Some file systems have a number of their own, but name the device. */
	if (makedev(maj, min) != search->device &&
	    !(source[0] == '/' && is_same_file(search, source)))
		return;
	unescape(point);
	found(search, PROBE_MOUNTED, point, !strncmp(options, "ro", 2));
}

static void swap_line(struct search *search, char *line)
{
	char *end = strchr(line, ' ');

	if (!end || line[0] != '/')
		return;
	*end = '\0';
	unescape(line);
	if (is_same_file(search, line))
		found(search, PROBE_SWAP, "", false);
}

/* A list that cannot be read says nothing: the file may be absent. */
static void each_line(struct search *search, const char *path,
		      void (*fn)(struct search *search, char *line))
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;

	if (!file)
		return;
	while (getline(&line, &room, file) >= 0)
		fn(search, line);
	free(line);
	fclose(file);
}

static void search_lists(struct search *search)
{
	each_line(search, search->system->swaps, swap_line);
	each_line(search, search->system->mountinfo, mount_line);
}

static bool read_attribute(const struct search *search, const char *name,
			   const char *attribute, char *buf, int size)
{
	char path[PROBE_TEXT_MAX + 64];
	FILE *file;
	bool good;

	snprintf(path, sizeof(path), "%s/%s/%s", search->system->sys_block,
		 name, attribute);
	file = fopen(path, "re");
	if (!file)
		return false;
	good = fgets(buf, size, file);
	fclose(file);
	if (good)
		buf[strcspn(buf, "\n")] = '\0';
	return good;
}

static void loop_device(struct search *search, const char *name)
{
	char text[4096], device[PROBE_TEXT_MAX + 8];
	struct search behind = *search;
	unsigned int maj, min;

	if (!read_attribute(search, name, "loop/backing_file", text,
			    sizeof(text)) ||
	    !is_same_file(search, text))
		return;
	snprintf(device, sizeof(device), "/dev/%s", name);
	found(search, PROBE_LOOP, device, false);
	if (!read_attribute(search, name, "dev", text, sizeof(text)) ||
	    sscanf(text, "%u:%u", &maj, &min) != 2)
		return;
	behind.device = makedev(maj, min);
	search_lists(&behind);
}

static void search_loop_devices(struct search *search)
{
	DIR *dir = opendir(search->system->sys_block);
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (!strncmp(entry->d_name, "loop", 4))
			loop_device(search, entry->d_name);
	closedir(dir);
}

bool probe_is_claimed(const char *path)
{
	int fd = open(path, O_RDONLY | O_EXCL | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd < 0 && errno == EBUSY;
}

int probe_mounted_on(struct context *cx, const char *path,
		     const struct probe_system *system, struct probe_use *use)
{
	struct search search = {.system = system, .use = use};

	memset(use, 0, sizeof(*use));
	if (stat(path, &search.st))
		return fail(cx, -errno, "%s: status", path);
	if (S_ISBLK(search.st.st_mode)) {
		search.device = search.st.st_rdev;
		if (probe_is_claimed(path))
			found(&search, PROBE_CLAIMED, "", false);
	}
	search_lists(&search);
	search_loop_devices(&search);
	return 0;
}

int probe_mounted(struct context *cx, const char *path, struct probe_use *use)
{
	static const struct probe_system running = {
		.mountinfo = "/proc/self/mountinfo",
		.swaps = "/proc/swaps",
		.sys_block = "/sys/block",
	};

	return probe_mounted_on(cx, path, &running, use);
}

/*
 * Whether a device has zones, and of what kind.
 *
 * The model comes from the kernel's own files, so that a build without libzbd
 * still knows a device that it must not write to at random.
 */

static enum probe_zone_model model_of(const char *text)
{
	if (!strncmp(text, "host-managed", 12))
		return PROBE_ZONES_HOST_MANAGED;
	if (!strncmp(text, "host-aware", 10))
		return PROBE_ZONES_HOST_AWARE;
	return PROBE_ZONES_NONE;
}

/* A partition has no queue of its own: its disk's is one folder up. */
static enum probe_zone_model read_model(dev_t device)
{
	static const char *const places[] = {"queue", "../queue"};
	char path[128], text[32];
	FILE *file = NULL;
	size_t i;

	for (i = 0; i < 2 && !file; i++) {
		snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/%s/zoned",
			 major(device), minor(device), places[i]);
		file = fopen(path, "re");
	}
	if (!file)
		return PROBE_ZONES_NONE;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	return model_of(text);
}

int probe_zoned(struct context *cx, const char *path,
		enum probe_zone_model *model)
{
	struct stat st;

	*model = PROBE_ZONES_NONE;
	if (stat(path, &st))
		return fail(cx, -errno, "%s: status", path);
	if (S_ISBLK(st.st_mode))
		*model = read_model(st.st_rdev);
	return 0;
}
