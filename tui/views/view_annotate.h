// SPDX-License-Identifier: MIT
// One function: its source and its bytecode line by line, what each instruction
// has become, how often it ran and what it took. Live: the process is asked for
// the function that is looked at and for no other. One thread.
#ifndef OCULAR_TUI_VIEWS_VIEW_ANNOTATE_H
#define OCULAR_TUI_VIEWS_VIEW_ANNOTATE_H

#include "tui/model/annotation.h"
#include "tui/model/history.h"
#include "tui/screen/keymap.h"
#include "tui/screen/list.h"
#include "tui/views/status.h"

struct Bytes;
struct Screen;

struct AnnotateView {
    uint64_t id; // of the function; 0 = none was selected
    char name[256];
    struct List list;
    struct Listing *listing; // as it came last, with the samples of the
                             // period; owned
    struct ListingRow *rows; // its; NULL: no memory
    struct History history;
    struct Moment now;  // the samples it came with, one a row
    enum Period period; // never PERIOD_LATELY
    double period_s;    // how long it is
    struct Source source;
    struct Annotation annotation;
    bool replaced; // it is the newer one of the same name
};

void ViewAnnotate_release(struct AnnotateView *view);

// As a row of VIEWS.
extern const struct Binding VIEW_ANNOTATE_KEYS[];
void ViewAnnotate_open(struct Screen *screen, uint64_t function);
void ViewAnnotate_want(struct Screen *screen);
void ViewAnnotate_show(struct Screen *screen, const struct Status *status);
bool ViewAnnotate_press(struct Screen *screen, int request, uint32_t key);
bool ViewAnnotate_find(struct Screen *screen, int step, bool here);
uint64_t ViewAnnotate_function(const struct Screen *screen);
// PERIOD_SINCE begins now, if the view is open, and it shows that.
void ViewAnnotate_reset(struct Screen *screen);
// What it shows as JSON. 0, -ENODATA: nothing yet, or -ENOMEM.
int ViewAnnotate_json(const struct Screen *screen, struct Bytes *out);

#endif
