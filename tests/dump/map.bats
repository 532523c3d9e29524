#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dump.nilfs2 map: every segment is in the class that lssu's numbers give it.

load ../kernel/lab
load corpus
bats_require_minimum_version 1.5.0

setup() {
	need_corpus
}

# Clean, active, full and the rest, from lssu; protected segments, whose live
# blocks it does not count, are "?".
lssu_classes() {
	sed 's/([^)]*)//' "$corpus/$1/lssu-l" | awk -v full="$2" '
		NR == 1 { next }
		{ state = $4; live = $NF; class = "other" }
		state ~ /^a/ { print "active"; next }
		state ~ /^---/ { print "clean"; next }
		state ~ /p$/ { print "?"; next }
		live == 0 { class = "dead" }
		live >= full { class = "full" }
		{ print class }'
}

our_classes() {
	dump.nilfs2 map --json-lines "$corpus/$1/image" | sed -n \
		's/^{"record":"map","first":\([0-9]*\),"last":\([0-9]*\),"class":"\([a-z]*\)".*/\1 \2 \3/p' |
		awk '{ for (i = $1; i <= $2; i++) print $3 }'
}

# Segments that are full for their snapshots' sake have a class of their own.
classes_agree() {
	local bps

	bps=$(od -An -tu4 -j 1072 -N 4 "$corpus/$1/image")
	paste <(lssu_classes "$1" $((bps * 9 / 10 + 1))) <(our_classes "$1") |
		awk '
		$1 == "?" || $1 == $2 || $2 == "snapshot" { next }
		$1 == "other" && $2 == "partly" { next }
		{ print "segment", NR - 1, $0; bad = 1 }
		END { exit bad }'
}

@test "classes follow from lssu -l" {
	each_image classes_agree
}

characters_match() {
	dump.nilfs2 map -w 70 "$corpus/$1/image" >picture || return 1
	# As many marks as segments, in lines of 70.
	same "$(awk 'NR > 1' "$corpus/$1/lssu" | wc -l)" \
		"$(sed -n 's/^ *[0-9]* \([^ ]*\)$/\1/p' picture |
			tr -d '\n' | wc -c)" ||
		[ "$(awk 'END { print NR }' "$corpus/$1/lssu")" -gt 2000 ]
	! grep -q "$(printf '\033')" picture
	grep -q '^one cell: ' picture
}

@test "plain characters, one a segment, where there is no terminal" {
	cd "$BATS_TEST_TMPDIR"
	each_image characters_match
}

@test "the title has label and size, whatever bytes the label has" {
	cd "$BATS_TEST_TMPDIR"
	image=$(copy_image cleaned)
	dump.nilfs2 set --expert --fix-checksums "$image" super:1 \
		's_volume_name=</title>"&' >/dev/null
	dump.nilfs2 set --expert --fix-checksums "$image" super:2 \
		's_volume_name=</title>"&' >/dev/null
	run -0 dump.nilfs2 map "$image"
	[ "${lines[0]}" = '</title>"&, 64 MiB' ]
	dump.nilfs2 map --svg map.svg "$image"
	grep -qF '<title>&lt;/title&gt;&quot;&amp;, 64 MiB</title>' map.svg
	xmllint --noout map.svg
}

@test "every segment is drawn, by its class" {
	cd "$BATS_TEST_TMPDIR"
	for name in snapshots cleaned special; do
		dump.nilfs2 map --force --svg map.svg "$corpus/$name/image"
		dump.nilfs2 map --json "$corpus/$name/image" | gojq -r '
			[.segments | to_entries[].value | select(. > 0)] |
			sort | .[]' >counts
		# Legend: the text that follows a swatch.
		sed -n 's/.*>[a-z, 0-9%]*: \([0-9]*\)<\/text>$/\1/p' map.svg |
			sort -n >drawn
		diff counts drawn
		same "$(gojq -s add counts)" "$(awk '
			match($0, /width="[0-9]*" height="1" /) {
				split($0, part, "\"")
				cells += part[6]
			}
			END { print cells }' map.svg)"
	done
}

@test "colours when asked for" {
	run -0 dump.nilfs2 map --color=always "$corpus/empty/image"
	[[ $output == *$'\033[48;'* ]]
	run -2 dump.nilfs2 map --color=always --no-color "$corpus/empty/image"
}

@test "colours of a terminal, unless its type or NO_COLOR forbid them" {
	local line

	command -v script >/dev/null || skip "no script(1)"
	while read -r line; do
		# shellcheck disable=SC2086
		run env -u NO_COLOR -u COLORTERM ${line#*: } \
			script -qc "dump.nilfs2 map '$corpus/empty/image'" /dev/null </dev/null
		echo "$line"
		case $line in
		256:*) [[ $output == *$'\033[48;5;'* ]] ;;
		24:*) [[ $output == *$'\033[48;2;'* ]] ;;
		none:*) [[ $output != *$'\033'* ]] ;;
		esac
	done <<-'LINES'
	256: TERM=xterm
	256: TERM=xterm NO_COLOR=
	24: TERM=xterm COLORTERM=truecolor
	24: TERM=xterm COLORTERM=24bit
	none: TERM=xterm NO_COLOR=1
	none: TERM=xterm COLORTERM=truecolor NO_COLOR=1
	none: TERM=dumb
	LINES
}

@test "no half SVG document is left after a failure" {
	run -1 bash -c "ulimit -f 1; trap '' XFSZ
		dump.nilfs2 map --svg '$BATS_TEST_TMPDIR/map.svg' \
			'$corpus/snapshots/image'"
	[[ $output == *"map.svg: write: File too large" ]]
	[ ! -e "$BATS_TEST_TMPDIR/map.svg" ]
}

@test "an SVG document goes to its file" {
	cd "$BATS_TEST_TMPDIR"
	image=$corpus/cleaned/image
	echo "longer than it will be, and not SVG" >map.svg
	run -0 dump.nilfs2 map --force --svg map.svg "$image"
	[[ $(head -n 1 map.svg) == "<svg "* ]]
	[[ $(tail -n 1 map.svg) == "</svg>" ]]
}
