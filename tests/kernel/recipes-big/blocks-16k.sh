# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Blocks of 16 KiB; the large file's tree has several leaves.
BLOCK=16384
TREE=1100
MKFS='-b 16384 -B 32'
