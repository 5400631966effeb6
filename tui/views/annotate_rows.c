// SPDX-License-Identifier: MIT
// See annotate_row.h.
#include "tui/views/annotate_row.h"

#include "tui/model/row.h"
#include "tui/screen/gauge.h"
#include "tui/text/number.h"
#include "tui/views/annotate_state.h"
#include "tui/views/display.h"
#include "tui/views/instruction_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES 2048 // bytes of a source line that are drawn at most
#define BAR_CELLS 8
#define LABEL_CELLS 6   // cells of "L123: "
#define OPCODE_CELLS 14 // cells of an opcode's name,
#define OPCODE_WIDE 19

// --- Where things stand

struct AnnotatePlaces AnnotateRow_place(int width, bool sampled)
{
    struct AnnotatePlaces places = {.bar = width >= 96 ? BAR_CELLS : 0};
    int end = width - 1, cycles = places.bar ? places.bar + 6 : 5;
    places.cycles = (struct Box){0, end - cycles, cycles};
    end -= cycles + 2;
    if (sampled && width >= 124) {
        places.time = (struct Box){0, end - 5, 5};
        end -= 5 + 2;
    }
    places.hits = (struct Box){0, end - 7, 7};
    places.mark = (struct Box){0, end - 9, 1};
    end -= 9 + 1;
    places.line = (struct Box){0, 1, 5};
    places.offset = (struct Box){0, 7, width >= 70 ? 5 : 0};
    int from = places.offset.width ? 13 : 7, left = end - from;
    places.text = (struct Box){0, from, left};
    if (width >= 116) {
        int live = left * 45 / 100;
        live = live > 58 ? 58 : live;
        places.text.width = left - live - 2;
        places.live = (struct Box){0, from + left - live, live};
    }
    return places;
}

static struct Box on(struct Box box, int y)
{
    box.y = y;
    return box;
}

// --- Cells

static double share_of(double part, double all)
{
    return all > 0 ? part / all : NAN;
}

static void put_percent(struct Canvas *canvas, struct Box box, double share)
{
    char text[NUMBER_MAX];
    if (!(share >= INSTRUCTION_LEAST_SHARE))
        return;
    if (share >= 0.0995)
        snprintf(text, sizeof text, "%.0f%%", share * 100);
    else
        snprintf(text, sizeof text, "%.1f%%", share * 100);
    Canvas_fit_right(canvas, box, Gauge_heat(share), text);
}

static void put_bar(struct Canvas *canvas, struct Box box, int cells,
                    double part, uint8_t style)
{
    box.width = cells;
    Gauge_bar(canvas, box, part, style);
}

// Draws an instruction's bar. The cycles of one execution do not say where the
// time goes, and are often a block's mean. So the bar shows them only where
// nothing is sampled and not all are equal, and then without heat.
static void put_part(struct Canvas *canvas, struct Box box, int cells,
                     const struct Annotation *all, const struct ListingRow *row)
{
    double share = share_of(Row_u64(row->samples), all->samples);
    if (all->samples > 0)
        put_bar(canvas, box, cells, share, Gauge_heat(share));
    else if (all->least_cycles < all->most_cycles)
        put_bar(canvas, box, cells, row->cycles / all->most_cycles,
                STYLE_FAINT);
}

static void put_cycles(struct Canvas *canvas,
                       const struct AnnotatePlaces *places, int y,
                       const struct ListingRow *row,
                       const struct Annotation *all,
                       const struct Display *display)
{
    struct Box box = on(places->cycles, y), number = box;
    char text[NUMBER_MAX];
    put_part(canvas, box, places->bar, all, row);
    if (isnan(row->cycles))
        return;
    number.x += places->bar ? places->bar + 1 : 0;
    number.width -= places->bar ? places->bar + 1 : 0;
    if (display->ns)
        Number_ns(text, row->cycles / display->tsc_hz * 1e9);
    else if (row->cycles < 9.95)
        snprintf(text, sizeof text, "%.1f", row->cycles);
    else
        Number_count(text, row->cycles);
    Canvas_fit_right(canvas, number, STYLE_PLAIN, text);
}

static void put_hits(struct Canvas *canvas, const struct AnnotatePlaces *places,
                     int y, const struct ListingRow *row)
{
    char text[NUMBER_MAX + 2], number[NUMBER_MAX];
    if (row->armed != NULL_U64)
        Canvas_put(canvas, y, places->mark.x, places->mark.x + 1,
                   row->armed ? STYLE_ARMED : STYLE_DARK,
                   row->armed ? "●" : "○");
    if (row->hits == NULL_U64) {
        if (row->armed == 0)
            Canvas_fit_right(canvas, on(places->hits, y), STYLE_DARK, "dark");
        return;
    }
    snprintf(text, sizeof text, "%s%s", row->hits_exact == 1 ? "" : ">=",
             Number_count(number, (double)row->hits));
    Canvas_fit_right(canvas, on(places->hits, y),
                     row->hits ? STYLE_PLAIN : STYLE_FAINT, text);
}

