// SPDX-License-Identifier: GPL-2.0-or-later
/* Who uses an image file and what it holds, tested with files we wrote. */
#include "config.h"

#include "dev/probe.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(text, file) < 0 || fclose(file))
		ok(false, "write of %s", path);
}

/* The kind of use of "image" when the system's files are those written. */
static enum probe_use_kind ask(struct probe_use *use)
{
	static const struct probe_system fake = {"mountinfo", "swaps", "sys"};
	struct context cx;

	context_init(&cx);
	is_int(probe_mounted(&cx, "image", &fake, use), 0, "asked");
	return use->kind;
}

static void make_loop(const char *name, const char *file, const char *number)
{
	char path[256], real[PATH_MAX];

	snprintf(path, sizeof(path), "mkdir -p sys/%s/loop", name);
	is_int(system(path), 0, name);
	snprintf(path, sizeof(path), "sys/%s/dev", name);
	write_file(path, number);
	snprintf(path, sizeof(path), "sys/%s/loop/backing_file", name);
	write_file(path, realpath(file, real) ? real : file);
}

static void test_use(void)
{
	char real[PATH_MAX], line[PATH_MAX + 64];
	struct probe_use use;

	write_file("image", "something");
	write_file("other", "something else");
	is_int(ask(&use), PROBE_UNUSED, "without any lists: not in use");
	make_loop("loop1", "other", "7:1\n");
	write_file("mountinfo",
		   "22 27 0:21 / /proc rw - proc proc rw\n"
		   "nonsense\n"
		   "40 27 7:1 / /mnt/one rw - ext4 /dev/loop1 rw\n");
	is_int(ask(&use), PROBE_UNUSED, "another file's loop device");

	make_loop("loop3", "image", "7:3\n");
	is_int(ask(&use), PROBE_LOOP, "behind a loop device");
	is_str(use.where, "/dev/loop3", "which is named");

	write_file("mountinfo",
		   "40 27 7:1 / /mnt/one rw - ext4 /dev/loop1 rw\n"
		   "41 27 7:3 / /mnt/a\\040b rw,noatime shared:1 - nilfs2 "
		   "/dev/loop3 ro,x\n");
	is_int(ask(&use), PROBE_MOUNTED, "mounted by way of it");
	is_str(use.where, "/mnt/a b", "with the mount point");
	ok(use.read_only, "the file system is read-only");

	write_file("mountinfo", "41 27 7:3 / /mnt/x ro - nilfs2 /dev/loop3 rw\n"
				"42 27 7:3 / /mnt/y ro - nilfs2 /dev/loop3 ro");
	is_int(ask(&use), PROBE_MOUNTED, "mounted twice");
	is_str(use.where, "/mnt/x", "the writable one counts");
	ok(!use.read_only, "whatever a bind mount allows");

	is_int(unlink("mountinfo"), 0, "no mounts");
	snprintf(line, sizeof(line),
		 "Filename\tType\tSize\tUsed\tPriority\n%s file 1 0 -2\n",
		 realpath("image", real) ? real : "");
	write_file("swaps", line);
	is_int(ask(&use), PROBE_SWAP, "swapped to");
}

static void test_running_system(void)
{
	struct probe_use use;
	enum probe_zone_model model;
	struct context cx;

	context_init(&cx);
	is_int(probe_mounted(&cx, "image", NULL, &use), 0, "the running system");
	is_int(use.kind, PROBE_UNUSED, "does not use our file");
	is_int(probe_mounted(&cx, "absent", NULL, &use), -ENOENT, "no such file");
	ok(strstr(cx.failure, "absent"), "is named");
	is_int(probe_zoned(&cx, "image", &model), 0, "an image file");
	is_int(model, PROBE_ZONES_NONE, "has no zones");
	is_int(probe_zoned(&cx, "absent", &model), -ENOENT, "zones of nothing");
}

/* A swap area: signature at the end of page 0, version 1, pages, UUID, label.
 */
static void write_swap(const char *path)
{
	unsigned char page[65536];
	FILE *file = fopen(path, "w");

	memset(page, 0, sizeof(page));
	memcpy(page + 4086, "SWAPSPACE2", 10);
	page[1024] = 1;
	page[1028] = 15;
	memcpy(page + 1036,
	       "\x01\x23\x45\x67\x89\xab\x4d\xef\x81\x23\x45\x67"
	       "\x89\xab\xcd\xef",
	       16);
	memcpy(page + 1052, "room", 4);
	if (!file || fwrite(page, sizeof(page), 1, file) != 1 || fclose(file))
		ok(false, "write of %s", path);
}

static void test_contents(void)
{
	struct probe_contents contents;
	struct context cx;

	context_init(&cx);
	is_int(probe_contents(&cx, "absent", NULL, &contents), -ENOENT, "no file");
	write_file("empty", "");
	is_int(probe_contents(&cx, "empty", NULL, &contents), 0, "an empty file");
	is_int(contents.kind, PROBE_NOTHING, "holds nothing");
	write_swap("swap");
	is_int(probe_contents(&cx, "swap", NULL, &contents), 0, "a swap area");
#ifdef HAVE_LIBBLKID
	is_int(contents.kind, PROBE_FOUND, "is found");
	is_str(contents.usage, "other", "as something else than files");
	is_str(contents.type, "swap", "by its type");
	is_str(contents.label, "room", "with its label");
	is_str(contents.uuid, "01234567-89ab-4def-8123-456789abcdef",
	       "and its UUID");
	is_int(probe_contents(&cx, "image", NULL, &contents), 0, "nine bytes");
	is_int(contents.kind, PROBE_NOTHING, "hold nothing known");
#else
	is_int(contents.kind, PROBE_UNKNOWN, "is not known without libblkid");
#endif
}

int main(void)
{
	char dir[] = "t_dev_probe.XXXXXX", command[64];

	if (!ok(mkdtemp(dir) && !chdir(dir), "a directory for files"))
		return tap_done();
	test_use();
	test_running_system();
	test_contents();
	snprintf(command, sizeof(command), "cd .. && rm -rf %s", dir);
	is_int(system(command), 0, "cleaned up");
	return tap_done();
}
