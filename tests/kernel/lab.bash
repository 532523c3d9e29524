# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For bats files anywhere under tests/: run a script under the stock kernel, use
# the corpus.  Load it with: load ../kernel/lab (or the path that fits).

lab_set=()
lab_dir=${BASH_SOURCE[0]%/*}
# shellcheck source-path=SCRIPTDIR
. "$lab_dir/noise.bash"
. "$lab_dir/state.bash"

# need_guest uml|qemu|ppc64: skip the test, with the reason, if there is none.
need_guest() {
	local known=$BATS_FILE_TMPDIR/available.$1

	[ -e "$known" ] || "$lab_dir/guest.sh" --available "$1" >"$known" || :
	[ ! -s "$known" ] || skip "$(<"$known")"
}

# guest_with PROGRAM: the guest that has room for it: one built with sanitizers wants
# more addresses than user-mode Linux has.
guest_with() {
	if ldd "$(command -v "$1")" | grep -q libasan; then
		echo qemu
	else
		echo uml
	fi
}

# guest [GUEST.SH-OPTION...] IMAGE... <SCRIPT: like bats' run, for a script on
# standard input; sets status, output (standard output), errors, and dmesg, the
# kernel's log.
# shellcheck disable=SC2034
guest() {
	local at

	at=$(mktemp -d "$BATS_TEST_TMPDIR/guest.XXXXXX")
	status=0
	lab_arguments "$@"
	"$lab_dir/guest.sh" "${lab_options[@]}" --dmesg "$at/dmesg" - \
		"${lab_images[@]}" >"$at/output" 2>"$at/errors" || status=$?
	output=$(<"$at/output")
	errors=$(<"$at/errors")
	dmesg=$(<"$at/dmesg")
}

# Every option of guest.sh has one value.  Images of the set "big" are for the
# guest that can mount them.
lab_arguments() {
	lab_options=(${lab_set:+--backend ppc64})
	while [ "${1#--}" != "$1" ]; do
		lab_options+=("$1" "$2")
		shift 2
	done
	lab_images=("$@")
}

# kernel_complaints: lines of $dmesg that a sound volume never causes.
kernel_complaints() {
	grep -E -e 'NILFS.*(error|warning|broken|invalid|corrupt|unable)' \
		-e 'I/O error|WARNING:|BUG:|Oops|Call Trace' \
		-e 'remounting filesystem read-only' <<<"$dmesg"
}

# kernel_content: fail, and show why, if the kernel complained.
kernel_content() {
	local lines

	lines=$(kernel_complaints) || return 0
	echo "the kernel complained:"
	echo "$lines"
	return 1
}

# need_corpus [big]: set corpus to the directory of finished images, building it
# if need be; skip the test, with the reason, if it cannot be had.  Tests that
# name no set are run on another one by NILFS2_TEST_SET.
need_corpus() {
	local reason set=${1-${NILFS2_TEST_SET-}} known

	lab_set=(${set:+--set "$set"})
	known=$BATS_FILE_TMPDIR/corpus${set:+.$set}
	if [ ! -s "$known" ]; then
		reason=$("$lab_dir/corpus.sh" "${lab_set[@]}" --available) ||
			skip "$reason"
		"$lab_dir/corpus.sh" "${lab_set[@]}" --cached >"$known"
	fi
	corpus=$(<"$known")
}

# corpus_names: the images in the corpus that need_corpus set.
corpus_names() {
	"$lab_dir/corpus.sh" "${lab_set[@]}" --list
}

# sample N|1/M NAME...: N of the names, or one in M, one in a line, for a run that
# takes minutes: chosen by the test and SEED (1), so that other tests look at other
# ones.  All of them if EVERY is set.
sample() {
	local n=$1 at name

	shift
	[ "${n%/*}" = "$n" ] || n=$((($# + ${n#*/} - 1) / ${n#*/}))
	[ -z "${EVERY-}" ] || n=$#
	at=$(mktemp -d "$BATS_TEST_TMPDIR/sample.XXXXXX") || {
		echo no-sample # which no loop takes for a name
		return 1
	}
	for name; do
		echo "${SEED-1} $BATS_TEST_DESCRIPTION $name" >"$at/$name"
	done
	(cd "$at" && cksum -- "$@" </dev/null) | sort -n | head -n "$n" |
		awk '{ print $3 }'
}

# copy_image NAME: print the path of a private copy of an image.
copy_image() {
	cp --sparse=always "$corpus/$1/image" "$BATS_TEST_TMPDIR/$1.image"
	echo "$BATS_TEST_TMPDIR/$1.image"
}

# block_size [IMAGE]: of it or $image, in bytes, as its first superblock says.
block_size() {
	echo $((1024 << $(od -An -tu4 -j 1044 -N 4 "${1-$image}")))
}

# image_sum FILE...: a checksum of what they hold; see content.pl.
image_sum() {
	perl "$lab_dir/content.pl" "$@" | cksum
}

# manifest ...: see manifest.pl.
manifest() {
	perl "$lab_dir/manifest.pl" "$@"
}
