#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# mutants.pl SOURCE SEED COUNT TRIES: a plan of COUNT mutants of the code below
# SOURCE.  A row is: number, module, kind, file, line, old code, new code, the whole
# new line.  Each mutant has up to TRIES rows: the next is for one that does not
# compile, or is no other program.
#
# Candidates of a module and kind are in the order of a hash of the seed and their
# text, so that a change of one file leaves most of the plan what it was.  A module
# has a share by its size; kinds take turns.
use strict;
use warnings;
use Digest::MD5 qw(md5_hex);

my ($source, $seed, $count, $tries) = @ARGV;
my @modules = ((map "lib/$_", qw(base dev disk out arc vol log find check cli)),
	qw(mkfs dump fsck gc gc/sim));
my @kinds = qw(relation arithmetic logic bound endian error negation);
my (%size, %pool);

# Comments, strings and characters become blanks: columns stay what they are.
sub code_of {
	my ($text) = @_;

	$text =~ s{(/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')}
		{ (my $blank = $1) =~ s/[^\n]/ /g; $blank }gse;
	return split /\n/, $text, -1;
}

# Where the parenthesis that is opened before $at is closed, in this line.
sub closed {
	my ($code, $at) = @_;
	my $depth = 1;

	for (; $at < length $code; $at++) {
		my $c = substr $code, $at, 1;
		$depth += $c eq "(" ? 1 : $c eq ")" ? -1 : 0;
		return $at if !$depth;
	}
	return;
}

# Edits of one line: kind, offset, length, new text.
sub edits {
	my ($code, $next) = @_;
	my @edits;
	my %relation = ("<" => "<=", "<=" => "<", ">" => ">=", ">=" => ">",
		"==" => "!=", "!=" => "==");

	while ($code =~ /(?<=\s)(<=|>=|==|!=|<|>)(?=\s|$)/g) {
		push @edits, ["relation", $-[1], length $1, $relation{$1}];
	}
	while ($code =~ /(?<=[\w\])])( [-+] 1)\b(?![.\w])/g) {
		push @edits, ["arithmetic", $-[1], length $1, ""];
	}
	while ($code =~ /(?<=[\w\])]) ([-+])(?=\s)(?! 1\b)/g) {
		push @edits, ["arithmetic", $-[1], 1, $1 eq "+" ? "-" : "+"];
	}
	while ($code =~ /(?<=\s)(&&|\|\|)(?=\s|$)/g) {
		push @edits, ["logic", $-[1], 2, $1 eq "&&" ? "||" : "&&"];
	}
	while ($code =~ /(?<![\w.])([2-9]|[1-9]\d+)(?![\w.])/g) {
		push @edits, ["bound", $-[1], length $1, $1 + 1];
	}
	while ($code =~ /[<>]=? ([A-Z][A-Z0-9_]{2,})\b(?!\()/g) {
		push @edits, ["bound", $-[1], length $1, "($1 + 1)"];
	}
	while ($code =~ /\ble(16|32|64)_(get|make)\(/g) {
		my ($from, $inner, $width) = ($-[0], $+[0], $1);
		my $make = $2 eq "make";
		my $end = closed($code, $inner) // next;
		my $half = $width / 2;
		push @edits, $make ?
			["endian", $inner, $end - $inner,
			 sub { "__builtin_bswap$width($_[0])" }] :
			["endian", $from, $end + 1 - $from,
			 sub { "__builtin_bswap$width($_[0])" }];
		push @edits, ["endian", $from, 0, "(uint${half}_t)"] if !$make;
	}
	push @edits, ["error", $-[1], length $1, "0"]
		if $code =~ /\breturn (-E[A-Z]+|fail\(.*\));/;
	push @edits, ["error", $-[1], length $1, "0"]
		if $next =~ /^\s*(return|goto) \w+;/ && $code =~
			/^\s*if \(((?:ret|err|error|status|result)(?: < 0)?)\)\s*$/;
	while ($code =~ /(?<=[\s(])(!)(?=[\w(])/g) {
		push @edits, ["negation", $-[1], 1, ""];
	}
	return @edits;
}

sub read_file {
	my ($file, $module) = @_;

	open my $in, "<", "$source/$file" or die "$file: $!\n";
	my $text = do { local $/; <$in> };
	my @lines = split /\n/, $text, -1;
	my @code = code_of($text);
	my ($inside, %seen) = (0);

	for my $i (0 .. $#lines) {
		# A table begins, and a function ends, at the left.
		$inside = 1, next if $code[$i] =~ /^\{/;
		$inside = 0 if $code[$i] =~ /^\}/;
		next if !$inside || $code[$i] !~ /\S/ || $code[$i] =~ /^\s*#/ ||
			$code[$i] =~ /^\s*static const\b/;
		$size{$module}++;
		for my $edit (edits($code[$i], $code[$i + 1] // "")) {
			my ($kind, $at, $length, $new) = @$edit;
			my $line = $lines[$i];
			my $old = substr $line, $at, $length;
			$new = $new->($old) if ref $new;
			substr($line, $at, $length) = $new;
			my $key = md5_hex(join "\0", $seed, $file, $kind, $at,
				$lines[$i], $seen{"$kind $at $lines[$i]"}++ // 0);
			# With its surroundings, which show what it means.
			my $from = $at > 12 ? $at - 12 : 0;
			my $show = sub {
				my $t = substr $_[0], $from, $_[1] + $at - $from + 12;
				$t =~ s/\s+/ /g;
				$t =~ s/^ | $//g;
				return $t;
			};
			push @{$pool{$module}{$kind}}, [$key, $file, $i + 1,
				$show->($lines[$i], $length),
				$show->($line, length $new), $line];
		}
	}
}

for my $module (@modules) {
	my @files = split /\n/, `cd '$source' && find $module -name '*.c' | sort`;
	@files = grep !m{^gc/sim/}, @files if $module eq "gc";
	read_file($_, $module) for @files;
	@{$pool{$module}{$_}} = sort { $a->[0] cmp $b->[0] }
		@{$pool{$module}{$_} // []} for @kinds;
}
@modules = grep $size{$_}, @modules;

# One each, the largest first; then whose share is the least filled.
my %share = map(($_ => 0), @modules);
for (1 .. $count) {
	my ($next) = sort { ($share{$a} > 0) <=> ($share{$b} > 0) ||
		$share{$a} / $size{$a} <=> $share{$b} / $size{$b} ||
		$size{$b} <=> $size{$a} } @modules;
	$share{$next}++;
}

my ($number, $turn) = (0, hex substr(md5_hex($seed), 0, 4));
for my $module (@modules) {
	for (1 .. $share{$module}) {
		$number++;
		my @order = map $kinds[($turn + $_) % @kinds], 0 .. $#kinds;
		$turn++;
		my $left = $tries;
		for my $kind (@order) {
			my $list = $pool{$module}{$kind};
			while ($left && @$list) {
				my ($key, @row) = @{shift @$list};
				print join("\t", $number, $module, $kind, @row), "\n";
				$left--;
			}
		}
	}
}
