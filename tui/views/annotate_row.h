// SPDX-License-Identifier: MIT
// One line of the annotate view, cell by cell: a source line, an instruction, a
// gap or a note, and the bar with the columns' names above them. Draws what the
// view holds and changes nothing. One thread.
#ifndef OCULAR_TUI_VIEWS_ANNOTATE_ROW_H
#define OCULAR_TUI_VIEWS_ANNOTATE_ROW_H

#include "tui/model/annotation.h"
#include "tui/screen/canvas.h"

struct AnnotateState;
struct Display;

struct AnnotatePlaces { // columns; those of width 0 have no room
    struct Box line, offset, text, live, mark, hits, time, cycles;
    int bar; // cells of the bar before the cycles
};

// From the right, what there is room for; the text has the rest. sampled: there
// are samples to show.
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
