# SPDX-License-Identifier: GPL-2.0-or-later
# Completion in fish, installed under the name of each tool.  Options, commands
# and words come from the tool itself (--list-options); what an argument is
# follows from its name in the help.

# The checkpoints of the first image on the command line.
function __nilfs2_progs_checkpoints
	for word in (commandline -opc)[2..-1]
		if test -f $word -o -b $word
			dump.nilfs2 -q checkpoints $word 2>/dev/null |
				string match -rg '^\s*([0-9]+)\s'
			return
		end
	end
end

function __nilfs2_progs_rows --argument-names tool command
	set -l when
	if test -n "$command"
		set when -n "__fish_seen_subcommand_from $command"
	else if test $tool = dump.nilfs2
		set when -n __fish_use_subcommand
	end
	$tool $command --list-options 2>/dev/null | while read -l row
		set -l f (string split \t -- $row)
		switch $f[1]
			case command
				complete -c $tool -n __fish_use_subcommand \
					-f -a $f[2] -d $f[3]
				__nilfs2_progs_rows $tool $f[2]
			case option
				set -l args $when -d $f[6]
				test -n "$f[2]"
				and set -a args -s (string sub -s 2 -- $f[2])
				test -n "$f[3]"
				and set -a args -l (string sub -s 3 -- $f[3])
				if test -n (string trim -- "$f[5]")
					set -a args -x -a "$f[5]"
				else
					switch "$f[4]"
						case ''
						case '[=*'
						case '*CNO*' RANGE
							set -a args -x -a '(__nilfs2_progs_checkpoints)'
						case '*FILE*' '*DIR*' SOURCE
							set -a args -r
						case '*'
							set -a args -x
					end
				end
				complete -c $tool $args
		end
	end
end

__nilfs2_progs_rows (status basename | string replace -r '\.fish$' '')
