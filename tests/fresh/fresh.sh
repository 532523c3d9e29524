#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fresh.sh: both commands of README.md on a Debian with nothing installed.
#
# debootstrap makes the smallest Debian in a scratch directory below TMPDIR
# (/var/tmp); it gets a copy of the source without .git, and scripts/demo.sh and
# scripts/check.sh run in it as root.  FRESH_ONLY=demo or check runs one of them.
# Archive and proxy are those of this machine's apt.
#
# All of that is done in namespaces of mounts and processes of its own: when their
# first process ends, the kernel ends all others and unmounts everything.
set -eu -o pipefail

source=$(cd "$(dirname "$0")/../.." && pwd)
suite=bookworm
inside=usr/src/nilfs2-progs

# skip WHY: the whole of it.
skip()
{
	echo "1..0 # SKIP $1"
	exit 0
}

# The files of the source: those that git has or would add, or all but builds.
source_files()
{
	if [ -e .git ]; then
		git ls-files -z --cached --others --exclude-standard
	else
		find . -mindepth 1 -maxdepth 1 \
			\( ! -name 'build*' -o -name build-aux \) -print0
	fi
}

copy_source()
{
	mkdir -p "$room/$inside"
	(cd "$source" && source_files | tar --null -T - -c) |
		tar -C "$room/$inside" -x --no-same-owner
}

# debootstrap and apt in the new Debian use the proxies of this machine's apt.
use_proxies()
{
	apt-config dump | grep -E '^Acquire::[^ ]*proxy' -i \
		>"$room/etc/apt/apt.conf.d/50proxy" || :
}

make_debian()
{
	local more=

	[[ $mirror != https:* ]] || more=--include=ca-certificates
	eval "$(apt-config shell http_proxy Acquire::http::Proxy \
		https_proxy Acquire::https::Proxy)"
	export http_proxy=${http_proxy-} https_proxy=${https_proxy-}
	debootstrap --variant=minbase $more "$suite" "$room" "$mirror" \
		>"$room.log" 2>&1 || {
		sed 's/^/# /' "$room.log"
		return 1
	}
	use_proxies
	cp -L /etc/resolv.conf /etc/hosts "$room/etc/"
	# A mount, so that the new root is in its own list of mounts.
	mount --bind "$room" "$room"
	mount --rbind /proc "$room/proc"
	mount --rbind /sys "$room/sys"
	mount --rbind /dev "$room/dev"
	copy_source
}

# The scripts begin with nothing of the environment here.
in_debian()
{
	chroot "$room" env -i HOME=/root LC_ALL=C.UTF-8 JOBS="${JOBS-}" \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		sh -c "cd /$inside && $1" </dev/null 2>&1
}

# What the script leaves shows that it came to its end.
has_ended()
{
	case $1 in
	demo) [ -s "$room/$inside/build/demo.img" ] ;;
	check) [[ $last == *" passed, 0 failed, "* ]] ;;
	esac
}

# run_inside SCRIPT...: process 1 of the namespaces.
run_inside()
{
	local script result=0 n=0 status

	echo "1..$#"
	make_debian || { echo "not ok 1 - debootstrap"; return 1; }
	for script; do
		n=$((n + 1)) status=0
		in_debian "scripts/$script.sh" | tee "$room.log" |
			sed -u 's/^/# /' || status=$?
		last=$(tail -n 1 "$room.log")
		if [ "$status" -eq 0 ] && has_ended "$script"; then
			echo "ok $n - scripts/$script.sh: $last"
		else
			echo "not ok $n - scripts/$script.sh: status $status: $last"
			result=1
		fi
	done
	return "$result"
}

if [ "${1-}" = --inside ]; then
	room=$2 mirror=$3
	shift 3
	run_inside "$@"
	exit
fi

scripts=${FRESH_ONLY:-demo check}
for script in $scripts; do
	[ -e "$source/scripts/$script.sh" ] || {
		echo "fresh.sh: no scripts/$script.sh" >&2
		exit 1
	}
done
[ "$(id -u)" -eq 0 ] || skip "needs root"
for tool in debootstrap unshare apt-get; do
	command -v "$tool" >/dev/null || skip "$tool not found"
done
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
	'Origin: Debian' "Codename: $suite" 'Component: main' | sed -n 1p)
[ -n "$mirror" ] || skip "apt has no archive of Debian's $suite"

namespaces=
cleanup()
{
	trap '' HUP INT TERM
	if [ -n "$namespaces" ]; then
		kill -KILL "$namespaces" 2>/dev/null || :
		wait "$namespaces" 2>/dev/null || :
	fi
	# What was killed just now may still be ending.
	for _ in 1 2 3 4 5; do
		rm -rf --one-file-system "$room" "$room.log" && break
		sleep 1
	done
}

room=$(mktemp -d "${TMPDIR:-/var/tmp}/nilfs2-fresh.XXXXXX")
chmod 755 "$room"
trap cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
# shellcheck disable=SC2086
unshare --mount --pid --fork --kill-child --mount-proc \
	bash "$0" --inside "$room" "$mirror" $scripts &
namespaces=$!
status=0
wait "$namespaces" || status=$?
namespaces=
exit "$status"
