// SPDX-License-Identifier: MIT
// The annotate view's own line: the function, its calls, cycles and state. One
// thread.
#ifndef OCULAR_TUI_VIEWS_ANNOTATE_TITLE_H
#define OCULAR_TUI_VIEWS_ANNOTATE_TITLE_H

struct Display;
struct Ui;

void AnnotateTitle_draw(struct Ui *ui, const struct Display *display);

#endif
