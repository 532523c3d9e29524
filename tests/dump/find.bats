#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dump.nilfs2 find, against the manifests that the kernel's view of the
# checkpoints gave.

load ../kernel/lab
load corpus
load files
bats_require_minimum_version 1.5.0

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
}

# found WANTED OPTION... : what WANTED, a condition on the columns of a manifest, is
# true of, is what find prints with the options; for compare_found.
found() {
	printf 'WANTED\t%s\t%s\n' "$1" "${*:2}"
	dump.nilfs2 find -c "$cno" "${@:2:$#-2}" "$image" "${@: -1}"
}

# compare_found <FOUND: with the manifest; paths that are text there and here.
compare_found() {
	perl -e '
		my ($manifest, @rows, $test, $words, @found, $bad) = shift;
		our ($type, $uid, $size, $mtime, $path);
		open my $file, "<", $manifest or die "$manifest: $!\n";
		push @rows, [(split /\t/)[0, 2, 5, 7, 13]] while <$file>;
		sub judge {
			return if !$test;
			my $wanted = join "", sort map {
				($type, $uid, $size, $mtime, $path) = @$_;
				chomp $path;
				$test->() ? "$path\n" : ();
			} @rows;
			my $got = join "", sort @found;
			return if $got eq $wanted;
			print "$words:\n$got", "instead of\n$wanted";
			$bad = 1;
		}
		while (<STDIN>) {
			if (/^WANTED\t(.*)\t(.*)/) {
				judge();
				($words, @found) = $2;
				$test = eval "sub { $1 }" or die "$1: $@";
				next;
			}
			s,^/,,; chomp; $_ = "." if $_ eq "";
			s/\\(?:x([0-9a-f]{2})|\\)|([^ -~])/
				sprintf "\\%03o", defined $1 ? hex $1 :
					defined $2 ? ord $2 : 0134/gex;
			push @found, "$_\n";
		}
		judge();
		die "nothing was compared\n" if !$test;
		exit($bad ? 1 : 0)' "$manifest"
}

finds() {
	local middle

	found 1 '*'
	found '$path =~ m,f[^/]*$,' '*f*'
	found '$path =~ m,^d/f,' '/d/f*'
	found '$path =~ m,^d(/|$),' /d
	found '$path =~ m,^d(/|$),' d/
	found 1 /
	found '$size >= 3000' --size +3000 '*'
	found '$size <= 3000' --size -3000 '*'
	found '$size == 4096' --size 4K '*'
	found '$type =~ /[dl]/' --type d,l '*'
	found '$type eq "f"' -t f '*'
	found '$type =~ /[bcps]/' -t bcps '*'
	found '$uid == 0' -u 0 '*'
	found '$uid == 1000' --owner 1000 '*'
	middle=$(cut -f8 "$manifest" | sort -n |
		awk '{ t[NR] = int($1) } END { print t[int((NR + 1) / 2)] }')
	[ "$middle" -ge 0 ] || return 0
	found "\$mtime >= $middle" --newer "$middle" '*'
	found "\$mtime < $middle" --older "$(date -ud "@$middle" +%FT%TZ)" '*'
}

finds_equal() {
	local cno manifest image=$corpus/$1/image bad=

	while read -r cno manifest; do
		echo "checkpoint $cno"
		finds | compare_found || bad=1
	done < <(checkpoints_of "$1" | head -n 3)
	[ -z "$bad" ]
}

@test "by name, size, time, type and owner, in each checkpoint" {
	each_image finds_equal
}

@test "a day begins at midnight, local or, with --utc, in Greenwich" {
	mkdir src
	touch -d 2020-01-01T20:00:00Z src/evening
	touch -d 2020-01-02T20:00:00Z src/next
	mkfs.nilfs2 -q --size 16M -B 16 -d src image
	export TZ=XST-05:30
	[ "$(dump.nilfs2 find --newer 2020-01-02 --older 2020-01-03 image 'e*')" = /evening ]
	[ -z "$(dump.nilfs2 find --utc --newer 2020-01-02 image 'e*')" ]
	[ -z "$(dump.nilfs2 find --newer 2020-01-02 --utc image 'e*')" ]
	[ "$(dump.nilfs2 find --utc --older 2020-01-02 image 'e*')" = /evening ]
}

# Numbers are not used again, so that each is one file.
changes() {
	guest_look
	cat <<-'EOF'
	cd "$MNT"
	mkdir -p a/b c keep
	noises a/b/f 1 40 0 1000
	noises c/g 1 40 0 100
	ln a/b/f1 link
	look
	rm a/b/f2
	mv a/b/f3 c/moved
	look
	rm c/g*5
	mv a x
	look
	rm c/moved link
	look
	rm -r x/b
	look
	mv c y
	rm y/g1
	look
	mv y/g2 keep/b
	rm y/g3
	look
	cd /
	nilfs_umount
	EOF
}

