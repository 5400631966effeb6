// SPDX-License-Identifier: MIT
#include "tui/model/annotate_state.h"

#include "tui/model/column.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void AnnotateState_release(struct AnnotateState *state)
{
    Listing_free(state->listing);
    state->listing = NULL;
    state->rows = NULL;
    Source_release(&state->source);
    Annotation_release(&state->annotation);
    History_release(&state->history);
    Moment_release(&state->now);
    state->replaced = false;
}

void AnnotateState_forget(struct AnnotateState *state)
{
    AnnotateState_release(state);
    state->period = PERIOD_SINCE;
}

bool AnnotateState_select(struct AnnotateState *state, const struct Row *row)
{
    uint64_t id = row ? row->id : 0;
    if (id && id == state->id)
        return false;
    AnnotateState_release(state);
    state->id = id;
    state->period = PERIOD_SINCE;
    snprintf(state->name, sizeof state->name, "%.250s",
             row ? Column_text_key(COLUMN_FUNCTION, row) : "");
    return true;
}

const struct Row *AnnotateState_successor(const struct AnnotateState *state,
                                          const struct Model *model)
{
    const struct Listing *listing = state->listing;
    const struct Row *found = NULL;
    if (!listing || !listing->name || !listing->file)
        return NULL;
    for (size_t i = 0; i < model->rows.count; i++) {
        const struct Row *row = &model->rows.items[i];
        const struct Function *now = row->now;
        if (now && now->id > state->id && now->name && now->file &&
            !strcmp(now->name, listing->name) &&
            !strcmp(now->file, listing->file) && now->line == listing->line &&
            (!found || now->id > found->id))
            found = row;
    }
    return found;
}

static double known(uint64_t count)
{
    return count == NULL_U64 ? 0 : (double)count;
}

static struct Moment moment_of(const struct Listing *listing)
{
    struct Moment moment = {.at_s = listing->at_s};
    moment.totals = calloc(listing->row_count + 1, sizeof *moment.totals);
    for (size_t i = 0; moment.totals && i < listing->row_count; i++) {
        const struct ListingRow *row = &listing->rows[i];
        moment.totals[i] = (struct Total){row->offset, known(row->samples),
                                          known(row->c_samples)};
    }
    moment.count = moment.totals ? listing->row_count : 0;
    return moment;
}

// Copies the rows of the listing, because weigh() changes the samples in them.
// Returns NULL if memory is out.
static struct ListingRow *copy_rows(struct Listing *listing)
{
    size_t size = listing->row_count * sizeof *listing->rows;
    struct ListingRow *rows = size ? Arena_alloc(&listing->arena, size) : NULL;
    if (!rows)
        return NULL;
    memcpy(rows, listing->rows, size);
    listing->rows = rows;
    return rows;
}

// Sets the number of samples of each row to its samples in the chosen period.
// Returns 0 or -ENOMEM.
static int weigh(struct AnnotateState *state)
{
    const struct Moment *now = &state->now, *then;
    struct ListingRow *rows = state->rows;
    then = History_begin(&state->history, now->at_s, state->period);
    state->period_s = now->at_s - then->at_s;
    for (size_t i = 0; rows && i < now->count; i++) {
        struct Total since = Moment_since(then, &now->totals[i]);
        if (rows[i].samples != NULL_U64)
            rows[i].samples = (uint64_t)since.all;
        if (rows[i].c_samples != NULL_U64)
            rows[i].c_samples = (uint64_t)since.in_c;
    }
    Annotation_release(&state->annotation);
    return Annotation_make(&state->annotation, state->listing, &state->source);
}

int AnnotateState_take(struct AnnotateState *state, struct Listing *listing,
                       pid_t pid)
{
    bool first = state->listing == NULL;
    struct SourceRequest request = {.pid = pid,
                                    .file = listing->file ? listing->file : "",
                                    .process_start_s =
                                        listing->process_start_s};
    Listing_free(state->listing);
    state->listing = listing;
    if (first || Source_is_stale(&state->source, &request)) {
        Source_release(&state->source);
        Source_load(&state->source, &request);
    }
    Moment_release(&state->now);
    state->now = moment_of(listing);
    state->rows = copy_rows(listing);
    History_note(&state->history, &state->now);
    return weigh(state);
}

int AnnotateState_mark(struct AnnotateState *state)
{
    History_mark(&state->history, &state->now);
    state->period = PERIOD_SINCE;
    return weigh(state);
}

int AnnotateState_next_period(struct AnnotateState *state)
{
    state->period =
        state->period == PERIOD_SINCE ? PERIOD_5_S : state->period + 1;
    return state->listing ? weigh(state) : 0;
}
