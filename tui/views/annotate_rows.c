// SPDX-License-Identifier: MIT
#include "tui/views/annotate_rows.h"

#include "tui/model/row.h"
#include "tui/screen/gauge.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/instruction_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// At most LINE_BYTES bytes of a source line are drawn.
#define LINE_BYTES 2048
#define BAR_CELLS 8     // Width in cells of the bar in the column of cycles.
#define BAR_FROM 96     // Screens with fewer columns have no bars.
#define LABEL_CELLS 6   // Width in cells of a jump label such as "L123: ".
#define OPCODE_CELLS 14 // Cells of an opcode's name on a narrow screen.
#define OPCODE_WIDE 19

static const struct ListingRow *listing_row(const struct AnnotateRows *source,
                                            long index)
{
    const struct AnnotateState *state = source->state;
    return &state->listing->rows[state->annotation.entries[index].row];
}

static struct Box place_of(const struct AnnotateRows *source, struct Box line,
                           int column)
{
    const struct ListPlace *place = List_place(source->list, column);
    return (struct Box){line.y, line.x + place->x, place->width};
}

// Returns the number of cells of the bar in the column of cycles.
static int bar_of(struct Box cycles)
{
    return cycles.width > BAR_CELLS ? BAR_CELLS : 0;
}

// --- Cells

static double share_of(double part, double all)
{
    return all > 0 ? part / all : NAN;
}

static void write_percent(struct ListCell *cell, double share)
{
    if (!(share >= INSTRUCTION_LEAST_SHARE))
        return;
    snprintf(cell->text, sizeof cell->text,
             share >= 0.0995 ? "%.0f%%" : "%.1f%%", share * 100);
    cell->style = (uint8_t)Gauge_heat(share);
}

static void put_bar(struct Canvas *canvas, struct Box box, int cells,
                    double part, uint8_t style)
{
    box.width = cells;
    Gauge_bar(canvas, box, part, style);
}

// Draws an instruction's bar. The bar shows the share of samples. Cycles of one
// execution do not show where the time goes, and are often the mean of several
// instructions. Without samples, the bar has no colour and shows the cycles. If
// all instructions have the same cycles, there is no bar.
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

static void draw_cycles(struct Canvas *canvas, struct Box box,
                        const struct ListRows *rows, long index)
{
    const struct AnnotateRows *source = rows->source;
    const struct ListingRow *row = listing_row(source, index);
    int bar = bar_of(box);
    char text[NUMBER_MAX];
    put_part(canvas, box, bar, &source->state->annotation, row);
    if (isnan(row->cycles))
        return;
    box.x += bar ? bar + 1 : 0;
    box.width -= bar ? bar + 1 : 0;
    if (source->display->ns)
        Number_ns(text, row->cycles / source->display->tsc_hz * 1e9);
    else if (row->cycles < 9.95)
        snprintf(text, sizeof text, "%.1f", row->cycles);
    else
        Number_count(text, row->cycles);
    // Without precise hooks each instruction has the mean over its block.
    Canvas_fit_right(
        canvas, box,
        source->state->listing->precise == 1 ? STYLE_PLAIN : STYLE_FAINT, text);
}

// Draws how often an instruction was hit, and before it the mark of an armed or
// dark site.
static void draw_hits(struct Canvas *canvas, struct Box box,
                      const struct ListRows *rows, long index)
{
    const struct ListingRow *row = listing_row(rows->source, index);
    char text[NUMBER_MAX + 2], number[NUMBER_MAX];
    if (row->armed != NULL_U64)
        Canvas_put(canvas, box.y, box.x, box.x + 1,
                   row->armed ? STYLE_ARMED : STYLE_DARK,
                   row->armed ? "●" : "○");
    box = (struct Box){box.y, box.x + 2, box.width - 2};
    if (row->hits == NULL_U64) {
        if (row->armed == 0)
            Canvas_fit_right(canvas, box, STYLE_DARK, "dark");
        return;
    }
    snprintf(text, sizeof text, "%s%s", row->hits_exact == 1 ? "" : ">=",
             Number_count(number, (double)row->hits));
    Canvas_fit_right(canvas, box, row->hits ? STYLE_PLAIN : STYLE_FAINT, text);
}

