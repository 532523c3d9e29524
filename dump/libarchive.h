/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libarchive, loaded when it is first needed.
 *
 * It brings a dozen libraries with it, which would cost every command of the
 * tool two milliseconds at its start, for the sake of one that compresses.
 */
#ifndef NILFS2_DUMP_LIBARCHIVE_H
#define NILFS2_DUMP_LIBARCHIVE_H

#include <archive.h>
#include <archive_entry.h>

#include "base/context.h"

/* What is used of it, by name. */
#define LIBARCHIVE_FUNCTIONS(F)                                             \
	F(archive_entry_free)                                               \
	F(archive_entry_new)                                                \
	F(archive_entry_set_filetype)                                       \
	F(archive_errno)                                                    \
	F(archive_error_string)                                             \
	F(archive_write_add_filter_by_name)                                 \
	F(archive_write_close)                                              \
	F(archive_write_data)                                               \
	F(archive_write_fail)                                               \
	F(archive_write_free)                                               \
	F(archive_write_header)                                             \
	F(archive_write_new)                                                \
	F(archive_write_open_fd)                                            \
	F(archive_write_set_bytes_in_last_block)                            \
	F(archive_write_set_filter_option)                                  \
	F(archive_write_set_format_raw)

struct libarchive {
	void *handle;
#define LIBARCHIVE_MEMBER(name) __typeof__(name) *name;
	LIBARCHIVE_FUNCTIONS(LIBARCHIVE_MEMBER)
#undef LIBARCHIVE_MEMBER
};

/*
 * Loads the library that the tool was built against.  -EOPNOTSUPP where it is
 * not installed.  Close it once nothing of it is in use.
 */
int libarchive_open(struct libarchive *la, struct context *cx);

/* Also of a structure that is all zero. */
void libarchive_close(struct libarchive *la);

#endif
