#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cppcheck over all that is installed, without what it is known to be wrong about.
# shellcheck source=tests/lint/lint.sh
. "$(dirname "$0")/lint.sh"

cd "$lint_top" || exit 99
cppcheck -q -j "$(nproc)" --enable=warning,portability,performance --std=c11 \
	-D__GNUC__ -Ilib -I. -I"$NILFS2_BUILD" \
	--suppressions-list=tests/lint/cppcheck.txt \
	--template='{file}:{line}: {id}: {message}' \
	lib mkfs dump fsck gc >"$lint_list" 2>&1
lint_none "cppcheck finds nothing"
lint_done
