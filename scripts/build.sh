#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# build.sh DIR [CONFIGURE-OPTION...]: configures and builds in DIR, quietly;
# the log is shown where that fails.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
cd "$1"
shift
log=$PWD/build.log

run()
{
	"$@" >>"$log" 2>&1 || {
		cat "$log"
		echo "failed: $*" >&2
		exit 1
	}
}

: >"$log"
[ -x "$source/configure" ] || (cd "$source" && run autoreconf -fi)
run "$source/configure" "$@"
run make -j"$(nproc)"
