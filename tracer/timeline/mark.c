// SPDX-License-Identifier: MIT
// The event after the text of a mark contains the mark's number (28 bits) and
// the sizes of its two texts (12 bits each).
#include "tracer/timeline/mark.h"

#include <string.h>

#define SIZE_BITS 12
#define SIZE_MASK ((1u << SIZE_BITS) - 1)
#define PIECE sizeof(uint64_t)

static size_t pieces(size_t size)
{
    return (size + PIECE - 1) / PIECE;
}

static void push_text(struct Ring *ring, uint64_t ticks, const char *text,
                      size_t size)
{
    uint64_t piece;
    size_t at, part;

    for (at = 0; at < size; at += part) {
        part = size - at < PIECE ? size - at : PIECE;
        piece = 0;
        memcpy(&piece, text + at, part);
        Ring_push(ring, ticks, EVENT_TEXT, piece);
    }
}

void Mark_push(struct Ring *ring, uint64_t ticks, const struct Mark *mark)
{
    size_t name = mark->name_size < MARK_NAME ? mark->name_size : MARK_NAME;
    size_t args = mark->args_size <= MARK_ARGS ? mark->args_size : 0;

    push_text(ring, ticks, mark->name, name);
    push_text(ring, ticks, mark->args, args);
    Ring_push(ring, ticks, mark->kind,
              (uint64_t)mark->number << 2 * SIZE_BITS |
                  (uint64_t)args << SIZE_BITS | name);
}

void MarkText_add(struct MarkText *text, const struct Event *event)
{
    if (text->size + PIECE <= sizeof text->bytes)
        memcpy(text->bytes + text->size, &event->what, PIECE);
    // If `size` exceeds the size of the buffer, the text is incomplete.
    text->size += PIECE;
}

void MarkText_clear(struct MarkText *text)
{
    text->size = 0;
}

struct Mark MarkText_take(struct MarkText *text, const struct Event *event)
{
    static const char lost[] = "(lost)";
    struct Mark mark = {
        .kind = Event_kind(event),
        .number = (uint32_t)(event->what >> 2 * SIZE_BITS),
        .name = text->bytes,
        .name_size = (size_t)event->what & SIZE_MASK,
        .args_size = (size_t)(event->what >> SIZE_BITS) & SIZE_MASK,
    };
    size_t args_at = PIECE * pieces(mark.name_size);
    size_t whole = args_at + PIECE * pieces(mark.args_size);

    if (text->size == whole && whole <= sizeof text->bytes) {
        mark.args = text->bytes + args_at;
    } else {
        mark.name = mark.args = lost;
        mark.name_size = sizeof lost - 1;
        mark.args_size = 0;
    }
    text->size = 0;
    return mark;
}
