// SPDX-License-Identifier: MIT
// The opcodes view shows the log of changes of opcodes, with the instruction,
// its old and new opcode and the time. The view also shows how often each
// change was seen, and which instructions change again and again (storms).
#pragma once

#include "tui/views/view.h"

extern const struct View OPCODES_VIEW;
