// SPDX-License-Identifier: MIT
// See opcodes_state.h.
#include "tui/views/opcodes_state.h"

#include "tui/text/text.h"

bool OpcodesState_has(const struct Transition *one, const char *text)
{
    return Text_has(one->function, text) || Text_has(one->file, text) ||
           Text_has(one->from, text) || Text_has(one->to, text);
}

bool OpcodesState_pair_has(const struct TransitionPair *pair, const char *text)
{
    return Text_has(pair->from, text) || Text_has(pair->to, text);
}

const char *OpcodesState_pair_filter(const struct Model *model)
{
    const struct Snapshot *now = model->snapshot;
    for (size_t i = 0; i < now->transition_pair_count; i++)
        if (OpcodesState_pair_has(&now->transition_pairs[i], model->filter))
            return model->filter;
    return "";
}

const struct Transition *OpcodesState_nth(const struct Model *model, long index)
{
    const struct Snapshot *now = model->snapshot;
    for (size_t i = 0; now && i < now->transition_count; i++)
        if (OpcodesState_has(&now->transitions[i], model->filter) &&
            index-- == 0)
            return &now->transitions[i];
    return NULL;
}

static bool is_pinned(const struct OpcodesState *state,
                      const struct Transition *one)
{
    return one->seen_at_s == state->pinned_at && one->id == state->pinned_id &&
           one->offset == state->pinned_offset;
}

void OpcodesState_fit(struct OpcodesState *state, const struct Model *model,
                      long height)
{
    const struct Snapshot *now = model->snapshot;
    long count = 0, selected = state->pinned ? state->log.selected : 0;
    for (size_t i = 0; i < now->transition_count; i++) {
        const struct Transition *one = &now->transitions[i];
        if (!OpcodesState_has(one, model->filter))
            continue;
        if (state->pinned && is_pinned(state, one))
            selected = count;
        count++;
    }
    state->log.selected = selected;
    List_fit(&state->log, &(struct ListRows){.count = count}, height);
}

void OpcodesState_pin(struct OpcodesState *state, const struct Model *model)
{
    const struct Transition *one = OpcodesState_nth(model, state->log.selected);
    state->pinned = one && state->log.selected > 0;
    if (!state->pinned)
        return;
    state->pinned_at = one->seen_at_s;
    state->pinned_id = one->id;
    state->pinned_offset = one->offset;
}
