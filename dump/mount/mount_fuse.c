// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Serving the files of a mount to the kernel by libfuse.
 *
 * One thread answers the requests one by one, as only one thread at a time may use
 * a volume; another thread stores files in the cache of the kernel ahead of its
 * requests.  Nothing changes while it is mounted, so the kernel may keep all
 * answers.  Open files have no state, so the kernel need not open them.
 */
#include "dump/mount/mount_fuse.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "dump/mount/mount_ahead.h"
#include "dump/mount/mountattr.h"

#define FUSE_USE_VERSION 35
#include <fuse_lowlevel.h>

/* Seconds: until it is unmounted. */
#define FOREVER 1e9

struct mount_fuse {
	struct tool *tool;
	struct mountfs *fs;
	struct fuse_session *session;
	struct mount_ahead *ahead;
	bool no_open, no_opendir;
	char target[SYMLINK_TARGET_MAX + 1];
};

/* Damage of the volume is EIO, and printed on standard error. */
static void reply_error(fuse_req_t req, int err)
{
	struct mount_fuse *m = fuse_req_userdata(req);

	switch (err) {
	case -ENOENT:
	case -ENOTDIR:
	case -ENODATA:
	case -ENXIO:
	case -EINVAL:
	case -EINTR:
		break;
	case -ENOMEM:
	case -ENOBUFS:
		err = -ENOMEM;
		break;
	default:
		tool_failed(m->tool, NULL, err);
		err = -EIO;
	}
	fuse_reply_err(req, -err);
	fail_clear(&m->tool->cx);
}

static void mount_init(void *arg, struct fuse_conn_info *conn)
{
	struct mount_fuse *m = arg;

	/* Most programs that list a directory need the attributes as well. */
	conn->want &= ~(unsigned int)FUSE_CAP_READDIRPLUS_AUTO;
	conn->want |= conn->capable & FUSE_CAP_CACHE_SYMLINKS;
	m->no_open = conn->capable & FUSE_CAP_NO_OPEN_SUPPORT;
	m->no_opendir = conn->capable & FUSE_CAP_NO_OPENDIR_SUPPORT;
}

static struct fuse_entry_param entry_of(uint64_t node, const struct stat *st)
{
	return (struct fuse_entry_param){
		.ino = node,
		.attr = *st,
		.attr_timeout = FOREVER,
		.entry_timeout = FOREVER,
	};
}

static void mount_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct mount_fuse *m = fuse_req_userdata(req);
	struct fuse_entry_param entry;
	struct stat st = { 0 };
	uint64_t node = 0;
	int err = mountfs_lookup(m->fs, &m->tool->cx, parent, name, &node, &st);

	/* With node 0 the kernel keeps the answer that the name does not exist. */
	if (err == -ENOENT) {
		fail_clear(&m->tool->cx);
		node = 0;
	} else if (err) {
		reply_error(req, err);
		return;
	}
	entry = entry_of(node, &st);
	fuse_reply_entry(req, &entry);
}

static void mount_getattr(fuse_req_t req, fuse_ino_t node,
			  struct fuse_file_info *info)
{
	struct mount_fuse *m = fuse_req_userdata(req);
	struct stat st;
	int err = mountfs_stat(m->fs, &m->tool->cx, node, &st);

	(void)info;
	if (err)
		reply_error(req, err);
	else
		fuse_reply_attr(req, &st, FOREVER);
}

static void mount_readlink(fuse_req_t req, fuse_ino_t node)
{
	struct mount_fuse *m = fuse_req_userdata(req);
	int err = mountfs_readlink(m->fs, &m->tool->cx, node, m->target);

	if (err)
		reply_error(req, err);
	else
		fuse_reply_readlink(req, m->target);
}

/* With NONE, replies that the kernel need not open files: NO_OPEN_SUPPORT. */
static void reply_open(fuse_req_t req, struct fuse_file_info *info, bool none)
{
	info->keep_cache = 1;
	info->cache_readdir = 1;
	if (none)
		fuse_reply_err(req, ENOSYS);
	else
		fuse_reply_open(req, info);
}

static void mount_open(fuse_req_t req, fuse_ino_t node,
		       struct fuse_file_info *info)
{
	const struct mount_fuse *m = fuse_req_userdata(req);

	(void)node;
	reply_open(req, info, m->no_open);
}

static void mount_opendir(fuse_req_t req, fuse_ino_t node,
			  struct fuse_file_info *info)
{
	const struct mount_fuse *m = fuse_req_userdata(req);

	(void)node;
	reply_open(req, info, m->no_opendir);
}