// --- Instructions

// Draws the operand of an instruction, and after it the text about its
// specialisation. If both do not fit, the text about the specialisation gets
// half of the cells, but at least INSTRUCTION_SHORT, so that its fixed words
// are not cut.
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

static void draw_live(struct Canvas *canvas, struct Box box,
                      const struct ListRows *rows, long index)
{
    const struct ListingRow *row = listing_row(rows->source, index);
    int y = box.y;
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

static void draw_code(struct Canvas *canvas, struct Box box,
                      const struct ListRows *rows, long index)
{
    const struct AnnotateRows *source = rows->source;
    const struct AnnotateState *state = source->state;
    const struct ListingRow *row = listing_row(source, index);
    unsigned number = state->annotation.labels[row - state->listing->rows];
    int y = box.y, end = box.x + box.width, x = box.x + LABEL_CELLS;
    char label[16], argument[400], tail[120] = "";
    enum Style style = STYLE_PLAIN;
    if (number) {
        snprintf(label, sizeof label, "L%u:", number);
        Canvas_fit_right(canvas, (struct Box){y, box.x, LABEL_CELLS - 1},
                         STYLE_ACCENT, label);
    }
    int after = Canvas_put(canvas, y, x, end, STYLE_PLAIN,
                           row->opcode ? row->opcode : "?");
    InstructionText_operand(argument, sizeof argument, state, row);
    if (!List_place(source->list, CODE_LIVE))
        style = InstructionText_short(tail, sizeof tail, row);
    x += box.width >= 50 ? OPCODE_WIDE : OPCODE_CELLS;
    if (x <= after)
        x = after + 1;
    if (x < end)
        put_argument(canvas, (struct Box){y, x, end - x}, argument, tail,
                     style);
}

static void write_line(char out[24], uint64_t line)
{
    out[0] = 0;
    if (line != NULL_U64 && line)
        snprintf(out, 24, "%llu", (unsigned long long)line);
}

static void write(struct ListCell *cell, const struct ListRows *rows,
                  long index, int column)
{
    const struct AnnotateRows *source = rows->source;
    const struct AnnotateState *state = source->state;
    const struct Entry *entry = &state->annotation.entries[index];
    const struct ListingRow *row = listing_row(source, index);
    char text[24];
    if (column == CODE_TIME) {
        write_percent(
            cell, share_of(Row_u64(row->samples), state->annotation.samples));
    } else if (column == CODE_OFFSET) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)row->offset);
        ListCell_put(cell, STYLE_FAINT, text);
    } else if (state->source.state != SOURCE_FINE && entry->first) {
        write_line(text, entry->line);
        ListCell_put(cell, STYLE_PLAIN, text);
    }
}

// --- Source lines

// Returns how many leading blanks a source line has in common with the first
// line of its function.
static size_t shared_indent(const struct AnnotateState *state, const char *line)
{
    char first[LINE_BYTES] = "";
    const char *def = Source_line(&state->source, state->listing->line);
    if (def)
        Source_expand(first, sizeof first, def);
    size_t all = strspn(first, " "), here = strspn(line, " ");
    return here < all ? here : all;
}

// Returns the group of asyncio tasks whose oldest task is suspended at the
// line. If there are several such groups, returns the one with the oldest task.
// Returns NULL if there is no such group.
static const struct TaskGroup *suspended_at(const struct AnnotateRows *source,
                                            uint64_t line)
{
    const struct Snapshot *now = source->now;
    const struct TaskGroup *found = NULL;
    for (size_t i = 0; now && i < now->tasks_group_count; i++) {
        const struct TaskGroup *group = &now->tasks_groups[i];
        for (size_t j = 0; j < group->chain_count; j++)
            if (group->chain[j].id == source->state->id &&
                group->chain[j].line == line &&
                (!found || group->oldest_s > found->oldest_s))
                found = group;
    }
    return found;
}

// Draws the name and the age of the group's oldest task, which is suspended at
// the line.
static void put_suspended(struct Canvas *canvas, struct Box box,
                          const struct TaskGroup *group)
{
    char text[160], age[NUMBER_MAX];
    snprintf(text, sizeof text, "◂ %.80s %s, age %s%s",
             group->task ? group->task : "a task",
             group->chain_count ? "waits" : "stays",
             group->oldest_is_least ? ">" : "",
             Number_ns(age, group->oldest_s * 1e9));
    Canvas_fit(canvas, box, STYLE_ACCENT, CUT_END, text);
}

