#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Each program that tests, scripts and examples call comes with Debian's required
# packages or with those that scripts/packages.sh installs, and what these depend on.
#
# dpkg knows the packages of programs that are installed; the table below has those
# of others that are looked for by "command -v".  tests/bench needs what it compares
# with, which is in no list, but for what "make check-long" runs.
# shellcheck source=tests/lint/lint.sh
. "$(dirname "$0")/lint.sh"

command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || {
	echo "1..0 # SKIP not on Debian"
	exit 0
}
here=$(cd "$(dirname "$0")" && pwd)
cd "$lint_top" || exit 99
work=$(mktemp -d)
trap 'rm -rf "$lint_list" "$work"' EXIT
PATH=$PATH:/usr/sbin:/sbin

cat >"$work/table" <<'TABLE'
bsdtar libarchive-tools
busybox busybox-static
chromium-headless-shell chromium-headless-shell
clang clang
clang-tidy clang-tidy
codespell codespell
cpio cpio
ddrescue gddrescue
debootstrap debootstrap
depmod kmod
dmsetup dmsetup
dpkg-buildpackage dpkg-dev
dumpseg nilfs-tools
fusermount3 fuse3
getfattr attr
grub-fstest grub-common
insmod kmod
gojq gojq
jq jq
linux.uml user-mode-linux
lscp nilfs-tools
man man-db
mke2fs e2fsprogs
mkfs.btrfs btrfs-progs
mmdebstrap mmdebstrap
modprobe kmod
musl-gcc musl-tools
nilfs_cleanerd nilfs-tools
perl perl
qemu-system-ppc64 qemu-system-ppc
qemu-system-x86_64 qemu-system-x86
setfattr attr
strace strace
stress-ng stress-ng
umoci umoci
valgrind valgrind
zbd zbd-utils
TABLE

# shellcheck source=scripts/packages.sh
. "$lint_top/scripts/packages.sh"
# Who may use which lists: scripts/demo.sh, "make check", "make check-long".
{
	# shellcheck disable=SC2154,SC2086
	printf 'demo %s\n' $build_packages $kernel_packages
	# shellcheck disable=SC2154,SC2086
	printf 'check %s\n' $build_packages $test_packages
	# shellcheck disable=SC2154,SC2086
	printf 'long %s\n' $build_packages $test_packages $long_packages \
		$package_packages
} >"$work/lists"

find tests scripts examples \( -name '*.sh' -o -name '*.bash' -o -name '*.bats' \) |
	sort >"$work/files"
xargs awk -f "$here/commands.awk" <"$work/files" >"$work/uses"

