#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds with and without sanitizers, passes every test in the build that it is
# for, and proves that the release archive builds, installs and uninstalls: it is
# what the build without sanitizers is made of.  Prints what is done as it goes
# on, then failed tests, times, and skipped tests with their reasons; ends with
# "N passed, N failed, N skipped".
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
. "$source/scripts/packages.sh"
begin=$(date +%s)
install_packages $build_packages $test_packages

build=${BUILD_DIR:-$source/build-check}
# Some tests wait for a guest: two jobs more than there are processors.
jobs=${JOBS:-$(($(nproc) + 2))}
rm -rf "$build"
mkdir -p "$build/sanitized" "$build/plain"
passed=0 failed=0 skipped=0
trap 'kill $(jobs -p) 2>/dev/null || :' EXIT

say()
{
	printf '%3d min  %s\n' $((($(date +%s) - begin) / 60)) "$*"
}

# quietly NAME COMMAND...: what it prints is shown if it fails, which ends all.
quietly()
{
	log=$build/$1.log
	shift
	"$@" >"$log" 2>&1 || {
		tail -n 40 "$log"
		echo "failed: $*" >&2
		exit 1
	}
}

# Volumes that the kernel writes, and kernels that are no package: they are
# waited for, not computed.
{
	"$source/tests/kernel/corpus.sh" --cached
	"$source/tests/kernel/guest.sh" --available qemu
} >"$build/corpus.log" 2>&1 &

quietly autoreconf sh -c "cd '$source' && autoreconf -fi"
cd "$build/sanitized"
# Warnings are errors in the other build; this one is for its sanitizers.  Without
# 100,000 relocations a program starts in less time.
quietly configure "$source/configure" --enable-asan --enable-ubsan \
	CFLAGS='-O1 -g1 -fno-pie' LDFLAGS=-no-pie
quietly dist make dist
mkdir "$build/release"
tar -C "$build/release" --strip-components=1 -xzf nilfs2-progs-*.tar.gz
chmod -R a-w "$build/release"
cd "$build"
parsers=$(make -s -C sanitized list-parsers | wc -w)
others=$(make -s -C sanitized list-others | wc -w)
say "release archive made; $((parsers + others)) files of tests, SEED=${SEED:-1}"

# Both builds and their tests are one queue of jobs.
cat >check.mk <<'EOF'
all: sanitized plain
sanitized:
	$(MAKE) -C sanitized -k check-parsers >sanitized.log 2>&1
plain:
	cd plain && ../release/configure -q --enable-werror \
		--prefix=$(CURDIR)/installed >../plain.log 2>&1
	$(MAKE) -C plain -k check-others >>plain.log 2>&1
.PHONY: all sanitized plain
EOF
make -s -j"$jobs" -k -f check.mk >/dev/null 2>&1 &
running=$!

# How many tests of each folder have been done.
done_by_folder()
{
	find sanitized/tests plain/tests -name '*.trs' 2>/dev/null |
	awk -F/ '{ n[$3]++ } END { for (f in n) print f, n[f] }' | sort |
	awk '{ line = line sep $1 " " $2; sep = ", "; all += $2 }
		END { print all + 0 " of " total " files of tests: " line }' \
		total=$((parsers + others))
}

next=60
while kill -0 "$running" 2>/dev/null; do
	sleep 1
	[ $(($(date +%s) - begin)) -ge "$next" ] || continue
	next=$((next + 60))
	say "$(done_by_folder)"
done
wait "$running" || :

# total WHAT LOG: the number after "# WHAT:" at the end of a test run.
total()
{
	sed -n "s/^# $1: *//p" "$2" | tail -n 1
}

# reasons BUILD: what its failed tests printed, but for what passed.
reasons()
{
	find "$1/tests" -name '*.trs' \
		-exec grep -lE '^:test-result: (FAIL|ERROR)' {} + |
	sort | while read -r trs; do
		echo "${trs%.trs}:"
		grep -vE '^(ok|PASS|SKIP)' "${trs%.trs}.log" | tail -n 40
	done
}

# count LOG: adds a test run; one that did not come to its end has failed.
count()
{
	if ! grep -q '^# TOTAL:' "$1"; then
		tail -n 40 "$1"
		failed=$((failed + 1))
		return
	fi
	grep -E '^(FAIL|ERROR|XPASS)' "$1" || true
	reasons "${1%.log}"
	passed=$((passed + $(total PASS "$1")))
	skipped=$((skipped + $(total SKIP "$1")))
	failed=$((failed + $(total FAIL "$1") + $(total ERROR "$1")))
}

count sanitized.log
count plain.log
"$source/scripts/times.sh" sanitized plain
"$source/scripts/skips.sh" sanitized plain

# As "make distcheck" does, with the build that the tests were run in.
release_installs()
{
	make install && make installcheck && make uninstall &&
		make distuninstallcheck distuninstallcheck_dir="$build/installed" &&
		make DESTDIR="$build/staged" install &&
		make DESTDIR="$build/staged" uninstall &&
		make distuninstallcheck distuninstallcheck_dir="$build/staged" &&
		make dist && rm -f nilfs2-progs-*.tar.gz &&
		make distcleancheck
}
if (cd plain && release_installs) >release.log 2>&1; then
	passed=$((passed + 1))
else
	tail -n 40 release.log
	echo "FAIL: the release archive installs and uninstalls"
	failed=$((failed + 1))
fi
chmod -R u+w release
say "all"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