// Draws the names of the C functions that the line has called, each with its
// part of the time that the line spent in C functions. The function with the
// largest part comes first.
static void put_natives(struct Canvas *canvas, struct Box box,
                        const struct Listing *listing, uint64_t line)
{
    char text[200] = "";
    double all = 0;
    size_t used = 0;
    for (size_t i = 0; i < listing->native_count; i++)
        if (listing->natives[i].line == line)
            all += Row_u64(listing->natives[i].ns);
    for (size_t i = 0; i < listing->native_count && used < sizeof text; i++) {
        const struct ListingNative *at = &listing->natives[i];
        if (at->line == line && at->name)
            used += (size_t)snprintf(text + used, sizeof text - used,
                                     "%s%.60s %.0f%%", used ? ", " : "┊ ",
                                     at->name, Row_u64(at->ns) / all * 100);
    }
    Canvas_fit(canvas, box, STYLE_FAINT, CUT_END, text);
}

// Writes the number of hits of a line if all were counted. If not all hits were
// counted, writes the estimated hits per second, or a lower bound of the
// number.
static const char *line_hits(char *out, size_t size, const struct Entry *entry)
{
    char number[NUMBER_MAX];
    if (!entry->hits_exact && isfinite(entry->hits_per_s))
        snprintf(out, size, "~%s/s", Number_rate(number, entry->hits_per_s));
    else
        snprintf(out, size, "%s%s", entry->hits_exact ? "" : ">=",
                 Number_count(number, (double)entry->hits));
    return out;
}

static void draw_source(struct Canvas *canvas, struct Box line,
                        const struct AnnotateRows *source,
                        const struct Entry *entry)
{
    const struct AnnotateState *state = source->state;
    struct Box number = place_of(source, line, CODE_LINE);
    struct Box box = place_of(source, line, CODE_TEXT);
    struct Box cycles = place_of(source, line, CODE_CYCLES);
    struct Box hits = place_of(source, line, CODE_HITS);
    // CPython reports no event at the line of a function's first instruction.
    bool counted =
        entry->hits != NULL_U64 && (entry->hits || !(entry->samples > 0));
    const char *code = Source_line(&state->source, entry->line);
    double share = share_of(entry->samples, state->annotation.samples);
    const struct TaskGroup *group = suspended_at(source, entry->line);
    const struct TaskGroup thread = {.task = "a thread",
                                     .oldest_s = state->listing->waits_s,
                                     .oldest_is_least = 1};
    struct ListCell cell = {0};
    char text[LINE_BYTES];
    int used = 0;
    write_line(text, entry->line);
    Canvas_fit_right(canvas, number, STYLE_FAINT, text);
    // If a line has no number of hits, its text may also cover the column of
    // hits.
    if (counted)
        Canvas_fit_right(canvas, hits, entry->hits ? STYLE_PLAIN : STYLE_FAINT,
                         line_hits(text, sizeof text, entry));
    if (code) {
        Source_expand(text, sizeof text, code);
        box.width = (counted ? hits : cycles).x - 1 - box.x;
        Canvas_fit(canvas, box, STYLE_STRONG, CUT_END,
                   text + shared_indent(state, text));
        used = Canvas_measure(canvas, text + shared_indent(state, text)) + 2;
    }
    if (!group && entry->line == state->listing->waits_line)
        group = &thread;
    if (group && used < box.width)
        put_suspended(
            canvas, (struct Box){box.y, box.x + used, box.width - used}, group);
    else if (!state->hides && used < box.width)
        put_natives(canvas, (struct Box){box.y, box.x + used, box.width - used},
                    state->listing, entry->line);
    if (!(share >= INSTRUCTION_LEAST_SHARE))
        return;
    put_bar(canvas, cycles, bar_of(cycles), share, Gauge_heat(share));
    write_percent(&cell, share);
    Canvas_fit_right(canvas, cycles, cell.style, cell.text);
}

