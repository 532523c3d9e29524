#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# table.sh [MODE...]: every tool on COUNT (200000) images with a changed field, and a
# table of how that ended.  What each run printed is left in fuzz/MODE.IMAGE.log of
# the build; a line "fields MODE IMAGE NUMBER: ..." before "FAILED" is how to get there
# again, with NUMBER as FIRST and a large EVERY.
set -u

here=$(cd "$(dirname "$0")" && pwd)
: "${COUNT:=200000}" "${SEED:=1}" "${WIDE:=8}"
export WIDE
export PATH=$NILFS2_BUILD/dump:$PATH
# Reports of a sanitizer end a case, so no memory needs to be searched for leaks.
export ASAN_OPTIONS=detect_leaks=0
# shellcheck source-path=SCRIPTDIR
. "$here/fields.bash"

# Without a crash: a log that was damaged may be one that was cut off.
images=(cleaned-1k snapshots special many-snapshots-2k sparse-2k)
modes=("$@")
[ $# -gt 0 ] || modes=(check repair read collect unchecked)
corpus=$("$here/../kernel/corpus.sh" --cached) || exit 1
mkdir -p "$NILFS2_BUILD/fuzz" && cd "$NILFS2_BUILD/fuzz" || exit 1

# run MODE IMAGE EVERY FIRST: the log of it; its last line is the outcome.
run() {
	"$NILFS2_BUILD/tests/fuzz/$(program "$1")" "$1" "$corpus/$2/image" \
		"$3" "$4" <"structures.$2"
}

changes=0
for image in "${images[@]}"; do
	image=$corpus/$image/image structures >"structures.$image"
	# Of no change but one: how many there are.
	n=$(run read "$image" 1000000000 0 |
		sed -n 's/.* of \([0-9]*\) changes$/\1/p')
	changes=$((changes + ${n:-0}))
done
# Each with two kinds of checksums.
every=$((changes * 2 * ${#modes[@]} / COUNT))
[ "$every" -gt 0 ] || every=1

result=0
printf '%-10s %-18s %8s %8s %8s %9s %8s\n' MODE IMAGE CRASHES HANGS WRONG CASES \
	FAILED
# As many at once as there are processors: each further one waits for an end.
running=0
for mode in "${modes[@]}"; do
	for image in "${images[@]}"; do
		[ "$running" -lt "$(nproc)" ] || wait -n
		run "$mode" "$image" "$every" "$SEED" >"$mode.$image.log" 2>&1 &
		running=$((running + 1))
	done
done
wait
for mode in "${modes[@]}"; do
	for image in "${images[@]}"; do
		read -r cases _ crashes _ hangs _ wrong _ < <(
			tail -n 1 "$mode.$image.log")
		# A program that could not go on is a failure.
		[[ ${wrong-} =~ ^[0-9]+$ ]] || cases=0 crashes=1 hangs=0 wrong=0
		failed=$((crashes + hangs + wrong))
		[ "$failed" -eq 0 ] || result=1
		printf '%-10s %-18s %8d %8d %8d %9d %8d\n' "$mode" "$image" \
			"$crashes" "$hangs" "$wrong" "$cases" "$failed"
	done
done
exit $result
