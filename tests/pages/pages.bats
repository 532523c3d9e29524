#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Pictures and pages as a browser shows them: with light and dark colours, not
# blank, no wider than the window, all text inside of what is drawn.
#
# Needs Chromium without a screen, and runs only by "make check-long".  The
# screenshots stay in $NILFS2_BUILD/tests/pages, to be looked at.

load ../kernel/lab
bats_require_minimum_version 1.5.0

setup() {
	browser=$(command -v chromium-headless-shell) || skip "no chromium"
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
	shots=$NILFS2_BUILD/tests/pages
	mkdir -p "$shots"
}

# browse FILE OPTION...
browse() {
	"$browser" --no-sandbox --disable-gpu --hide-scrollbars "${@:2}" \
		"file://$PWD/$1" 2>/dev/null
}

# shot FILE NAME light|dark WIDTH HEIGHT: "colour-of-background colours share".
shot() {
	local scheme=1

	[ "$3" = light ] || scheme=0
	browse "$1" --window-size="$4,$5" --screenshot="$shots/$2-$3.png" \
		--blink-settings=preferredColorScheme=$scheme >/dev/null
	perl "$BATS_TEST_DIRNAME/pixels.pl" "$shots/$2-$3.png"
}

# Both screenshots have their background, and several colours on it.
is_drawn() {
	local background colours share

	read -r background colours share <<<"$(shot "$1" "$2" light "$3" "$4")"
	echo "$2 light: $background $colours $share"
	[ "$background" = ffffff ] && [ "$colours" -gt 20 ] || return 1
	awk "BEGIN { exit !($share > 2 && $share < 98) }" || return 1
	read -r background colours share <<<"$(shot "$1" "$2" dark "$3" "$4")"
	echo "$2 dark: $background $colours $share"
	[ "$background" = 0d1117 ] && [ "$colours" -gt 20 ]
}

# measured FILE WIDTH SCRIPT: what SCRIPT, a JavaScript expression, is on the
# page; the page itself forbids scripts, so that is taken out of a copy.
measured() {
	{
		sed -e '/http-equiv="Content-Security-Policy"/,/>$/d' \
			-e '/<\/body>/,$d' "$1"
		echo "<script>document.title = $3</script></body></html>"
	} >measured.html
	browse measured.html --window-size="$2,900" --dump-dom |
		sed -n 's/.*<title>\([^<]*\)<.*/\1/p' | head -n 1
}

# Each text of a picture that is shown is inside of it.
texts_fit='(() => { let bad = []; for (const svg of document.querySelectorAll("svg")) { const box = svg.getBoundingClientRect(); for (const t of svg.querySelectorAll("text")) { const r = t.getBoundingClientRect(); if (r.width && (r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1 || r.bottom > box.bottom + 1)) bad.push(t.textContent); } } return "outside: " + bad.join("; ") + "."; })()'

# svg_fits FILE: the same of an SVG file, inside of a page.
svg_fits() {
	{
		echo '<!DOCTYPE html><html><head><title></title></head><body>'
		cat "$1"
		echo '</body></html>'
	} >page.html
	run measured page.html 1200 "$texts_fit"
	echo "$1: $output"
	[ "$output" = "outside: ." ]
}

@test "maps of segments" {
	for name in snapshots nearly-full small-files; do
		dump.nilfs2 map --force --svg map.svg "$corpus/$name/image"
		svg_fits map.svg
		is_drawn map.svg "map-$name" 900 600
	done
	image=$(copy_image nearly-full)
	gc.nilfs2 -f --protect 0 --free 3 --svg gc.svg "$image"
	svg_fits gc.svg
	is_drawn gc.svg gc 900 900
}

@test "curves of policies" {
	gcsim.nilfs2 -q -n 200 --segment-size 1M -w hot-cold -p greedy \
		-p cost-benefit -p timestamp -p optimal --svg sim.svg
	svg_fits sim.svg
	is_drawn sim.svg sim 900 1200
}

@test "reports of sound and damaged volumes" {
	put_noise "$(copy_image snapshots)" $((300 * 4096)) $((40 * 4096))
	for name in many-snapshots-2k nearly-full small-files; do
		cp --sparse=always "$corpus/$name/image" "$name.image"
	done
	for image in *.image; do
		dump.nilfs2 report --force "$image" report.html || [ $? -eq 1 ]
		is_drawn report.html "report-${image%.image}" 1000 2400
		for width in 1200 360; do
			run measured report.html $width \
				'document.documentElement.scrollWidth <= document.documentElement.clientWidth'
			echo "$image at $width: $output"
			[ "$output" = true ]
			run measured report.html $width "$texts_fit"
			echo "$output"
			[ "$output" = "outside: ." ]
		done
		run measured report.html 1200 'document.body.innerText.length > 2000 && ["Check", "Space usage", "Segments", "Checkpoints", "Geometry"].every(h => [...document.querySelectorAll("h2")].some(e => e.textContent == h))'
		[ "$output" = true ]
	done
}

@test "a long label, and long names, stay inside of their page" {
	mkdir tree
	: >"tree/$(printf 'n%.0s' {1..255})"
	seq 3000 >"tree/$(printf 'm%.0s' {1..255})"
	truncate -s 160M long.img
	mkfs.nilfs2 -q -d tree -L "$(printf 'W%.0s' {1..80})" long.img
	dump.nilfs2 map --force --svg map.svg long.img
	svg_fits map.svg
	dump.nilfs2 report --force long.img report.html
	for width in 1200 400; do
		run measured report.html $width \
			'document.documentElement.scrollWidth <= document.documentElement.clientWidth'
		[ "$output" = true ]
	done
}
