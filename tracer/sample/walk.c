// SPDX-License-Identifier: MIT
// The walk over frames; see the header.
#include "tracer/sample/walk.h"

#include <errno.h>
#include <string.h>

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

int Walk_init(struct Walk *walk, const struct FrameLayout *layout,
              struct WalkCopies *copies)
{
    size_t first = least(layout->thread_frame, layout->thread_chunk);
    size_t last = most(layout->thread_frame, layout->thread_chunk);
    size_t frame_last =
        most(layout->frame_code,
             most(layout->frame_previous, layout->frame_instruction));

    memset(walk, 0, sizeof(*walk));
    walk->layout = *layout;
    walk->copies = copies;
    if (layout->active_mask) {
        first = least(first, layout->thread_active);
        last = most(last, layout->thread_active);
    }
    walk->state_from = first;
    if (last - first > WALK_STATE - sizeof(uintptr_t) ||
        frame_last > WALK_FRAME_SIZE - sizeof(uintptr_t) ||
        layout->frame_owner >= WALK_FRAME_SIZE)
        return -EINVAL;
    walk->state_size = last - first + sizeof(uintptr_t);
    walk->frame_size =
        most(frame_last + sizeof(uintptr_t), layout->frame_owner + 1);
    return 0;
}

// A thread that ends is sampled after it has freed its state, too. By page that
// can be read; AddressSanitizer, which asks by address, is not to say so.
#define MAY_READ_FREED __attribute__((no_sanitize_address))

MAY_READ_FREED
static uintptr_t word(const uint8_t *bytes, size_t offset)
{
    uintptr_t value;

    memcpy(&value, bytes + offset, sizeof(value));
    return value;
}

// --- Reading -----------------------------------------------------------------

// For reading in place: whether all of it is on pages that can be read. Each
// page is checked once in a walk. A thread's links lead to live objects; only a
// link that is being set, as a frame is pushed or popped, may lead anywhere.
static bool is_readable(struct Walk *walk, uintptr_t from, size_t size)
{
    uintptr_t page = from & ~(uintptr_t)(WALK_PAGE - 1), end = from + size;

    if (end < from)
        return false;
    for (; page < end; page += WALK_PAGE) {
        uintptr_t *known = &walk->known[page / WALK_PAGE % WALK_KNOWN];

        if (*known == (page | 1))
            continue;
        if (!Memory_is_readable(page))
            return false;
        *known = page | 1; // not 0, which is a page too
    }
    return true;
}

// Most frames lie side by side: a system call for each would take longer.
static const uint8_t *copy(struct WalkCopies *copies, uintptr_t from,
                           size_t size)
{
    size_t offset = from % WALK_PAGE;
    uintptr_t page = from - offset;
    unsigned i = 0;

    if (!page)
        return NULL;
    if (offset > WALK_PAGE - size)
        return Memory_read(copies->memory, from, copies->straddling, size)
                   ? copies->straddling
                   : NULL;
    while (i < WALK_COPIES && copies->from[i] != page)
        i++;
    if (i == WALK_COPIES) {
        i = copies->next++ % WALK_COPIES;
        copies->from[i] = 0;
        if (!Memory_read(copies->memory, page, copies->pages[i], WALK_PAGE))
            return NULL;
        copies->from[i] = page;
    }
    return copies->pages[i] + offset;
}

// The bytes at `from`, until the next call; NULL: they cannot be read.
static const uint8_t *read_at(struct Walk *walk, uintptr_t from, size_t size)
{
    if (walk->copies)
        return copy(walk->copies, from, size);
    return is_readable(walk, from, size) ? (const uint8_t *)from : NULL;
}

static const uint8_t *read_aligned(struct Walk *walk, uintptr_t from,
                                   size_t size)
{
    return from % sizeof(uintptr_t) ? NULL : read_at(walk, from, size);
}

MAY_READ_FREED
static bool read_state(struct Walk *walk, struct WalkStart *start)
{
    const struct FrameLayout *layout = &walk->layout;
    size_t from = walk->state_from;
    const uint8_t *state = NULL;

    start->frame = start->chunk = 0;
    start->active = false;
    if (!start->state)
        return true;
    state = read_at(walk, start->state + from, walk->state_size);
    if (!state)
        return false;
    start->frame = word(state, layout->thread_frame - from);
    start->chunk = word(state, layout->thread_chunk - from);
    start->active = !layout->active_mask ||
                    (state[layout->thread_active - from] & layout->active_mask);
    if (layout->through_cframe) {
        // 3.12 keeps the current frame one pointer further away.
        const uint8_t *cframe = read_aligned(
            walk, start->frame + layout->cframe_frame, sizeof(uintptr_t));

        if (!cframe)
            return false;
        start->frame = word(cframe, 0);
    }
    return true;
}

static void begin_walk(struct Walk *walk, struct WalkStart *start)
{
    memset(walk->known, 0, sizeof(walk->known));
    if (walk->copies)
        memset(walk->copies->from, 0, sizeof(walk->copies->from));
    start->read = read_state(walk, start);
}

// --- The walk ----------------------------------------------------------------

// C has made it, if it calls Python code.
static bool is_cs(const struct Walk *walk, uint8_t owner)
{
    uint8_t c = walk->layout.owned_by_c;

    return c != 0 && (owner == c || owner == c + 1);
}

// Whether a frame without a caller is the last of its stack: C has made it, or
// nothing can be below it (greenlets leave C's frames out while they switch).
// Else it has lost its caller since: it was popped, or it has yielded. C's
// frames lie on C's stack, where anything may have come in their place.
static bool is_last(const struct Walk *walk, const struct WalkStart *start,
                    uintptr_t at, uint8_t owner)
{
    return walk->layout.owned_by_c == 0 || is_cs(walk, owner) ||
           at == start->chunk + walk->layout.chunk_first;
}

static void follow_frames(struct Walk *walk, const struct WalkStart *start)
{
    const struct FrameLayout *layout = &walk->layout;
    uintptr_t at = start->read ? start->frame : 0;

    walk->depth = 0;
    walk->truncated = false;
    walk->torn = !start->read;
    while (at != 0 && !walk->torn) {
        const uint8_t *frame;
        uintptr_t previous;

        if (walk->depth == WALK_DEPTH) {
            walk->truncated = true; // or a loop, which this ends too
            break;
        }
        frame = read_aligned(walk, at, walk->frame_size);
        if (frame == NULL) {
            walk->torn = true;
            break;
        }
        // C's own on top: a call that C makes has just begun, or has ended.
        if (walk->depth > 0 || !is_cs(walk, frame[layout->frame_owner]))
            walk->frames[walk->depth++] = (struct WalkFrame){
                word(frame, layout->frame_code) & layout->code_mask,
                word(frame, layout->frame_instruction)};
        previous = word(frame, layout->frame_previous);
        walk->torn = previous == at ||
                     (previous == 0 &&
                      !is_last(walk, start, at, frame[layout->frame_owner]));
        at = previous;
    }
}

void Walk_frames(struct Walk *walk, struct WalkStart *start)
{
    begin_walk(walk, start);
    follow_frames(walk, start);
}
