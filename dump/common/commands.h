/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands of dump.nilfs2. */
#ifndef NILFS2_DUMP_COMMANDS_H
#define NILFS2_DUMP_COMMANDS_H

#include "cli/tool.h"

extern const struct cli_command info_command;
extern const struct cli_command report_command;
extern const struct cli_command segments_command;
extern const struct cli_command map_command;
extern const struct cli_command checkpoints_command;
extern const struct cli_command ls_command;
extern const struct cli_command cat_command;
extern const struct cli_command export_command;
extern const struct cli_command mount_command;
extern const struct cli_command diff_command;
extern const struct cli_command du_command;
extern const struct cli_command find_command;
extern const struct cli_command history_command;
extern const struct cli_command block_command;
extern const struct cli_command bmap_command;
extern const struct cli_command dat_command;
extern const struct cli_command inode_command;
extern const struct cli_command logs_command;
extern const struct cli_command metaimage_command;
extern const struct cli_command set_command;
extern const struct cli_command shell_command;

#endif
