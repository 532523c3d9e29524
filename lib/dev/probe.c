// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The use of a device or an image file, its content, and whether it has zones.
 *
 * A block device is identified by its number, an image file by file system and
 * inode; names are not compared, since one device has many.  An image file is
 * mounted through a loop device, so its loop devices are looked up and then treated
 * as the device itself.  Uses that the kernel does not list (RAID, device mapper,
 * other mount name spaces) are found by an exclusive open.
 *
 * The content is identified by libblkid.  Every signature counts, even if two
 * contradict each other: the purpose is to find data that may be lost, not to mount
 * it.  The zone model is read from sysfs, so that a build without libzbd detects a
 * device that does not accept random writes.
 */
#include "config.h"

#include "dev/probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#ifdef HAVE_LIBBLKID
#include <blkid.h>
#endif

struct search {
	const struct probe_system *system;
	struct probe_use *use;
	struct stat st; /* of the path */
	dev_t device;	/* the device number to search for, or 0 */
};

static void probe_found(struct search *search, enum probe_use_kind kind,
			const char *where, bool read_only)
{
	struct probe_use *use = search->use;

	if (kind < use->kind)
		return;
	/* A mount that is writable somewhere counts as writable. */
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

/* A line of the list of mounts; the texts are in the buffer of the line. */
struct mount_line {
	dev_t device;
	const char *point, *type, *source;
	bool read_only;
};

/* Reads the next mount of FILE into *LINE, a buffer of getline(). */
static bool next_mount(FILE *file, char **line, size_t *room,
		       struct mount_line *m)
{
	char *rest, *point, *source, *options;
	unsigned int maj, min;
	int at;

	/* Lines: id parent major:minor root point ... - type source options */
	while (getline(line, room, file) >= 0) {
		rest = strstr(*line, " - ");
		at = 0;
		if (!rest || sscanf(*line, "%*u %*u %u:%u %*s %n", &maj, &min,
				    &at) != 2 || !at)
			continue;
		source = strchr(rest + 3, ' ');
		options = source ? strchr(source + 1, ' ') : NULL;
		if (!options)
			continue;
		point = *line + at;
		point[strcspn(point, " ")] = '\0';
		*source++ = '\0';
		*options++ = '\0';
		unescape(source);
		unescape(point);
		*m = (struct mount_line){
			.device = makedev(maj, min),
			.point = point,
			.type = rest + 3,
			.source = source,
			.read_only = !strncmp(options, "ro", 2),
		};
		return true;
	}
	return false;
}

/*
 * Searches the lists of swap areas and mounts for the device or file.  A list that
 * cannot be read is ignored: the file may not exist.
 */
static void search_lists(struct search *search)
{
	FILE *file = fopen(search->system->swaps, "re");
	struct mount_line m;
	char *line = NULL, *rest;
	size_t room = 0;

	while (file && getline(&line, &room, file) >= 0) {
		rest = strchr(line, ' ');
		if (!rest || line[0] != '/')
			continue;
		*rest = '\0';
		unescape(line);
		if (is_same_file(search, line))
			probe_found(search, PROBE_SWAP, "", false);
	}
	if (file)
		fclose(file);
	file = fopen(search->system->mountinfo, "re");
	while (file && next_mount(file, &line, &room, &m)) {
		/* Some file systems have a device number of their own, but list the
		   device as source. */
		if (m.device == search->device ||
		    (m.source[0] == '/' && is_same_file(search, m.source)))
			probe_found(search, PROBE_MOUNTED, m.point, m.read_only);
	}
	if (file)
		fclose(file);
	free(line);
}

bool probe_line(char *buf, int size, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	FILE *file;
	bool good;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	file = fopen(path, "re");
	if (!file)
		return false;
	good = fgets(buf, size, file);
	fclose(file);
	if (good)
		buf[strcspn(buf, "\n")] = '\0';
	return good;
}

bool probe_is_claimed(const char *path)
{
	int fd = open(path, O_RDONLY | O_EXCL | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd < 0 && errno == EBUSY;
}

int probe_mounted(struct context *cx, const char *path,
		  const struct probe_system *system, struct probe_use *use)
{
	static const struct probe_system running = {
		.mountinfo = "/proc/self/mountinfo",
		.swaps = "/proc/swaps",
		.sys_block = "/sys/block",
	};
	struct search search = { .use = use };
	char text[PATH_MAX], name[PROBE_TEXT_MAX + 8];
	unsigned int maj, min;
	struct dirent *entry;
	struct search loop;
	DIR *dir;

	memset(use, 0, sizeof(*use));
	search.system = system = system ? system : &running;
	if (stat(path, &search.st))
		return fail(cx, -errno, "%s: status", path);
	if (S_ISBLK(search.st.st_mode)) {
		search.device = search.st.st_rdev;
		if (probe_is_claimed(path))
			probe_found(&search, PROBE_CLAIMED, "", false);
	}
	search_lists(&search);
	dir = opendir(system->sys_block);
	while (dir && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, "loop", 4) ||
		    !probe_line(text, sizeof(text), "%s/%s/loop/backing_file",
				system->sys_block, entry->d_name) ||
		    !is_same_file(&search, text))
			continue;
		snprintf(name, sizeof(name), "/dev/%s", entry->d_name);
		probe_found(&search, PROBE_LOOP, name, false);
		if (!probe_line(text, sizeof(text), "%s/%s/dev",
				system->sys_block, entry->d_name) ||
		    sscanf(text, "%u:%u", &maj, &min) != 2)
			continue;
		loop = search;
		loop.device = makedev(maj, min);
		search_lists(&loop);
	}
	if (dir)
		closedir(dir);
	return 0;
}

