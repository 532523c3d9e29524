// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Converting libarchive's entries.
 *
 * Numbers that are invalid on Linux are refused and not truncated, so that no
 * file gets another owner than its archive says.
 */
#include "mkfs/tar/tarheader.h"

#include <linux/fs.h>
#include <string.h>
#include <sys/stat.h>

/*
 * libarchive applies the sign of a decimal number to the seconds alone, and
 * adds the fraction to them.
 */
static void set_mtime(const struct libarchive *la, struct archive_entry *e,
		      struct entry *to)
{
	to->mtime = la->archive_entry_mtime(e);
	to->mtime_nsec = (uint32_t)la->archive_entry_mtime_nsec(e);
	if (to->mtime < 0 && to->mtime_nsec) {
		to->mtime--;
		to->mtime_nsec = 1000000000 - to->mtime_nsec;
	}
}

static const char *set_ids(const struct libarchive *la,
			   struct archive_entry *e, struct entry *to)
{
	la_int64_t uid = la->archive_entry_uid(e);
	la_int64_t gid = la->archive_entry_gid(e);

	if (uid < 0 || uid >= UINT32_MAX || gid < 0 || gid >= UINT32_MAX)
		return "invalid owner or group";
	to->uid = (uint32_t)uid;
	to->gid = (uint32_t)gid;
	return NULL;
}

/* Linux has 12 bits of a major number and 20 of a minor one. */
static const char *set_device(const struct libarchive *la,
			      struct archive_entry *e, struct entry *to)
{
	uint64_t major = la->archive_entry_rdevmajor(e);
	uint64_t minor = la->archive_entry_rdevminor(e);

	if (!S_ISCHR(to->mode) && !S_ISBLK(to->mode))
		return NULL;
	if (major >> 12 || minor >> 20)
		return "invalid device number";
	to->major = (uint32_t)major;
	to->minor = (uint32_t)minor;
	return NULL;
}

/* Labels of security belong to the system that runs. */
static void set_losses(const struct libarchive *la, struct archive_entry *e,
		       bool losses[ENTRY_LOSSES])
{
	unsigned long set, clear;
	const void *value;
	const char *name;
	size_t len;

	la->archive_entry_xattr_reset(e);
	while (la->archive_entry_xattr_next(e, &name, &value, &len) ==
	       ARCHIVE_OK) {
		if (!strcmp(name, "security.capability"))
			losses[ENTRY_CAPABILITY] = true;
		else if (!strncmp(name, "system.posix_acl_", 17))
			losses[ENTRY_ACL] = true;
		else if (strncmp(name, "security.", 9) != 0)
			losses[ENTRY_XATTR] = true;
	}
	if (la->archive_entry_acl_count(e, ARCHIVE_ENTRY_ACL_TYPE_POSIX1E |
					   ARCHIVE_ENTRY_ACL_TYPE_NFS4))
		losses[ENTRY_ACL] = true;
	la->archive_entry_fflags(e, &set, &clear);
	if (set & (FS_IMMUTABLE_FL | FS_APPEND_FL))
		losses[ENTRY_FLAGS] = true;
}

const char *tarheader_take(const struct libarchive *la,
			   struct archive_entry *e, struct tarmember *m)
{
	const char *target = la->archive_entry_symlink(e);
	const char *wrong;

	m->entry.mode = (uint16_t)la->archive_entry_mode(e);
	m->entry.target = target ? target : "";
	m->entry.target_len = (uint32_t)strlen(m->entry.target);
	set_mtime(la, e, &m->entry);
	set_losses(la, e, m->losses);
	wrong = set_ids(la, e, &m->entry);
	return wrong ? wrong : set_device(la, e, &m->entry);
}
