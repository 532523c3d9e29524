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

passed=0 failed=0 skipped=0

# total WHAT LOG: the number after "# WHAT:" at the end of a test run.
total()
{
	sed -n "s/^# $1: *//p" "$2" | tail -n 1
}

# count LOG: adds a test run; one that did not come to its end has failed.
count()
{
	if ! grep -q '^# TOTAL:' "$1"; then
		tail -n 40 "$1"
		failed=$((failed + 1))
		return
	fi
	grep -E '^(FAIL|ERROR|SKIP|XPASS)' "$1" || true
	passed=$((passed + $(total PASS "$1")))
	skipped=$((skipped + $(total SKIP "$1")))
	failed=$((failed + $(total FAIL "$1") + $(total ERROR "$1")))
}

make -C "$build/sanitized" -j"$(nproc)" -k check >"$build/check.log" 2>&1 || true
count "$build/check.log"
"$source/scripts/times.sh" "$build/sanitized"

# Blocks larger than this machine's pages, with a kernel that has larger ones;
# beside that, another build makes the release archive.
make -C "$build/plain" -k check-big >"$build/check-big.log" 2>&1 &
big=$!

if make -C "$build/sanitized" distcheck TESTS= >"$build/dist.log" 2>&1; then
	passed=$((passed + 1))
else
	tail -n 40 "$build/dist.log"
	echo "FAIL: make distcheck"
	failed=$((failed + 1))
fi
wait "$big" || true
count "$build/check-big.log"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
