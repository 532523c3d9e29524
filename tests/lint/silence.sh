#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Only lib/cli interacts with the user: no other object, of the library or of a
# tool, asks for a function that prints, exits, or reads the clock or the
# environment.
# shellcheck source=tests/lint/lint.sh
. "$(dirname "$0")/lint.sh"

names='printf|fprintf|vprintf|vfprintf|dprintf|vdprintf|puts|putchar|putc
fputs|fputc|perror|psignal|syslog|err|errx|warn|warnx|vwarn|error
stdout|stderr|exit|_exit|_Exit|quick_exit|getenv|secure_getenv|environ
time|clock_gettime|gettimeofday|timespec_get|ftime|localtime|localtime_r|clock'
pattern=" ($(echo "$names" | tr '\n' '|' | sed 's/|$//'))\$"

# libfuse reports its own failures by a function that prints them; a wait for another
# thread or process ends at a time of the clock; the status of a service is a file; values of attributes are written to a stream
# in memory; whether a file of a source changed a moment ago does not depend on
# SOURCE_DATE_EPOCH.
exceptions='^(dump/mount/mount_fuse\.o (vfprintf|fputs|stderr)'
exceptions=$exceptions'|dump/mount/mount_ahead\.o clock_gettime'
exceptions=$exceptions'|dump/mount/mountattr\.o (fprintf|fputs|fputc)'
exceptions=$exceptions'|gc/watchjob\.o dprintf|lib/live/cleanerlock\.o clock_gettime'
exceptions=$exceptions'|mkfs/source/walk\.o time)$'

# With _FORTIFY_SOURCE the compiler calls __printf_chk for printf, with 64 bits of
# time on a machine of 32 __time64 for time.
lint_modules=$(echo "$lint_modules" | sed 's|lib/cli||')
lint_run_on_objects nm -A -u
sed -E 's/^([^:]*):.* ([^ @]*)(@.*)?$/\1 \2/
	s/ __(.*)_chk$/ \1/
	s/ __(.*)64(_r)?$/ \1\2/' "$lint_found" |
	grep -E "$pattern" | grep -Ev "$exceptions" >"$lint_list"
lint_none_of_modules "is silent"
lint_done
