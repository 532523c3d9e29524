/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What --help and --version say of a tool or one of its commands. */
#ifndef NILFS2_CLI_MANUAL_H
#define NILFS2_CLI_MANUAL_H

#include "cli/tool.h"
#include "out/out.h"

/* The whole tool: its commands, or the options of its only one. */
void manual_tool(struct out *out, const struct cli_tool *cli);

void manual_command(struct out *out, const struct cli_tool *cli,
		    const struct cli_command *command);

void manual_version(struct out *out, const struct cli_tool *cli);

#endif
