// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For user-mode Linux on processors with AMX, to be preloaded.
 *
 * There the extended state of a process has 11 KiB.  User-mode Linux 6.1 reads
 * and writes the first 2,696 bytes of it, and a write that is not whole is
 * refused by the host (xstateregs_set() in arch/x86/kernel/fpu/regset.c): the
 * guest does not boot.  Here what such a write lacks is added as it is.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

typedef long ptrace_fn(int request, pid_t pid, void *addr, void *data);

static long set_xstate(ptrace_fn *next, pid_t pid, void *addr,
		       struct iovec *iov)
{
	static char all[65536];
	struct iovec whole = { all, sizeof(all) };

	if (next(PTRACE_GETREGSET, pid, addr, &whole) ||
	    whole.iov_len <= iov->iov_len)
		return next(PTRACE_SETREGSET, pid, addr, iov);
	memcpy(all, iov->iov_base, iov->iov_len);
	return next(PTRACE_SETREGSET, pid, addr, &whole);
}

long ptrace(enum __ptrace_request request, ...)
{
	static ptrace_fn *next;
	va_list args;
	pid_t pid;
	void *addr, *data;

	va_start(args, request);
	pid = va_arg(args, pid_t);
	addr = va_arg(args, void *);
	data = va_arg(args, void *);
	va_end(args);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "ptrace");
	if (request == PTRACE_SETREGSET && addr == (void *)NT_X86_XSTATE)
		return set_xstate(next, pid, addr, data);
	return next(request, pid, addr, data);
}
