#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What of each module the tests execute, in lines and branches.
#
#	coverage.sh --run TEST...	builds $NILFS2_BUILD/coverage, runs tests there,
#					reports
#	coverage.sh --report BUILD	reports what was run in a build that was
#					configured with --enable-coverage
#	coverage.sh --compare BEFORE AFTER
#					the difference of two coverage.tsv; fails if
#					a module has fallen by more than 0.3 points
#
# A report is a table, and BUILD/coverage.tsv: module, lines executed, lines,
# branches taken, branches.  A file that is compiled several times, or a header, is
# counted once: a line is executed if it is in any program.  A program that is
# killed, or cannot write to the build (in a guest), leaves no counts.
set -u -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/.." && pwd)
export LC_ALL=C

report()
{
	local build source

	build=$(cd "$1" && pwd) || return
	source=$(sed -n 's/^abs_top_srcdir = //p' "$build/Makefile") || return
	# One file at a time: gcov would print a function of a header once for each
	# file that includes it.
	(cd "$build" && find . -name '*.gcno' -print0 |
		xargs -0 -r -n 1 "${GCOV:-gcov}" -t -b -c 2>/dev/null) |
	perl -e '
		use strict;
		my ($source, $tsv) = @ARGV;
		my @modules = ((map "lib/$_", qw(base dev disk out arc vol log
			find check cli)), qw(mkfs dump fsck gc/sim gc));
		my ($module, $file, $line, $branch, %line, %branch);
		while (<STDIN>) {
			if (/^\s+-:\s+0:Source:(.*)/) {
				$file = $1;
				$file =~ s/^\Q$source\E\///;
				1 while $file =~ s/^\.\.?\///;
				($module) = grep index($file, "$_/") == 0, @modules;
			} elsif (!defined $module) {
				next;
			} elsif (/^\s*([-\d#=]+)\*?:\s*(\d+):/) {
				($line, $branch) = ("$file:$2", 0);
				$line{$module}{$line} |= $1 =~ /^\d/ ? 1 : 0
					if $1 ne "-";
			} elsif (/^branch\s+\d+ (?:taken (\d+)|never)/) {
				$branch{$module}{"$line:" . $branch++} |=
					$1 ? 1 : 0;
			}
		}
		die "no counts\n" if !%line;
		my @sum;
		open my $out, ">", $tsv or die "$tsv: $!\n";
		sub row {
			my ($module, @n) = @_;
			printf "%-10s %7d/%-7d %5.1f %% %7d/%-7d %5.1f %%\n", $module,
				map(($n[$_], $n[$_ + 1],
				100 * $n[$_] / ($n[$_ + 1] || 1)), 0, 2);
			print $out join("\t", $module, @n), "\n";
		}
		printf "%-10s %23s %23s\n", "MODULE", "LINES EXECUTED",
			"BRANCHES TAKEN";
		for my $module (@modules) {
			my @n = map((scalar grep($_, values %$_), scalar keys %$_),
				$line{$module} // {}, $branch{$module} // {});
			next if !$n[1];
			row($module, @n);
			$sum[$_] += $n[$_] for 0 .. 3;
		}
		row("all", @sum);
		close $out or die "$tsv: $!\n"' "$source" "$build/coverage.tsv"
}

# TESTs of lints execute nothing, and some read archives without counters.
run()
{
	local at=$NILFS2_BUILD/coverage status=0 test tests=()

	# Not -O2, which comes after the flags of --enable-coverage.
	"$source/scripts/build.sh" "$at" --enable-coverage CFLAGS=-O0 || return
	for test; do
		[ "${test#tests/lint/}" != "$test" ] || tests+=("$test")
	done
	find "$at" -name '*.gcda' -delete
	"${MAKE:-make}" -C "$at" check-TESTS \
		TESTS="${tests[*]}" || status=1
	report "$at" && return $status
}

compare()
{
	awk -F '\t' '
	function percent(hit, all) { return all ? 100 * hit / all : 0 }
	BEGIN { printf "%-10s %22s %22s\n", "MODULE", "LINES", "BRANCHES" }
	FNR == NR {
		lines[$1] = percent($2, $3)
		branches[$1] = percent($4, $5)
		next
	}
	!($1 in lines) { next }
	{
		l = percent($2, $3) - lines[$1]
		b = percent($4, $5) - branches[$1]
		fallen = l < -0.3 || b < -0.3
		printf "%-10s %5.1f -> %5.1f  %+5.1f  %5.1f -> %5.1f  %+5.1f%s\n", $1,
			lines[$1], lines[$1] + l, l, branches[$1],
			branches[$1] + b, b, fallen ? "  fallen" : ""
		failed += fallen
	}
	END { exit failed > 0 }' "$1" "$2"
}

case ${1-},$# in
--run,*) shift && run "$@" ;;
--report,2) report "$2" ;;
--compare,3) compare "$2" "$3" ;;
*)
	sed -n 's/^# \{0,1\}//; 3,17p' "$0" >&2
	exit 2 ;;
esac