bool probe_mount(dev_t device, struct probe_mount *mount)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	struct mount_line m;
	bool found = false;
	size_t room = 0;
	struct stat st;

	memset(mount, 0, sizeof(*mount));
	mount->read_only = true;
	while (file && next_mount(file, &line, &room, &m)) {
		if (m.device != device)
			continue;
		found = true;
		mount->read_only &= m.read_only;
		snprintf(mount->type, sizeof(mount->type), "%s", m.type);
		/* The name may be of another name space. */
		if (!stat(m.source, &st) && S_ISBLK(st.st_mode) &&
		    st.st_rdev == device)
			snprintf(mount->source, sizeof(mount->source), "%s",
				 m.source);
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

int probe_zoned(struct context *cx, const char *path,
		enum probe_zone_model *model)
{
	/* A partition has no queue; the queue of its disk is one directory up. */
	static const char *const places[] = {"queue", "../queue"};
	bool found_file = false;
	char text[32] = "";
	struct stat st;
	size_t i;

	*model = PROBE_ZONES_NONE;
	if (stat(path, &st))
		return fail(cx, -errno, "%s: status", path);
	for (i = 0; S_ISBLK(st.st_mode) && i < 2 && !found_file; i++)
		found_file = probe_line(text, sizeof(text),
					"/sys/dev/block/%u:%u/%s/zoned",
					major(st.st_rdev), minor(st.st_rdev),
					places[i]);
	if (!strncmp(text, "host-managed", 12))
		*model = PROBE_ZONES_HOST_MANAGED;
	else if (!strncmp(text, "host-aware", 10))
		*model = PROBE_ZONES_HOST_AWARE;
	return 0;
}

#ifdef HAVE_LIBBLKID
/* Gets the value NAME of the current signature of PROBE. */
static bool probe_look_up(blkid_probe probe, const char *name,
			  char text[PROBE_TEXT_MAX])
{
	const char *value;

	if (blkid_probe_lookup_value(probe, name, &value, NULL))
		return false;
	snprintf(text, PROBE_TEXT_MAX, "%s", value);
	return true;
}

#endif

int probe_contents(struct context *cx, const char *path,
		   const struct probe_except *except,
		   struct probe_contents *contents)
{
#ifdef HAVE_LIBBLKID
	const struct probe_except all = { .type = NULL };
	char text[PROBE_TEXT_MAX];
	blkid_probe probe;
	uint64_t offset;
	int ret;
#endif
	struct stat st;

	memset(contents, 0, sizeof(*contents));
	if (stat(path, &st))
		return fail(cx, -errno, "%s: status", path);
	if (S_ISREG(st.st_mode) && !st.st_size)
		return 0;
#ifdef HAVE_LIBBLKID
	if (!except)
		except = &all;
	probe = blkid_new_probe_from_filename(path);
	if (!probe)
		return fail(cx, errno ? -errno : -EIO, "%s: probe", path);
	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_DEFAULT |
							 BLKID_SUBLKS_USAGE |
							 BLKID_SUBLKS_MAGIC);
	blkid_probe_enable_partitions(probe, 1);
	errno = 0;
	while (!(ret = blkid_do_probe(probe))) {
		memset(contents, 0, sizeof(*contents));
		contents->kind = PROBE_FOUND;
		if (probe_look_up(probe, "TYPE", contents->type)) {
			probe_look_up(probe, "USAGE", contents->usage);
			probe_look_up(probe, "LABEL", contents->label);
			probe_look_up(probe, "UUID", contents->uuid);
		} else if (probe_look_up(probe, "PTTYPE", contents->type)) {
			probe_look_up(probe, "PTUUID", contents->uuid);
			strcpy(contents->usage, "partition table");
		}
		if (!strcmp(contents->usage, "partition table")) {
			if (except->tables)
				continue;
			break;
		}
		if (except->type && !strcmp(contents->type, except->type))
			continue;
		/* A signature without a magic number is at the start. */
		offset = probe_look_up(probe, "SBMAGIC_OFFSET", text) ?
				 strtoull(text, NULL, 10) : 0;
		if (offset < except->from || offset >= except->end)
			break;
	}
	if (ret)
		memset(contents, 0, sizeof(*contents));
	if (ret < 0)
		ret = fail(cx, errno ? -errno : -EIO, "%s: probe", path);
	blkid_free_probe(probe);
	return ret < 0 ? ret : 0;
#else
	(void)except;
	contents->kind = PROBE_UNKNOWN;
	return 0;
#endif
}

