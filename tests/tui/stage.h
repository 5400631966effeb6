// SPDX-License-Identifier: MIT
// Runs a viewer without a terminal and without a process, for tests of views.
// A test gives snapshots and keys to this viewer, and gets its screen as text.
#pragma once

#include "tests/tui/sample.h"
#include "tui/views/ui.h"

struct Stage {
    struct Feed feed;
    struct Ui ui;
};

// Sets the viewer up. The viewer has no snapshot yet, and its screen is empty.
void Stage_init(struct Stage *stage, int width, int height);
void Stage_release(struct Stage *stage);
// Delivers a snapshot to the viewer.
void Stage_push(struct Stage *stage, struct SampleSpec request);
// Delivers the stacks or the code for which the front view waits. The code
// belongs to the source file `file`.
void Stage_deliver(struct Stage *stage, struct SampleSpec request,
                   const char *file);
// Stage_press presses one key, and Stage_type presses each character of `keys`.
// Then both draw a frame.
void Stage_press(struct Stage *stage, uint32_t key);
void Stage_type(struct Stage *stage, const char *keys);
// Returns the text of the frame that was drawn last. The text is valid until
// the next call of Stage_text.
const char *Stage_text(struct Stage *stage);
// Draws a frame, and checks its text. If `there` is true, fails unless `words`
// are on the screen. If `there` is false, fails if `words` are on the screen.
void Stage_expect(struct Stage *stage, const char *words, bool there);