// Draws how many source lines or instructions are left out.
static void draw_gap(struct Canvas *canvas, struct Box line,
                     const struct AnnotateRows *source,
                     const struct Entry *entry)
{
    struct Box box = place_of(source, line, CODE_TEXT);
    char text[96], number[NUMBER_MAX];
    box.width = place_of(source, line, CODE_HITS).x - 1 - box.x;
    Number_grouped(number, entry->count);
    snprintf(text, sizeof text,
             entry->kind == ENTRY_MORE ? "… %s more instructions, not listed"
                                       : "… %s lines without code",
             number);
    Canvas_fit(canvas, box, STYLE_FAINT, CUT_END, text);
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

// --- As a source of rows

static bool draw_row(struct Canvas *canvas, struct Box line,
                     const struct ListRows *rows, long index)
{
    const struct AnnotateRows *source = rows->source;
    const struct Entry *entry = &source->state->annotation.entries[index];
    if (entry->kind == ENTRY_CODE)
        return false;
    if (entry->kind == ENTRY_NOTE)
        draw_note(canvas, line.y, source->state);
    else if (entry->kind == ENTRY_SOURCE)
        draw_source(canvas, line, source, entry);
    else
        draw_gap(canvas, line, source, entry);
    return true;
}

static bool has(const struct ListRows *rows, long index, const char *text)
{
    const struct AnnotateRows *source = rows->source;
    const struct AnnotateState *state = source->state;
    const struct Entry *entry = &state->annotation.entries[index];
    if (entry->kind == ENTRY_SOURCE)
        return Text_has(Source_line(&state->source, entry->line), text);
    if (entry->kind != ENTRY_CODE)
        return false;
    const struct ListingRow *row = listing_row(source, index);
    return Text_has(row->opcode, text) || Text_has(row->live, text) ||
           Text_has(row->words, text) || Text_has(row->callee, text);
}

static const struct ListColumn COLUMNS_OF_CODE[CODE_COLUMNS] = {
    [CODE_LINE] = LIST_COLUMN("LINE", 5, 1),
    [CODE_OFFSET] = LIST_COLUMN("OFFS", 5, 1, .importance = 1, .room = 39),
    [CODE_TEXT] =
        {.width = 20, .gap = 1, .grows = 56, .left = true, .draw = draw_code},
    [CODE_LIVE] =
        LIST_COLUMN("BASE -> SPECIALISED", 34, 2, .importance = 2, .room = 40,
                    .grows = 44, .most = 58, .left = true, .draw = draw_live),
    [CODE_HITS] = LIST_COLUMN("HITS", 9, 1, .draw = draw_hits),
    [CODE_TIME] = LIST_COLUMN("TIME", 5, 2, .importance = 3, .room = 41),
    [CODE_CYCLES] = {.gap = 2, .draw = draw_cycles},
};

void AnnotateRows_fill(struct AnnotateRows *source,
                       const struct AnnotateState *state,
                       const struct Snapshot *now, struct List *list,
                       const struct Display *display, int width)
{
    bool has_source = state->source.state == SOURCE_FINE;
    bool wide = width >= BAR_FROM;
    source->state = state;
    source->now = now;
    source->list = list;
    source->display = display;
    source->rows = (struct ListRows){.source = source,
                                     .count = (long)state->annotation.count,
                                     .columns = source->columns,
                                     .column_count = CODE_COLUMNS,
                                     .draw = draw_row,
                                     .has = has,
                                     .write = write};
    if (!isfinite(state->annotation.samples))
        source->rows.absent = 1 << CODE_TIME;
    memcpy(source->columns, COLUMNS_OF_CODE, sizeof source->columns);
    source->columns[CODE_CYCLES].width = wide ? BAR_CELLS + 6 : 5;
    source->columns[CODE_CYCLES].title = display && display->ns ? "NS"
                                         : wide                 ? "CYCLES"
                                                                : "CYC";
    List_arrange(list, &source->rows, width - 1);
    bool both = List_place(list, CODE_LIVE) != NULL;
    source->columns[CODE_TEXT].title =
        both         ? has_source ? "SOURCE / BYTECODE" : "BYTECODE"
        : has_source ? "SOURCE / BYTECODE -> SPECIALISED"
                     : "BYTECODE -> SPECIALISED";
}