const char *probe_contents_text(const struct probe_contents *c,
			   char text[PROBE_DESCRIPTION_MAX])
{
	/* "an ext4", "an XFS": by the pronunciation of the first letter or the word. */
	static const char *const spelled[] = { "f2fs", "hfs", "ntfs", "nilfs" };
	bool vowel = strchr("aeioxAEIOX", *c->type);
	char label[PROBE_TEXT_MAX + 4] = "";
	unsigned int i;

	for (i = 0; i < sizeof(spelled) / sizeof(spelled[0]); i++)
		vowel |= !strncmp(c->type, spelled[i], strlen(spelled[i]));
	if (c->label[0])
		snprintf(label, sizeof(label), " \"%s\"", c->label);
	if (!strcmp(c->usage, "filesystem"))
		snprintf(text, PROBE_DESCRIPTION_MAX, "is %s %s file system%s",
			 vowel ? "an" : "a", c->type, label);
	else if (!strcmp(c->usage, "partition table"))
		snprintf(text, PROBE_DESCRIPTION_MAX,
			 "has a partition table (%s)", c->type);
	else if (!strcmp(c->type, "swap"))
		snprintf(text, PROBE_DESCRIPTION_MAX, "is a swap area%s",
			 label);
	else
		snprintf(text, PROBE_DESCRIPTION_MAX, "is %s (%s)%s",
			 !strcmp(c->usage, "crypto") ? "encrypted" :
			 !strcmp(c->usage, "raid") ?
				 "part of a RAID or volume group" :
				 "in use for something else",
			 c->type, label);
	return text;
}
