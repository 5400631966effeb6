// SPDX-License-Identifier: MIT
// The state of the annotate view: the function that it shows, its newest code,
// its source, and the samples of the period. Draws nothing. One thread.
#ifndef OCULAR_TUI_MODEL_ANNOTATE_STATE_H
#define OCULAR_TUI_MODEL_ANNOTATE_STATE_H

#include "tui/model/annotation.h"
#include "tui/model/history.h"
#include "tui/model/model.h"

struct AnnotateState {
    uint64_t id;             // of the function; 0: none was selected
    char name[256];          // its name, as it was selected
    struct Listing *listing; // as it came last, its samples those of the
                             // period; owned; NULL: none came yet
    struct ListingRow *rows; // the listing's; NULL: no memory
    struct History history;
    struct Moment now;  // samples since the start, as they came, one a row
    enum Period period; // never PERIOD_LATELY
    double period_s;    // seconds
    struct Source source;
    struct Annotation annotation;
    bool replaced; // the program made the function again, and this is the newer
};

void AnnotateState_release(struct AnnotateState *state);
// Shows another function, NULL: none. False: it is the same, and all is kept.
bool AnnotateState_select(struct AnnotateState *state, const struct Row *row);
// Returns the function that has replaced the one shown (a reload, a decorator
// that runs again), by its name, file and line. NULL: there is none.
const struct Row *AnnotateState_successor(const struct AnnotateState *state,
                                          const struct Model *model);
// Takes over a listing of the function; `pid` is the process whose files are
// read, 0: ours. 0, or -ENOMEM: there is nothing to show.
int AnnotateState_take(struct AnnotateState *state, struct Listing *listing,
                       pid_t pid);
// PERIOD_SINCE begins now and is shown. As AnnotateState_take; there must be a
// listing.
int AnnotateState_mark(struct AnnotateState *state);
// Shows the next period. As AnnotateState_take.
int AnnotateState_next_period(struct AnnotateState *state);

#endif