# Each entry, a name in a directory for an inode, by its path in its last
# checkpoint; or only those of inodes that the last manifest lacks, and whose
# paths it lacks.
wanted() {
	awk -F'\t' -v deleted="$1" '
		FNR == 1 { cno = FILENAME; sub(/.*\./, "", cno); split("", now) }
		{ now[$14] = $11; seen[$11] = cno; dir = name = $14
			if (!sub(/\/[^\/]*$/, "", dir)) dir = "."
			sub(/.*\//, "", name)
			key = now[dir] "\t" name "\t" $11
			last[key] = cno; path[key] = $14; ino[key] = $11 }
		END {
			for (key in last)
				if (!deleted || (seen[ino[key]] != cno &&
					!(path[key] in now) &&
					last[key] == seen[ino[key]]))
					print last[key] "\t" path[key] "\t" \
						ino[key]
		}' $(printf '%s\n' manifest.* | sort -t. -k2n) | LC_ALL=C sort
}

given() {
	gojq -r '.files[] | "\(.checkpoint)\t\(.path)\t\(.inode)"' |
		sed -E 's,\t/,\t,; s,\t\t,\t.\t,' | LC_ALL=C sort
}

# content_of: "SHA CNO PATH" of each line of standard input, with what the manifest
# of checkpoint CNO has for PATH.
content_of() {
	awk '{
		if (!seen[$2]++)
			while ((getline line <("manifest." $2)) > 0) {
				split(line, f, "\t")
				sub("sha256:", "", f[12])
				sha[$2, f[14]] = f[12]
			}
		print sha[$2, $3], $2, $3
	}'
}

@test "--all has each name once, --deleted what the latest state lacks" {
	need_guest uml
	looked_at 64M < <(changes)
	[ "$(wanted 1 | wc -l)" -gt 40 ]
	diff <(wanted '') <(dump.nilfs2 find --all --json image | given)
	diff <(wanted 1) <(dump.nilfs2 find --deleted --json image | given)
	diff <(wanted 1 | grep -P '/g[^/]*\t') \
		<(dump.nilfs2 find --deleted --json image 'g*' | given)
	diff <(dump.nilfs2 find -d image | awk '{ print $2 }') \
		<(dump.nilfs2 find -d --json image | gojq -r '.files[].path')

	# The checkpoint that is shown has the content.
	dump.nilfs2 find --deleted --json-lines image -t f |
		gojq -r '"\(.checkpoint) \(.path)"' | while read -r cno path; do
		echo "$(dump.nilfs2 cat -c "$cno" image "$path" | sha256sum |
			cut -d' ' -f1) $cno ${path#/}"
	done | sort >shown
	[ -s shown ]
	content_of <shown | diff shown -

	# And all of them at once.
	mkdir all
	dump.nilfs2 export --deleted image - | tar -x -C all
	wanted 1 | awk -F'\t' '{ print "-", $1, $2 }' >list
	while read -r _ cno path; do
		[ -e "all/$path" ]
	done <list
	content_of <list | awk '$1 != "-" { print $1 "  ./" $3 }' | sort >files
	diff files <(cd all && find . -type f -exec sha256sum {} + | sort)
	[ "$(wc -l <files)" -eq "$(dump.nilfs2 find -d image -t f | wc -l)" ]
	diff <(dump.nilfs2 find -d image 'g?' | awk '{ print $2 }') \
		<(dump.nilfs2 export --deleted image - 'g?' | tar -t |
			sed 's,^,/,')
}

@test "export --deleted leaves names out that lead elsewhere" {
	image=$(copy_image snapshots)
	edit "$image" 's/(.{8}..\x03)\x01f20/$1\x01x\/./gs'
	run -1 --separate-stderr dump.nilfs2 export --deleted "$image" out.tar
	[[ $stderr == *"not a name of a file"* ]]
	tar -tf out.tar >names
	grep -qx d/f19 names
	[ "$(grep -c x names || true)" -eq 0 ]
	run -2 dump.nilfs2 export --deleted -c 2 "$image" other.tar
	run -2 dump.nilfs2 export --deleted --since 2 "$image" other.tar
}

# layers DIRECTORY...: image, a checkpoint for each, on which .wh.NAME removes one.
layers() {
	local words=(--oci) layer

	for layer; do
		tar -C "$layer" -cf "$layer.tar" .
		words+=(-d "$layer.tar")
	done
	mkfs.nilfs2 -q --size 32M -B 16 "${words[@]}" image
}

