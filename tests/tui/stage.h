// SPDX-License-Identifier: MIT
// Runs a viewer without a terminal and without a process, for tests of views.
// A test gives snapshots and keys to this viewer, and gets its screen as text.
#pragma once

#include "tests/tui/sample.h"
#include "tui/views/ui.h"

extern struct Stage {
    struct Feed feed;
    struct Ui ui;
} stage;

// Makes a new viewer instead of the one before. The viewer has no snapshot yet,
// and its screen is empty.
void Stage_init(int width, int height);
// Delivers a snapshot to the viewer.
void Stage_push(struct SampleSpec request);
// Delivers the stacks or the code that the visible view has requested. The code
// belongs to the source file `file`.
void Stage_deliver(struct SampleSpec request, const char *file);
// Stage_press presses one key, and Stage_type presses each character of `keys`.
// Then both draw a frame.
void Stage_press(uint32_t key);
void Stage_type(const char *keys);
// Returns the text of the newest frame. The text is valid until the next call
// of Stage_text.
const char *Stage_text(void);
// Draws a frame, and checks its text. Fails if `words` are on the screen and
// `there` is false, or if they are not there and `there` is true.
void Stage_expect(const char *words, bool there);
