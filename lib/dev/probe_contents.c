// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a device or an image file holds, by libblkid.
 *
 * Every signature counts, also where two contradict each other: the question
 * is whether something may be lost, not how to mount it.
 */
#include "config.h"

#include "dev/probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifdef HAVE_LIBBLKID
#include <blkid.h>

static bool look_up(blkid_probe probe, const char *name,
		    char text[PROBE_TEXT_MAX])
{
	const char *value;

	if (blkid_probe_lookup_value(probe, name, &value, NULL))
		return false;
	snprintf(text, PROBE_TEXT_MAX, "%s", value);
	return true;
}

static void describe_contents(blkid_probe probe,
			      struct probe_contents *contents)
{
	contents->kind = PROBE_FOUND;
	if (look_up(probe, "TYPE", contents->type)) {
		look_up(probe, "USAGE", contents->usage);
		look_up(probe, "LABEL", contents->label);
		look_up(probe, "UUID", contents->uuid);
	} else if (look_up(probe, "PTTYPE", contents->type)) {
		look_up(probe, "PTUUID", contents->uuid);
		strcpy(contents->usage, "partition table");
	}
}

/* Byte that the magic number NAME was found at; one without is at the start. */
static uint64_t offset_of(blkid_probe probe, const char *name)
{
	char text[PROBE_TEXT_MAX];

	return look_up(probe, name, text) ? strtoull(text, NULL, 10) : 0;
}

/* Whether the signature that PROBE has come to, CONTENTS, matters. */
static bool is_wanted(blkid_probe probe, const struct probe_except *except,
		      const struct probe_contents *contents)
{
	uint64_t offset;

	if (!strcmp(contents->usage, "partition table"))
		return !except->tables;
	if (except->type && !strcmp(contents->type, except->type))
		return false;
	offset = offset_of(probe, "SBMAGIC_OFFSET");
	return offset < except->from || offset >= except->end;
}

/* Probes signatures: 0 at the first matching one, 1 after the last. */
static int find_contents(blkid_probe probe, const struct probe_except *except,
			 struct probe_contents *contents)
{
	int ret;

	while (!(ret = blkid_do_probe(probe))) {
		memset(contents, 0, sizeof(*contents));
		describe_contents(probe, contents);
		if (is_wanted(probe, except, contents))
			return 0;
	}
	memset(contents, 0, sizeof(*contents));
	return ret;
}

static int probe_file(struct context *cx, const char *path,
		      const struct probe_except *except,
		      struct probe_contents *contents)
{
	blkid_probe probe = blkid_new_probe_from_filename(path);
	int ret;

	if (!probe)
		return fail(cx, errno ? -errno : -EIO, "%s: probe", path);
	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_DEFAULT |
							 BLKID_SUBLKS_USAGE |
							 BLKID_SUBLKS_MAGIC);
	blkid_probe_enable_partitions(probe, 1);
	errno = 0;
	ret = find_contents(probe, except, contents);
	if (ret < 0)
		ret = fail(cx, errno ? -errno : -EIO, "%s: probe", path);
	blkid_free_probe(probe);
	return ret < 0 ? ret : 0;
}
#else
static int probe_file(struct context *cx, const char *path,
		      const struct probe_except *except,
		      struct probe_contents *contents)
{
	(void)cx;
	(void)path;
	(void)except;
	contents->kind = PROBE_UNKNOWN;
	return 0;
}
#endif

int probe_contents_except(struct context *cx, const char *path,
			  const struct probe_except *except,
			  struct probe_contents *contents)
{
	struct stat st;

	memset(contents, 0, sizeof(*contents));
	if (stat(path, &st))
		return fail(cx, -errno, "%s: status", path);
	if (S_ISREG(st.st_mode) && !st.st_size)
		return 0;
	return probe_file(cx, path, except, contents);
}

int probe_contents(struct context *cx, const char *path,
		   struct probe_contents *contents)
{
	static const struct probe_except nothing;

	return probe_contents_except(cx, path, &nothing, contents);
}

/* "an ext4", "an XFS": by how the first letter, or the word, is spoken. */
static const char *article(const char *word)
{
	static const char *const spelled[] = { "f2fs", "hfs", "ntfs", "nilfs" };
	unsigned int i;

	for (i = 0; i < sizeof(spelled) / sizeof(spelled[0]); i++)
		if (!strncmp(word, spelled[i], strlen(spelled[i])))
			return "an";
	return strchr("aeioxAEIOX", *word) ? "an" : "a";
}

const char *probe_contents_text(const struct probe_contents *c,
			   char text[PROBE_DESCRIPTION_MAX])
{
	char label[PROBE_TEXT_MAX + 4] = "";

	if (c->label[0])
		snprintf(label, sizeof(label), " \"%s\"", c->label);
	if (!strcmp(c->usage, "filesystem"))
		snprintf(text, PROBE_DESCRIPTION_MAX, "is %s %s file system%s",
			 article(c->type), c->type, label);
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