# Commands of unit tests: strings of files that pass some to a shell.
grep -lE '\<(system|popen)\(' tests/*/*.c | while read -r file; do
	mkdir -p "$work/strings/${file%/*}"
	awk '{
		line = $0
		while (match(line, /"([^"\\]|\\.)*"/)) {
			text = substr(line, RSTART + 1, RLENGTH - 2)
			line = substr(line, RSTART + RLENGTH)
			if (gsub(/\047/, "&", text) % 2 == 0 && text !~ /"/)
				printf "%s; ", text
		}
		print ""
	}' "$file" >"$work/strings/$file"
done
(cd "$work/strings" && find tests -type f | xargs awk -f "$here/commands.awk") \
	>>"$work/uses"

# PROGRAM PATH, for each path that dpkg may know it by.
awk '{ print $3 }' "$work/uses" | sort -u | while read -r program; do
	path=$(command -v -- "$program" 2>/dev/null) || continue
	case $path in
	"$lint_build"/*) ;;
	/*) echo "$program $path" ;;
	esac
done >"$work/found"
cut -d ' ' -f 2 "$work/found" | xargs readlink -f | paste -d ' ' "$work/found" - |
	awk '{
		print $1, $2
		print $1, $3
		sub(/^\/usr/, "", $2)
		print $1, $2
		print $1, "/usr" $2
	}' | sort -u >"$work/paths"
cut -d ' ' -f 2 "$work/paths" | xargs dpkg -S 2>/dev/null |
	grep -v '^diversion ' >"$work/owners"
dpkg-query -W -f '${Package}|${Essential}|${Priority}|${Pre-Depends}, ${Depends}\n' \
	>"$work/packages"

awk '
	# Who may use what a package brings, and what that depends on.
	function allow(who, package,    list, i, n) {
		if ((who, package) in allowed)
			return
		allowed[who, package]
		n = split(depends[package], list, /, */)
		for (i = 1; i <= n; i++) {
			sub(/[ :(|].*/, "", list[i])
			if (list[i] != "")
				allow(who, list[i])
		}
	}
	function who_uses(file) {
		if (file ~ /^scripts\/(demo|build|packages)\.sh/ ||
		    file ~ /^tests\/kernel\/guest(-init|-lib)?\.sh/)
			return "demo"
		if (file ~ /^tests\/(boot|builds|fresh|pages)\/|^tests\/callers\/lib/ ||
		    file ~ /^tests\/bench\/growth|^tests\/fuzz\/libfuzzer/ ||
		    file ~ /^tests\/packages\/(debian|rpm)|debian-root\.sh/ ||
		    file ~ /^tests\/lint\/(cppcheck|tidy)/ ||
		    file ~ /^tests\/live\/(long|scenarios)|^tests\/mkfs\/layers\.sh/)
			return "long"
		return file ~ /^tests\/bench\// ? "" : "check"
	}
	# A function hides a program where it can be called.
	function is_function(file, name) {
		return name in shared || (file, name) in functions
	}
	FNR == 1 { part++ }
	part == 1 {
		split($0, field, "|")
		depends[field[1]] = field[4]
		if (field[2] == "yes" || field[3] == "required")
			given[field[1]]
		next
	}
	part == 2 { lists[$1] = lists[$1] " " $2; next }
	part == 3 { in_table[$1] = $2; next }
	part == 4 {
		packages = $0
		sub(/: \/.*/, "", packages)
		gsub(/:[a-z0-9]+/, "", packages)
		owner[$NF] = packages
		next
	}
	part == 5 {
		if ($2 in owner)
			package_of[$1] = owner[$2]
		next
	}
	{
		file = $2
		sub(/:[0-9]*$/, "", file)
		if ($1 == "def") {
			functions[file, $3]
			if (file ~ /\.bash$|\/(lint|packages|guest-.*)\.sh$/)
				shared[$3]
			next
		}
		uses[++count] = $0
	}
	END {
		# apt is what installs them.
		for (who in lists) {
			allow(who, "apt")
			for (name in given)
				allow(who, name)
			n = split(lists[who], list, " ")
			for (i = 1; i <= n; i++)
				allow(who, list[i])
		}
		for (u = 1; u <= count; u++) {
			split(uses[u], use, " ")
			file = use[2]
			sub(/:[0-9]*$/, "", file)
			name = use[3]
			who = who_uses(file)
			if (who == "" || (who, name) in seen ||
			    is_function(file, name) || name ~ /\.nilfs2$/)
				continue
			if (name in package_of) {
				n = split(package_of[name], list, /, */)
			} else if (use[1] == "ask") {
				if (!(name in in_table)) {
					seen[who, name]
					print use[2] ": " name " is not installed," \
						" and not in the table of this lint"
					continue
				}
				n = split(in_table[name], list, " ")
			} else {
				continue
			}
			seen[who, name]
			for (i = 1; i <= n; i++)
				if ((who, list[i]) in allowed)
					break
			if (i > n)
				print use[2] ": " name " is of " list[1]
		}
	}' "$work/packages" "$work/lists" "$work/table" "$work/owners" \
	"$work/paths" "$work/uses" >"$lint_list"
lint_none "scripts/packages.sh installs each program that is called"
lint_done