static void mount_read(fuse_req_t req, fuse_ino_t node, size_t size,
		       off_t offset, struct fuse_file_info *info)
{
	struct mount_fuse *m = fuse_req_userdata(req);
	const char *bytes;
	size_t got;
	int err;

	(void)info;
	mount_ahead_asked(m->ahead, node);
	err = mountfs_read(m->fs, &m->tool->cx, node, (uint64_t)offset, size,
			   &bytes, &got);
	mount_ahead_wait(m->ahead, node);
	if (err) {
		reply_error(req, err);
		return;
	}
	fuse_reply_buf(req, got ? bytes : NULL, got);
	mount_ahead_answered(m->ahead);
}

/* Fails if the kernel has dropped the file, which does not matter. */
static void store_file(void *arg, uint64_t node, char *bytes, size_t len)
{
	const struct mount_fuse *m = arg;
	struct fuse_bufvec content = FUSE_BUFVEC_INIT(len);

	content.buf[0].mem = bytes;
	fuse_lowlevel_notify_store(m->session, node, 0, &content, 0);
}

struct listing {
	fuse_req_t req;
	bool attributes;
	char *bytes;
	size_t used, room;
};

static int take_entry(void *arg, const struct mountfs_entry *from)
{
	struct listing *l = arg;
	struct fuse_entry_param entry = entry_of(from->node, &from->st);
	char *at = l->bytes + l->used;
	size_t room = l->room - l->used, len;
	const struct mount_fuse *m = fuse_req_userdata(l->req);

	len = l->attributes ?
		      fuse_add_direntry_plus(l->req, at, room, from->name,
					     &entry, (off_t)from->next) :
		      fuse_add_direntry(l->req, at, room, from->name,
					&from->st, (off_t)from->next);
	if (len > room)
		return 1;
	l->used += len;
	if (l->attributes)
		mount_ahead_listed(m->ahead, from->node, &from->st);
	return 0;
}

static void list_directory(fuse_req_t req, fuse_ino_t node, size_t size,
			   off_t offset, bool attributes)
{
	struct mount_fuse *m = fuse_req_userdata(req);
	struct listing l = {
		.req = req,
		.attributes = attributes,
		.bytes = malloc(size),
		.room = size,
	};
	int err = l.bytes ? mountfs_list(m->fs, &m->tool->cx, node,
					 (uint64_t)offset, take_entry, &l) :
			    -ENOMEM;

	if (err)
		reply_error(req, err);
	else
		fuse_reply_buf(req, l.bytes, l.used);
	free(l.bytes);
}

static void mount_readdir(fuse_req_t req, fuse_ino_t node, size_t size,
			  off_t offset, struct fuse_file_info *info)
{
	(void)info;
	list_directory(req, node, size, offset, false);
}

static void mount_readdirplus(fuse_req_t req, fuse_ino_t node, size_t size,
			      off_t offset, struct fuse_file_info *info)
{
	(void)info;
	list_directory(req, node, size, offset, true);
}

static void mount_statfs(fuse_req_t req, fuse_ino_t node)
{
	struct mount_fuse *m = fuse_req_userdata(req);
	struct statvfs st;
	int err = mountfs_statfs(m->fs, &m->tool->cx, &st);

	(void)node;
	if (err)
		reply_error(req, err);
	else
		fuse_reply_statfs(req, &st);
}

/* Replies LEN bytes for a buffer of SIZE; with SIZE 0 the length. */
static void reply_bytes(fuse_req_t req, const char *bytes, size_t len,
			size_t size)
{
	if (!size)
		fuse_reply_xattr(req, len);
	else if (len > size)
		fuse_reply_err(req, ERANGE);
	else
		fuse_reply_buf(req, bytes, len);
}

static void mount_getxattr(fuse_req_t req, fuse_ino_t node, const char *name,
			   size_t size)
{
	struct mount_fuse *m = fuse_req_userdata(req);
	char *value;
	size_t len;
	int err = mountattr_get(m->fs, &m->tool->cx, node, name, &value, &len);

	if (err)
		reply_error(req, err);
	else
		reply_bytes(req, value, len, size);
	free(value);
}

static void mount_listxattr(fuse_req_t req, fuse_ino_t node, size_t size)
{
	struct mount_fuse *m = fuse_req_userdata(req);
	const char *list;
	size_t len;
	int err = mountattr_list(m->fs, &m->tool->cx, node, &list, &len);

	if (err)
		reply_error(req, err);
	else
		reply_bytes(req, list, len, size);
}

