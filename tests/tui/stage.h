// SPDX-License-Identifier: MIT
// A viewer without a terminal and without a process, for tests of views: it is
// fed with samples, takes keys and shows its screen as text.
#ifndef OCULAR_TESTS_TUI_STAGE_H
#define OCULAR_TESTS_TUI_STAGE_H

#include "tests/tui/sample.h"
#include "tui/views/ui.h"

struct Stage {
    struct Feed feed;
    struct Ui ui;
    struct Bytes screen; // as text, for Stage_text
};

// Nothing has come yet, and nothing is drawn.
void Stage_init(struct Stage *stage, int width, int height);
void Stage_release(struct Stage *stage);
// A snapshot comes.
void Stage_push(struct Stage *stage, struct SampleWish wish);
// The view in front gets the stacks or the code that it waits for. The code is
// that of the file.
void Stage_deliver(struct Stage *stage, struct SampleWish wish,
                   const char *file);
// Presses a key, or several, and draws.
void Stage_press(struct Stage *stage, uint32_t key);
void Stage_type(struct Stage *stage, const char *keys);
// Returns the screen as it was drawn last, until the next call.
const char *Stage_text(struct Stage *stage);
// Draws, and fails if the words are not on the screen, or are, against `there`.
void Stage_expect(struct Stage *stage, const char *words, bool there);

#endif
