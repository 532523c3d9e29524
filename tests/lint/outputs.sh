#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every file that a tool creates is created by lib/dev/output.c: nowhere else is one
# opened to be written, but where a file or device is to be changed in place, or the
# file never has a name.
# shellcheck source=tests/lint/lint.sh
. "$(dirname "$0")/lint.sh"

# Calls and flags that open for writing.  A mode of fopen() is a text of its own.
writes='O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_TMPFILE|\<creat\('
writes=$writes'|\<mk(o?s?temps?|dtemp)\(|\<freopen\(|\<fopen\([^"]*"[^"]*[wa+]'

# FILE REASON
exceptions='lib/base/tempfile.c never has a name
lib/cli/tool.c asks how a descriptor is open
lib/dev/devfile.c images and devices that are changed in place
lib/dev/lock.c to be locked
lib/dev/output.c creates them
lib/dev/zonedisk.c the same device once more
lib/live/cleanerlock.c the semaphore of nilfs-utils
gc/live/livezones.c the device of a mounted volume, for resets
dump/export/export_dir.c files of a tree, below a new directory'

lint_files -name '*.[ch]' | grep -Ev '^(tests|examples)/' >"$lint_list"
(cd "$lint_top" && xargs grep -nE "$writes" <"$lint_list") |
	grep -vF "$(echo "$exceptions" | sed 's/ .*/:/')" >"$lint_list"
lint_none "files are opened to be written by lib/dev/output.c alone"

echo "$exceptions" | while read -r file _; do
	grep -qE "$writes" "$lint_top/$file" || echo "$file"
done >"$lint_list"
lint_none "each exception is needed"

# A name that is removed may be that of another file by then.
(cd "$lint_top" && lint_files -name '*.c' | grep -Ev '^(tests|examples)/' |
	xargs grep -nE '(^|[^>])\<(unlink|remove)\(' /dev/null) |
	grep -vE '^(lib/base/tempfile|mkfs/target)\.c:' >"$lint_list"
lint_none "files are removed by lib/dev/output.c alone"
lint_done
