// SPDX-License-Identifier: MIT
#include "tui/screen/strip.h"

#include <stdarg.h>
#include <stdio.h>

void Strip_init(struct Strip *strip)
{
    strip->item_count = 0;
    strip->span_count = 0;
    strip->used = 0;
}

static struct StripItem *last(struct Strip *strip)
{
    return &strip->items[strip->item_count - 1];
}

void Strip_item(struct Strip *strip, int importance)
{
    bool right = strip->item_count && last(strip)->right;
    if (strip->item_count == STRIP_ITEMS)
        return;
    strip->item_count++;
    *last(strip) = (struct StripItem){.importance = importance,
                                      .first_span = strip->span_count,
                                      .right = right};
}

void Strip_flex(struct Strip *strip, int least)
{
    last(strip)->flex = least;
}

void Strip_right(struct Strip *strip)
{
    last(strip)->right = true;
}

static void add(struct Strip *strip, enum Style style, const char *format,
                va_list arguments)
{
    size_t room = STRIP_TEXT - strip->used;
    if (strip->span_count == STRIP_SPANS || room < 2)
        return;
    int length = vsnprintf(strip->text + strip->used, room, format, arguments);
    if (length < 0)
        return;
    strip->spans[strip->span_count++] = (struct StripSpan){
        .style = (uint8_t)style, .at = (uint16_t)strip->used};
    last(strip)->span_count++;
    strip->used += (size_t)length < room ? (size_t)length + 1 : room;
}

void Strip_add(struct Strip *strip, enum Style style, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(strip, style, format, arguments);
    va_end(arguments);
}

void Strip_put(struct Strip *strip, int importance, enum Style style,
               const char *format, ...)
{
    va_list arguments;
    Strip_item(strip, importance);
    va_start(arguments, format);
    add(strip, style, format, arguments);
    va_end(arguments);
}

void Strip_label(struct Strip *strip, int importance, const char *label,
                 const char *format, ...)
{
    va_list arguments;
    Strip_item(strip, importance);
    Strip_add(strip, STYLE_FAINT, "%s ", label);
    va_start(arguments, format);
    add(strip, STYLE_PLAIN, format, arguments);
    va_end(arguments);
}

static int natural_width(const struct Strip *strip, const struct Canvas *canvas,
                         const struct StripItem *item)
{
    int width = 0;
    for (int i = 0; i < item->span_count; i++) {
        const struct StripSpan *span = &strip->spans[item->first_span + i];
        width += Canvas_measure(canvas, strip->text + span->at);
    }
    return width;
}

// Returns the width in cells of all items that are not dropped, with the gaps
// between them.
static int total_width(const struct Strip *strip, int gap)
{
    int width = -gap;
    for (int i = 0; i < strip->item_count; i++)
        if (!strip->items[i].dropped)
            width += strip->items[i].width + gap;
    return width;
}

static bool drop_one(struct Strip *strip)
{
    struct StripItem *least = NULL;
    for (int i = 0; i < strip->item_count; i++) {
        struct StripItem *item = &strip->items[i];
        if (!item->dropped && item->importance > 0 &&
            (!least || item->importance >= least->importance))
            least = item;
    }
    if (least)
        least->dropped = true;
    return least != NULL;
}

// Gives free cells to flexible items that are cut.
static void widen(struct Strip *strip, const int *natural, int width, int gap)
{
    for (int i = 0; i < strip->item_count; i++) {
        struct StripItem *item = &strip->items[i];
        int spare = width - total_width(strip, gap);
        if (!item->dropped && spare > 0 && item->width < natural[i])
            item->width += spare < natural[i] - item->width
                               ? spare
                               : natural[i] - item->width;
    }
}

// Returns the most important of the dropped items that fit into the free cells.
static struct StripItem *fitting(struct Strip *strip, const int *natural,
                                 int width, int gap)
{
    int spare = width - total_width(strip, gap) - gap;
    struct StripItem *best = NULL;
    for (int i = 0; i < strip->item_count; i++) {
        struct StripItem *item = &strip->items[i];
        if (item->dropped && natural[i] > 0 && item->width <= spare &&
            (!best || item->importance < best->importance))
            best = item;
    }
    return best;
}

// First cuts flexible items, then drops items. After that, gives free cells to
// flexible items that are cut. If cells are still free, takes back dropped
// items that fit.
static void fit(struct Strip *strip, const struct Canvas *canvas, int width,
                int gap)
{
    int natural[STRIP_ITEMS];
    struct StripItem *back;
    for (int i = 0; i < strip->item_count; i++) {
        struct StripItem *item = &strip->items[i];
        natural[i] = natural_width(strip, canvas, item);
        item->dropped = natural[i] == 0;
        item->width =
            item->flex && item->flex < natural[i] ? item->flex : natural[i];
    }
    while (total_width(strip, gap) > width && drop_one(strip))
        ;
    widen(strip, natural, width, gap);
    while ((back = fitting(strip, natural, width, gap)) != NULL) {
        back->dropped = false;
        widen(strip, natural, width, gap);
    }
}

// Draws an item inside the box. An item that is cut ends in an ellipsis.
static void draw_item(const struct Strip *strip, struct Canvas *canvas,
                      const struct StripItem *item, struct Box box)
{
    int x = box.x, end = box.x + box.width;
    for (int i = 0; i < item->span_count && x < end; i++) {
        const struct StripSpan *span = &strip->spans[item->first_span + i];
        const char *text = strip->text + span->at;
        int width = Canvas_measure(canvas, text);
        struct Box rest = {box.y, x, end - x};
        Canvas_fit(canvas, rest, span->style, CUT_END, text);
        x += width;
    }
}

static int right_width(const struct Strip *strip, int gap)
{
    int width = 0;
    for (int i = 0; i < strip->item_count; i++)
        if (strip->items[i].right && !strip->items[i].dropped)
            width += strip->items[i].width + (width ? gap : 0);
    return width;
}

void Strip_draw(struct Strip *strip, struct Canvas *canvas, struct Box box,
                int gap)
{
    int x = box.x, end = box.x + box.width;
    bool right = false;
    fit(strip, canvas, box.width, gap);
    for (int i = 0; i < strip->item_count; i++) {
        const struct StripItem *item = &strip->items[i];
        if (item->dropped)
            continue;
        if (item->right && !right) {
            int at = end - right_width(strip, gap);
            x = at > x ? at : x;
            right = true;
        }
        int width = item->width < end - x ? item->width : end - x;
        draw_item(strip, canvas, item, (struct Box){box.y, x, width});
        x += width + gap;
    }
}