// --- Instructions

// Draws the operand, and after it what the instruction has become. Where both
// have no room each gets half, and a word of the help is never cut.
static void put_argument(struct Canvas *canvas, struct Box box,
                         const char *argument, const char *tail,
                         enum Style style)
{
    int wanted = Canvas_measure(canvas, argument);
    int behind = Canvas_measure(canvas, tail), least = box.width / 2;
    least = least > INSTRUCTION_SHORT ? least : INSTRUCTION_SHORT;
    behind = behind > least && wanted + 1 + behind > box.width ? least : behind;
    int room = *tail ? box.width - behind - 1 : box.width;
    if (*argument && room > 0) {
        Canvas_fit(canvas, (struct Box){box.y, box.x, room}, STYLE_FAINT,
                   CUT_END, argument);
        wanted = wanted < room ? wanted : room;
        box.x += wanted + 1;
        box.width -= wanted + 1;
    }
    Canvas_fit(canvas, box, style, CUT_END, tail);
}

static void put_live(struct Canvas *canvas, const struct AnnotatePlaces *places,
                     int y, const struct ListingRow *row)
{
    struct Box box = on(places->live, y);
    char never[80];
    const char *base = row->opcode ? row->opcode : "?";
    InstructionText_never(never, sizeof never, row);
    if (!row->live && !*never)
        return;
    int end = box.x + box.width;
    if (row->live) {
        int x = Canvas_put(canvas, y, box.x, end, STYLE_FAINT, base);
        x = Canvas_put(canvas, y, x, end, STYLE_FAINT, " -> ");
        Canvas_fit(canvas, (struct Box){y, x, end - x}, STYLE_ARMED, CUT_END,
                   row->live);
        return;
    }
    int x = Canvas_put(canvas, y, box.x, end, STYLE_FAINT, base);
    Canvas_fit(canvas, (struct Box){y, x + 1, end - x - 1},
               row->was_specialized == 1 ? STYLE_ALERT : STYLE_FAINT, CUT_END,
               never);
}

static void put_code_text(struct Canvas *canvas,
                          const struct AnnotatePlaces *places, int y,
                          const struct AnnotateState *state, size_t index)
{
    const struct ListingRow *row = &state->listing->rows[index];
    struct Box box = on(places->text, y);
    int end = box.x + box.width, x = box.x + LABEL_CELLS;
    char label[16], argument[400], tail[120] = "";
    enum Style style = STYLE_PLAIN;
    if (state->annotation.labels[index]) {
        snprintf(label, sizeof label, "L%u:", state->annotation.labels[index]);
        Canvas_fit_right(canvas, (struct Box){y, box.x, LABEL_CELLS - 1},
                         STYLE_ACCENT, label);
    }
    int after = Canvas_put(canvas, y, x, end, STYLE_PLAIN,
                           row->opcode ? row->opcode : "?");
    InstructionText_operand(argument, sizeof argument, state, row);
    if (!places->live.width)
        style = InstructionText_short(tail, sizeof tail, row);
    x += box.width >= 50 ? OPCODE_WIDE : OPCODE_CELLS;
    if (x <= after)
        x = after + 1;
    if (x < end)
        put_argument(canvas, (struct Box){y, x, end - x}, argument, tail,
                     style);
}

static void put_line_number(struct Canvas *canvas,
                            const struct AnnotatePlaces *places, int y,
                            uint64_t line, uint8_t style)
{
    char text[24];
    if (line == NULL_U64 || !line)
        return;
    snprintf(text, sizeof text, "%llu", (unsigned long long)line);
    Canvas_fit_right(canvas, on(places->line, y), style, text);
}

static void draw_code(struct Canvas *canvas,
                      const struct AnnotatePlaces *places, int y,
                      const struct AnnotateState *state,
                      const struct Entry *entry, const struct Display *display)
{
    const struct ListingRow *row = &state->listing->rows[entry->row];
    char text[24];
    if (state->source.state != SOURCE_FINE && entry->first)
        put_line_number(canvas, places, y, entry->line, STYLE_PLAIN);
    snprintf(text, sizeof text, "%llu", (unsigned long long)row->offset);
    Canvas_fit_right(canvas, on(places->offset, y), STYLE_FAINT, text);
    put_code_text(canvas, places, y, state, entry->row);
    if (places->live.width)
        put_live(canvas, places, y, row);
    put_hits(canvas, places, y, row);
    if (places->time.width)
        put_percent(canvas, on(places->time, y),
                    share_of(Row_u64(row->samples), state->annotation.samples));
    put_cycles(canvas, places, y, row, &state->annotation, display);
}

// --- Source lines