# Of a link and a directory at one path either one may be the older, with files in
# the directory; two files at one path, also of the longest name, and one that has
# the name with a number already.
@test "export --deleted gives each file a path of its own, inside the target" {
	long=$(printf '%0255d' 0)
	mkdir -p one/d/in two/a three outside
	ln -s "$PWD/outside" one/a
	ln -s "$PWD/outside" two/d
	echo old >one/d/f
	echo old >one/d/in/g
	ln one/d/in/g one/d/in/other
	echo new >two/a/b
	echo taken >two/same.~1~
	for layer in one two; do
		mkdir $layer/w
		echo $layer >$layer/same
		echo $layer >"$layer/w/$long"
	done
	chmod 500 one/d/in
	touch -d @1000000000 one/d/in one/d two/a
	touch three/{keep,.wh.a,.wh.d,.wh.same,.wh.same.~1~,.wh.w}
	layers one two three

	dump.nilfs2 export --deleted image dir
	mkdir tar
	dump.nilfs2 export --deleted image - | tar -x -p -C tar
	for out in dir tar; do
		[ "$(readlink $out/d)" = "$PWD/outside" ]
		[ "$(readlink $out/a.~1~)" = "$PWD/outside" ]
		[ "$(cat $out/a/b $out/d.~1~/f $out/d.~1~/in/g)" = \
			$'new\nold\nold' ]
		[ "$(cat $out/same $out/same.~1~ $out/same.~2~)" = \
			$'two\ntaken\none' ]
		[ "$(cat "$out/w/$long" "$out/w/${long%0000}.~1~")" = \
			$'two\none' ]
		[ $out/d.~1~/in/other -ef $out/d.~1~/in/g ]
		[ "$(stat -c '%a %Y' $out/d.~1~/in)" = "500 1000000000" ]
		[ "$(stat -c %Y $out/d.~1~ $out/a | sort -u)" = 1000000000 ]
		[ "$(find $out ! -type d | wc -l)" -eq 11 ]
	done
	[ -z "$(ls -A outside)" ]
	diff <(copy_manifest dir | sed '/\t\.$/d') \
		<(copy_manifest tar | sed '/\t\.$/d')
	run -1 dump.nilfs2 export --deleted image dir
	[[ $output == *"Directory not empty"* ]]
}

# In the same directory, between two checkpoints, and in the latest state; and one
# of another kind.
@test "a file whose number another one has was deleted too, of whatever name" {
	need_guest uml
	looked_at 64M <<-EOF
	$(guest_look)
	cd "\$MNT"
	mkdir x d
	echo first >d/f
	echo old >d/g
	look
	rm d/f
	echo second >d/f
	rm d/g
	echo new >d/g
	look
	rm d/f
	look
	rmdir x
	look
	echo again >again
	look
	cd /
	nilfs_umount
	EOF
	ino=$(awk -F'\t' '$14 == "again" { print $11 }' \
		"$(printf '%s\n' manifest.* | sort -V | tail -n 1)")
	run -0 dump.nilfs2 find --deleted -i image '/x'
	[[ $output =~ ^\ +[0-9]+\ +"$ino"\ +/x$ ]]
	run -0 dump.nilfs2 find --deleted -i image '/d/*'
	[[ $output =~ ^\ +[0-9]+\ +([0-9]+)\ +/d/f$'\n'\ +[0-9]+\ +([0-9]+)\ +/d/f$ ]]
	[ "${BASH_REMATCH[1]}" -eq "${BASH_REMATCH[2]}" ]
	run -0 dump.nilfs2 find --all -i image '/d/g'
	[[ $output =~ ^\ +[0-9]+\ +([0-9]+)\ +/d/g$'\n'\ +[0-9]+\ +([0-9]+)\ +/d/g$ ]]
	[ "${BASH_REMATCH[1]}" -eq "${BASH_REMATCH[2]}" ]
	dump.nilfs2 export --deleted image out
	[ "$(cat out/d/f out/d/f.~1~)" = $'second\nfirst' ]
}

@test "options that mean nothing are usage errors" {
	image=$corpus/snapshots/image
	for words in '--size many' '--type fx' '--newer soon' '-u root' \
		'-c 2 --all' '--all --deleted'; do
		# shellcheck disable=SC2086
		run -2 dump.nilfs2 find $words "$image"
	done
	run -0 --separate-stderr dump.nilfs2 find "$image" nothing
	[ -z "$output" ]
	[ "$stderr" = "dump.nilfs2: no file is named 'nothing'; '*nothing*' fits a part of a name" ]
	run -0 dump.nilfs2 find -q "$image" '*nothing*'
	[ -z "$output" ]
	run -1 dump.nilfs2 find -c 999 "$image"
}

@test "a checkpoint that cannot be read is reported and skipped" {
	image=$(copy_image snapshots)
	dump.nilfs2 find -d "$image" >whole
	dump.nilfs2 set --expert --fix-checksums "$image" checkpoint:3 \
		'cp_ifile_inode.i_bmap[0]=0xffffffff' >/dev/null
	run -1 --separate-stderr dump.nilfs2 find -d "$image"
	[[ $stderr == *"checkpoint 3: "* ]]
	[ "${#stderr_lines[@]}" -eq 1 ]
	same "$(cat whole)" "$output"
}
