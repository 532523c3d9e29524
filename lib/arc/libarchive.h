/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libarchive, loaded when it is first needed.
 *
 * It depends on a dozen libraries.  Linking it would cost every command of the tool two
 * milliseconds at its start, but only commands for archives need it.
 */
#ifndef NILFS2_ARC_LIBARCHIVE_H
#define NILFS2_ARC_LIBARCHIVE_H

#include <archive.h>
#include <archive_entry.h>

#include "base/context.h"

/* The functions that are used. */
#define LIBARCHIVE_FUNCTIONS(F)                                             \
	F(archive_entry_acl_count)                                          \
	F(archive_entry_fflags)                                             \
	F(archive_entry_free)                                               \
	F(archive_entry_gid)                                                \
	F(archive_entry_hardlink)                                           \
	F(archive_entry_mode)                                               \
	F(archive_entry_mtime)                                              \
	F(archive_entry_mtime_nsec)                                         \
	F(archive_entry_new)                                                \
	F(archive_entry_pathname)                                           \
	F(archive_entry_rdevmajor)                                          \
	F(archive_entry_rdevminor)                                          \
	F(archive_entry_set_filetype)                                       \
	F(archive_entry_size)                                               \
	F(archive_entry_sparse_next)                                        \
	F(archive_entry_sparse_reset)                                       \
	F(archive_entry_symlink)                                            \
	F(archive_entry_uid)                                                \
	F(archive_entry_xattr_next)                                         \
	F(archive_entry_xattr_reset)                                        \
	F(archive_errno)                                                    \
	F(archive_error_string)                                             \
	F(archive_filter_bytes)                                             \
	F(archive_read_data)                                                \
	F(archive_read_data_block)                                          \
	F(archive_read_data_skip)                                           \
	F(archive_read_free)                                                \
	F(archive_read_new)                                                 \
	F(archive_read_next_header)                                         \
	F(archive_read_open)                                                \
	F(archive_read_support_filter_bzip2)                                \
	F(archive_read_support_filter_compress)                             \
	F(archive_read_support_filter_gzip)                                 \
	F(archive_read_support_filter_lz4)                                  \
	F(archive_read_support_filter_lzip)                                 \
	F(archive_read_support_filter_lzma)                                 \
	F(archive_read_support_filter_xz)                                   \
	F(archive_read_support_filter_zstd)                                 \
	F(archive_read_support_format_empty)                                \
	F(archive_read_support_format_raw)                                  \
	F(archive_read_support_format_tar)                                  \
	F(archive_set_error)                                                \
	F(archive_write_add_filter_by_name)                                 \
	F(archive_write_close)                                              \
	F(archive_write_data)                                               \
	F(archive_write_free)                                               \
	F(archive_write_header)                                             \
	F(archive_write_new)                                                \
	F(archive_write_open)                                               \
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
 * Loads the library that the tool was built for.  -EOPNOTSUPP if it is not installed.
 * Must not be closed while any of it is in use.
 */
int libarchive_open(struct libarchive *la, struct context *cx);

/* Accepts a structure that is all zero. */
void libarchive_close(struct libarchive *la);

#endif