// Returns how many blanks the line begins with that the function's first line
// has, too.
static size_t shared_indent(const struct AnnotateState *state, const char *line)
{
    char first[LINE_BYTES] = "";
    const char *def = Source_line(&state->source, state->listing->line);
    if (def)
        Source_expand(first, sizeof first, def);
    size_t all = strspn(first, " "), here = strspn(line, " ");
    return here < all ? here : all;
}

static void draw_source(struct Canvas *canvas,
                        const struct AnnotatePlaces *places, int y,
                        const struct AnnotateState *state,
                        const struct Entry *entry)
{
    char text[LINE_BYTES];
    const char *line = Source_line(&state->source, entry->line);
    double share = share_of(entry->samples, state->annotation.samples);
    struct Box box = on(places->text, y), cycles = on(places->cycles, y);
    put_line_number(canvas, places, y, entry->line, STYLE_FAINT);
    if (line) { // it has no hits, so it may reach to the bars
        Source_expand(text, sizeof text, line);
        box.width = cycles.x - 1 - box.x;
        Canvas_fit(canvas, box, STYLE_STRONG, CUT_END,
                   text + shared_indent(state, text));
    }
    if (!(share >= INSTRUCTION_LEAST_SHARE))
        return;
    put_bar(canvas, cycles, places->bar, share, Gauge_heat(share));
    put_percent(canvas, cycles, share);
}

// Draws what stands in place of lines or instructions that are left out.
static void draw_gap(struct Canvas *canvas, const struct AnnotatePlaces *places,
                     int y, const struct Entry *entry)
{
    char text[96], number[NUMBER_MAX];
    Number_grouped(number, entry->count);
    snprintf(text, sizeof text,
             entry->kind == ENTRY_MORE ? "… %s more instructions, not listed"
                                       : "… %s lines without code",
             number);
    Canvas_fit(
        canvas,
        (struct Box){y, places->text.x, places->mark.x - 1 - places->text.x},
        STYLE_FAINT, CUT_END, text);
}

static void draw_note(struct Canvas *canvas, int y,
                      const struct AnnotateState *state)
{
    static const char also[] = " Bytecode only.";
    char text[280 + sizeof also];
    bool fine = state->source.state == SOURCE_FINE;
    snprintf(text, sizeof text,
             fine ? "%s: it may not be what runs." : "No source: %s.",
             state->source.why);
    if (!fine &&
        Canvas_measure(canvas, text) + (int)sizeof also <= canvas->width - 1)
        strcat(text, also);
    Canvas_fit(canvas, (struct Box){y, 1, canvas->width - 2},
               state->source.state == SOURCE_NONE ? STYLE_FAINT : STYLE_ALERT,
               CUT_END, text);
}

void AnnotateRow_draw_bar(struct Canvas *canvas, int y,
                          const struct AnnotatePlaces *places,
                          const struct AnnotateState *state,
                          const struct Display *display)
{
    bool source = state->source.state == SOURCE_FINE;
    Canvas_paint(canvas, (struct Box){y, 0, canvas->width}, STYLE_HEAD);
    Canvas_fit_right(canvas, on(places->line, y), STYLE_HEAD, "LINE");
    Canvas_fit_right(canvas, on(places->offset, y), STYLE_HEAD, "OFFS");
    Canvas_fit(canvas, on(places->text, y), STYLE_HEAD, CUT_END,
               places->live.width ? source ? "SOURCE / BYTECODE" : "BYTECODE"
               : source           ? "SOURCE / BYTECODE -> SPECIALISED"
                                  : "BYTECODE -> SPECIALISED");
    Canvas_fit(canvas, on(places->live, y), STYLE_HEAD, CUT_END,
               "BASE -> SPECIALISED");
    Canvas_fit_right(canvas, on(places->hits, y), STYLE_HEAD, "HITS");
    if (places->time.width)
        Canvas_fit_right(canvas, on(places->time, y), STYLE_HEAD, "TIME");
    Canvas_fit_right(canvas, on(places->cycles, y), STYLE_HEAD,
                     display->ns   ? "NS"
                     : places->bar ? "CYCLES"
                                   : "CYC");
}

// --- A line of any kind

void AnnotateRow_draw(struct Canvas *canvas, int y,
                      const struct AnnotatePlaces *places,
                      const struct AnnotateState *state,
                      const struct Entry *entry, const struct Display *display)
{
    switch (entry->kind) {
    case ENTRY_NOTE:
        draw_note(canvas, y, state);
        break;
    case ENTRY_SOURCE:
        draw_source(canvas, places, y, state, entry);
        break;
    case ENTRY_GAP:
    case ENTRY_MORE:
        draw_gap(canvas, places, y, entry);
        break;
    case ENTRY_CODE:
        draw_code(canvas, places, y, state, entry, display);
        break;
    }
}
