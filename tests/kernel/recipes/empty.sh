# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What mkfs.nilfs2 writes, never mounted.
SIZE=160M
