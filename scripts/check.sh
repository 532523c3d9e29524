#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds with sanitizers and passes every test, then proves that the release
# archive builds, installs and uninstalls.  Ends with "N passed, N failed".
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
. "$source/scripts/packages.sh"
install_packages $build_packages $test_packages

build=${BUILD_DIR:-$source/build-check}
rm -rf "$build"
(cd "$source" && autoreconf -fi >/dev/null 2>&1)
"$source/scripts/build.sh" "$build/sanitized" \
	--enable-werror --enable-asan --enable-ubsan
"$source/scripts/build.sh" "$build/plain" --enable-werror

cd "$build/sanitized"
make -k check >check.log 2>&1 || true
grep -E '^(FAIL|ERROR|SKIP|XPASS)' check.log || true
count()
{
	sed -n "s/^# $1: *//p" check.log | tail -n 1
}
passed=$(count PASS) skipped=$(count SKIP)
failed=$(($(count FAIL) + $(count ERROR) + $(count XPASS)))

if make -C "$build/plain" distcheck TESTS= >"$build/dist.log" 2>&1; then
	passed=$((passed + 1))
else
	tail -n 40 "$build/dist.log"
	echo "FAIL: make distcheck"
	failed=$((failed + 1))
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