static void mount_lseek(fuse_req_t req, fuse_ino_t node, off_t offset,
			int whence, struct fuse_file_info *info)
{
	struct mount_fuse *m = fuse_req_userdata(req);
	uint64_t found;
	int err = offset < 0 ? -ENXIO :
			       mountfs_seek(m->fs, &m->tool->cx, node,
					    (uint64_t)offset,
					    whence == SEEK_HOLE, &found);

	(void)info;
	if (err)
		reply_error(req, err);
	else
		fuse_reply_lseek(req, (off_t)found);
}

static const struct fuse_lowlevel_ops mount_ops = {
	.init = mount_init,
	.lookup = mount_lookup,
	.getattr = mount_getattr,
	.readlink = mount_readlink,
	.open = mount_open,
	.read = mount_read,
	.opendir = mount_opendir,
	.readdir = mount_readdir,
	.readdirplus = mount_readdirplus,
	.statfs = mount_statfs,
	.getxattr = mount_getxattr,
	.listxattr = mount_listxattr,
	.lseek = mount_lseek,
};

__attribute__((format(printf, 2, 0))) static void
print_libfuse(enum fuse_log_level level, const char *fmt, va_list ap)
{
	if (level > FUSE_LOG_WARNING)
		return;
	fputs("dump.nilfs2: ", stderr);
	vfprintf(stderr, fmt, ap);
}

/* Answers a pending request: 1, 0 at the end, or a failure. */
static int answer_request(struct mount_fuse *m, struct fuse_buf *buf)
{
	int ret = fuse_session_receive_buf(m->session, buf);

	if (ret == -EINTR || ret == -EAGAIN)
		return 1;
	if (ret <= 0)
		return ret;
	fuse_session_process_buf(m->session, buf);
	return 1;
}

/* Answers requests until the end.  SIGNALS are accepted only between answers. */
static int serve_requests(struct mount_fuse *m, const sigset_t *signals)
{
	struct context *cx = &m->tool->cx;
	struct fuse_buf buf = { .mem = NULL };
	struct pollfd poll_fd = {
		.fd = fuse_session_fd(m->session), .events = POLLIN,
	};
	int ret = mount_ahead_open(&m->ahead, cx, m->fs, store_file, m);

	if (ret)
		return ret;
	ret = 1;
	while (ret > 0 && !fuse_session_exited(m->session) && !*cx->cancel) {
		if (ppoll(&poll_fd, 1, NULL, signals) >= 0)
			ret = answer_request(m, &buf);
		else if (errno != EINTR)
			ret = fail(cx, -errno, "wait for requests");
	}
	if (ret < 0 && !*cx->failure)
		ret = fail(cx, ret, "requests");
	/* The other thread may wait for a request that was not answered yet. */
	while (!mount_ahead_end(m->ahead))
		if (poll(&poll_fd, 1, 10) > 0 &&
		    answer_request(m, &buf) <= 0)
			break;
	mount_ahead_close(m->ahead);
	m->ahead = NULL;
	free(buf.mem);
	return ret < 0 ? ret : 0;
}

int mount_fuse_run(struct tool *tool, struct mountfs *fs,
		   const struct mount_fuse_options *options)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	struct mount_fuse m = { .tool = tool, .fs = fs };
	char *words = NULL, *source = NULL;
	sigset_t ends, before;
	int ret = 0;

	fuse_set_log_func(print_libfuse);
	if (asprintf(&source, "fsname=%s", options->source) < 0)
		source = NULL;
	if (!source || fuse_opt_add_opt(&words, "ro,subtype=nilfs2") ||
	    fuse_opt_add_opt_escaped(&words, source) ||
	    (options->allow_other &&
	     fuse_opt_add_opt(&words, "allow_other,default_permissions")) ||
	    fuse_opt_add_arg(&args, "dump.nilfs2") ||
	    fuse_opt_add_arg(&args, "-o") || fuse_opt_add_arg(&args, words))
		ret = fail(&tool->cx, -ENOMEM, "options of the mount");
	free(source);
	free(words);
	if (ret)
		return ret;
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, &before);
	m.session = fuse_session_new(&args, &mount_ops, sizeof(mount_ops), &m);
	if (!m.session || fuse_session_mount(m.session, options->dir)) {
		ret = fail_said(&tool->cx, -EIO, "%s: cannot mount",
				options->dir);
	} else {
		ret = fuse_daemonize(options->foreground)
			      ? fail(&tool->cx, -EIO, "background")
			      : serve_requests(&m, &before);
		fuse_session_unmount(m.session);
	}
	if (m.session)
		fuse_session_destroy(m.session);
	fuse_opt_free_args(&args);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ret;
}
