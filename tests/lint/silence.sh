#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The library neither prints nor exits, and reads neither the clock nor the
# environment: its archives do not ask for the functions that do.
# shellcheck source=tests/lint/lint.sh
. "$(dirname "$0")/lint.sh"

names='printf|fprintf|vprintf|vfprintf|dprintf|vdprintf|puts|putchar|putc
fputs|fputc|perror|psignal|syslog|err|errx|warn|warnx|vwarn|error
stdout|stderr|exit|_exit|_Exit|quick_exit|getenv|secure_getenv
time|clock_gettime|gettimeofday|ftime|localtime|localtime_r|clock'
pattern="^($(echo "$names" | tr '\n' '|' | sed 's/|$//'))\$"

# With _FORTIFY_SOURCE the compiler calls __printf_chk for printf.
wanted_names()
{
	nm -u "$1" 2>/dev/null |
	sed -n 's/^ *U \([^@]*\).*/\1/p' |
	sed 's/^__\(.*\)_chk$/\1/' |
	sort -u
}

for archive in $(lint_archives base arc dev disk out vol log find); do
	wanted_names "$archive" | grep -Ex "$pattern" >"$lint_list"
	lint_none "$(basename "$archive") is silent"
done
lint_done
