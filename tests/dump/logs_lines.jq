# SPDX-License-Identifier: GPL-2.0-or-later
#
# Brings the output of `dump.nilfs2 logs --blocks --json-lines` into lines, $per
# being the blocks of a segment:
#
#	log SEGMENT SEQ NEXT-SEGMENT BLOCK NBLOCKS CREATED NFINFO
#	file INO CNO NBLOCKS NDATABLK
#	block BLOCK INO VBLOCKNR BLKOFF LEVEL		("-" where not said)
#
# dumpseg prints a level only of the DAT's nodes, and each file's blocks under
# the file.

def block:
	"block \(.blocknr) \(.ino) \(.vblocknr // "-") \(.blkoff // "-") " +
	"\(if .kind == "node" then .level // "-" else "-" end)";

.blocks as $blocks |
"log \(.segment) \(.ss_seq) \(.ss_next / $per | floor) \(.blocknr) " +
"\(.ss_nblocks) \(.ss_create | strftime("%Y-%m-%d %H:%M:%S")) \(.ss_nfinfo)",
foreach .files[] as $file ({ to: 0 };
	{ from: .to, to: (.to + $file.fi_nblocks) };
	($file | "file \(.fi_ino) \(.fi_cno) \(.fi_nblocks) \(.fi_ndatablk)"),
	($blocks[.from:.to][] | block)),
if ([.files[].fi_nblocks] | add // 0) != ($blocks | length)
	then "blocks of no file" else empty end
