// SPDX-License-Identifier: MIT
// Carries out the action of a key. The action changes the model, opens a prompt
// or sends a request to the process. live.c and batch.c call Keyboard_press on
// the viewer's thread.
#pragma once

#include "tui/views/ui.h"

void Keyboard_press(struct Ui *ui, uint32_t key);
