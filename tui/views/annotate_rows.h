// SPDX-License-Identifier: MIT
// Draws one line of the annotate view: a source line, an instruction, a gap or
// a note, or the bar with the titles of the columns. Changes nothing. One
// thread.
#ifndef OCULAR_TUI_VIEWS_ANNOTATE_ROW_H
#define OCULAR_TUI_VIEWS_ANNOTATE_ROW_H

#include "tui/model/annotation.h"
#include "tui/screen/canvas.h"

struct AnnotateState;
struct Display;

struct AnnotatePlaces { // columns; width 0: there is no room for it
    struct Box line, offset, text, live, mark, hits, time, cycles;
    int bar; // cells of the bar before the cycles
};

// Places the columns that have room, from the right; the text gets the rest.
// `sampled`: there are samples to show.
struct AnnotatePlaces AnnotateRow_place(int width, bool sampled);
void AnnotateRow_draw_bar(struct Canvas *canvas, int y,
                          const struct AnnotatePlaces *places,
                          const struct AnnotateState *state,
                          const struct Display *display);
void AnnotateRow_draw(struct Canvas *canvas, int y,
                      const struct AnnotatePlaces *places,
                      const struct AnnotateState *state,
                      const struct Entry *entry, const struct Display *display);

#endif
