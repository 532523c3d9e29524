#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dump.nilfs2 diff, against the difference of the manifests that the kernel's
# view of the two checkpoints gave.

load ../kernel/lab
load corpus
load files
bats_require_minimum_version 1.5.0

setup() {
	need_corpus
}

# manifest_difference A B: "A|D|M PATH WHAT" of two manifests.
manifest_difference() {
	perl -e '
		my %word = (0 => "type", 1 => "mode", 2 => "owner",
			3 => "group", 4 => "links", 5 => "size",
			6 => "blocks", 7 => "mtime", 8 => "ctime",
			9 => "device", 10 => "inode", 11 => "content");
		sub rows {
			open my $f, "<", $_[0] or die;
			return map { chomp; my @f = split /\t/;
				($f[13] => \@f) } <$f>;
		}
		my %a = rows($ARGV[0]);
		my %b = rows($ARGV[1]);
		for my $path (keys %{{%a, %b}}) {
			my ($x, $y) = ($a{$path}, $b{$path});
			my @what = $x && $y ? sort map { $word{$_} }
				grep { $x->[$_] ne $y->[$_] } keys %word : ();
			my $letter = !$x ? "A" : !$y ? "D" : "M";
			print join("\t", $letter, $path, join ",", @what), "\n"
				if $letter ne "M" || @what;
		}' "$@" | LC_ALL=C sort
}

# The same of our lines, odd bytes of names written as manifests do; no manifest
# has generations.
our_difference() {
	perl -ne '
		chomp;
		/^([ADM]) (\/.*?)(?: \(([a-z,]*)\))?$/ or die $_;
		my ($letter, $path, $what) = ($1, $2, $3 // "");
		$path =~ s,^/,,;
		$path =~ s/\\x([0-9a-f]{2})/sprintf "\\%03o", hex $1/ge;
		print join("\t", $letter, $path eq "" ? "." : $path,
			join ",", sort grep { $_ ne "generation" }
				split /,/, $what), "\n"' |
		LC_ALL=C sort
}

differences_equal() {
	local a b first second

	while read -r a first; do
		while read -r b second; do
			echo "checkpoints $a and $b"
			diff <(manifest_difference "$first" "$second") \
				<(dump.nilfs2 diff "$corpus/$1/image" \
					"$a" "$b" | our_difference) || return 1
		done < <(checkpoints_of "$1")
	done < <(checkpoints_of "$1")
}

@test "any two snapshots, both ways, differ as the kernel's views do" {
	each_image differences_equal
}

@test "the exit status shows whether they differ" {
	image=$corpus/snapshots/image
	run -0 dump.nilfs2 diff "$image" 2 2
	[ -z "$output" ]
	run -3 dump.nilfs2 diff "$image" 2 4
	[ -n "$output" ]
	run -1 dump.nilfs2 diff "$image" 2 99999
	run -2 dump.nilfs2 diff "$image" 2 two
}

@test "below a path, which may be on one side only" {
	image=$corpus/snapshots/image
	all=$(dump.nilfs2 diff "$image" 2 4 || [ $? -eq 3 ])
	run -3 dump.nilfs2 diff "$image" 2 4 /d
	[ "$output" = "$(grep -E '^. /d( |/|$)' <<<"$all")" ]
	run -3 dump.nilfs2 diff "$image" 2 4 d/f5/
	[ "$output" = "D /d/f5" ]
	run -3 dump.nilfs2 diff "$image" 4 2 d/f5
	[ "$output" = "A /d/f5" ]
	run -1 dump.nilfs2 diff "$image" 2 4 d/nothing
	[[ $output == *": d/nothing: not in checkpoint 4" ]]
}

@test "--json prints the same" {
	image=$corpus/snapshots/image
	same "$(dump.nilfs2 diff "$image" 2 4 | sort)" "$(
		dump.nilfs2 diff --json "$image" 2 4 | perl -MJSON::PP -e '
			my %letter = (added => "A", removed => "D",
				changed => "M");
			local $/;
			for (@{decode_json(<STDIN>)->{differences}}) {
				my $what = join ",", @{$_->{what_names} || []};
				print "$letter{$_->{change}} $_->{path}",
					$what ? " ($what)" : "", "\n";
			}' | sort)"
}

@test "a directory that is in itself ends the comparison there" {
	image=$(copy_image snapshots)
	D=$(dump.nilfs2 ls -c 2 -i "$image" | awk '$2 == "d" { print $1 }') \
		perl -0777 -pi -e '
		s/.{8}(..\x03)\x01f19/pack("Q<", $ENV{D}) . $1 . "\x02f19"/gse' \
		"$image"
	run -1 --separate-stderr timeout 20 dump.nilfs2 diff "$image" 2 4
	[[ $stderr == *": /d/f19: directory "*": in two places"* ]]
	[[ $output == *$'\nD /d/f5' ]]
}
