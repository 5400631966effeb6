// SPDX-License-Identifier: MIT
// Plain text, no colour, nothing wider than about a hundred columns unless an
// opcode's name is. All text of the traced program is made harmless first.
#include "tracer/report.h"
#include "tracer/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PATH_ROWS 12    // instructions shown of a function
#define MAX_OPCODES 41  // the column; longer ones stick out
#define MAX_NAME 53     // of a function
#define MAX_PLACE 36    // file and line
#define MAX_COMMAND 400 // bytes

__attribute__((format(printf, 2, 3))) static void put(struct Bytes *out,
                                                      const char *format, ...)
{
    char line[4096];
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (size > 0)
        Bytes_put(out, line,
                  (size_t)size < sizeof line ? (size_t)size : sizeof line - 1);
}

// --- Numbers as text ---

struct Figure {
    char text[32];
};

// A floor (">=") is rounded down, all else to the nearest.
static struct Figure figure(const char *prefix, double value)
{
    static const char units[] = " kMGTPE";
    struct Figure result;
    unsigned unit = 0;
    int decimals;

    while (value >= (unit ? 999.5 : 99999.5) && unit < sizeof units - 2) {
        value /= 1000;
        unit++;
    }
    decimals = unit && value < 99.95;
    if (*prefix == '>')
        value = decimals ? (double)(uint64_t)(value * 10) / 10
                         : (double)(uint64_t)value;
    snprintf(result.text, sizeof result.text, "%s%.*f%.*s", prefix, decimals,
             value, unit ? 1 : 0, units + unit);
    return result;
}

static struct Figure figure_cycles(double cycles)
{
    struct Figure result = {""};

    if (cycles < 9.95)
        snprintf(result.text, sizeof result.text, "~%.1f", cycles);
    else if (!isnan(cycles))
        result = figure("~", cycles);
    return result;
}

static struct Figure figure_time(double s)
{
    struct Figure result;

    if (s < 9.9995e-7)
        snprintf(result.text, sizeof result.text, "%.0f ns", s * 1e9);
    else if (s < 9.9995e-4)
        snprintf(result.text, sizeof result.text, "%.1f us", s * 1e6);
    else if (s < 0.99995)
        snprintf(result.text, sizeof result.text, "%.1f ms", s * 1e3);
    else
        snprintf(result.text, sizeof result.text, "%.1f s", s);
    return result;
}

static struct Figure figure_hits(const struct DetailRow *row)
{
    struct Figure nothing = {""};

    if (!row->hits && !row->exact)
        return nothing;
    return figure(row->exact ? "" : ">=", (double)row->hits);
}

// --- Instructions ---

static void opcode_text(char *text, size_t size, const struct DetailRow *row,
                        const struct Opcodes *opcodes)
{
    const char *base = opcodes->name[row->opcode];

    if (row->jitted)
        snprintf(text, size, "%s -> " OPCODE_EXECUTOR_TEXT, base);
    else if (row->live != row->opcode)
        snprintf(text, size, "%s -> %s", base, opcodes->name[row->live]);
    else
        snprintf(text, size, "%s", *base ? base : "?");
}

static double weight(const struct DetailRow *row)
{
    return (double)row->hits * (isnan(row->cycles) ? 1 : row->cycles + 1);
}

// The run of at most PATH_ROWS instructions in which most of the time went:
// from *from, as many as it returns.
static size_t hottest_path(const struct Detail *detail, size_t *from)
{
    double sum = 0, most = -1;
    size_t i, end = 0;

    for (i = 0; i < detail->row_count; i++) {
        sum += weight(&detail->rows[i]);
        if (i >= PATH_ROWS)
            sum -= weight(&detail->rows[i - PATH_ROWS]);
        if (sum > most * (1 + 1e-9)) {
            most = sum;
            end = i + 1;
        }
    }
    *from = end > PATH_ROWS ? end - PATH_ROWS : 0;
    while (*from < end && weight(&detail->rows[*from]) <= 0)
        ++*from;
    return end - *from;
}

// Column widths, the same for all functions.
struct Widths {
    int offset, line, opcodes, hits, cycles;
};

static void widen(int *width, int size)
{
    if (*width < size)
        *width = size;
}

static void measure(struct Widths *widths, const struct ReportPart *part,
                    const struct Opcodes *opcodes)
{
    size_t from, count = hottest_path(part->detail, &from), i;
    char text[128];

    for (i = from; i < from + count; i++) {
        const struct DetailRow *row = &part->detail->rows[i];
        int size;

        widen(&widths->offset, snprintf(NULL, 0, "%u", row->offset));
        widen(&widths->line, snprintf(NULL, 0, "%u", row->line));
        opcode_text(text, sizeof text, row, opcodes);
        size = (int)strlen(text);
        widen(&widths->opcodes, size < MAX_OPCODES ? size : MAX_OPCODES);
        widen(&widths->hits, (int)strlen(figure_hits(row).text));
        widen(&widths->cycles, (int)strlen(figure_cycles(row->cycles).text));
    }
}

static void put_row(struct Bytes *out, size_t index,
                    const struct DetailRow *row, const struct Opcodes *opcodes,
                    const struct Widths *widths)
{
    struct Figure hits = figure_hits(row), cycles = figure_cycles(row->cycles);
    char text[128], line[16] = "", tail[160];
    int size;

    if (row->line)
        snprintf(line, sizeof line, "%u", row->line);
    opcode_text(text, sizeof text, row, opcodes);
    size = snprintf(tail, sizeof tail, "%*s %s  %*s %s  %s", widths->hits,
                    hits.text, *hits.text ? "hits" : "    ", widths->cycles,
                    cycles.text, *cycles.text ? "cycles" : "      ",
                    row->dark ? "dark" : "");
    while (size && tail[size - 1] == ' ')
        tail[--size] = 0;
    put(out, "    [%03zu] offset %-*u  line %-*s  ", index, widths->offset,
        row->offset, widths->line, line);
    if (size)
        put(out, "%-*s  %s\n", widths->opcodes, text, tail);
    else
        put(out, "%s\n", text);
}

// --- Functions ---

// "file:line", or the end of it, somewhere in `room`.
static const char *place_of(char *room, size_t size,
                            const struct Function *function)
{
    const char *file = function->file ? function->file : "?";
    char *place = room + 3; // "..."
    size_t length = strlen(file), width;

    size -= 32; // the line's and the dots'
    Text_clean(place, size, length < size / 3 ? file : file + length - size / 3,
               true);
    snprintf(place + strlen(place), 24, ":%" PRIu64, function->line);
    width = Text_width(place);
    if (width <= MAX_PLACE)
        return place;
    for (; width > MAX_PLACE - 3; width--)
        do
            place++;
        while ((*place & 0xc0) == 0x80);
    return memcpy(place - 3, "...", 3);
}

static void put_facts(struct Bytes *out, const struct Function *function,
                      double hz)
{
    double share =
        isnan(function->run_share) ? function->cpu_share : function->run_share;
    bool exact = function->calls_exact == 1;

    if (function->calls != NULL_U64)
        put(out, "  %s call%s",
            figure(exact ? "" : ">=", (double)function->calls).text,
            exact && function->calls == 1 ? "" : "s");
    if (!isnan(function->avg_cycles)) {
        put(out, "  ~%s cycles", figure("", function->avg_cycles).text);
        if (hz > 0)
            put(out, " (%s)", figure_time(function->avg_cycles / hz).text);
        put(out, " a call");
    }
    if (!isnan(share))
        put(out, "  %.1f%% of a core", 100 * share);
    put(out, "  %s", State_name(function->state));
    if (function->state == STATE_PARTIAL && function->sites != NULL_U64)
        put(out, ", %" PRIu64 " of %" PRIu64 " sites dark",
            function->dark_sites, function->sites);
    put(out, "\n");
}

static void put_part(struct Bytes *out, size_t rank,
                     const struct ReportPart *part, double hz)
{
    const struct Function *function = part->function;
    char name[MAX_NAME + 1], room[1024];
    size_t width;

    Text_clean(name, sizeof name, function->name ? function->name : "?", true);
    width = Text_width(name);
    put(out, "\n#%zu  %s%*s  %s\n  ", rank, name,
        width < MAX_NAME ? (int)(MAX_NAME - width) : 0, "",
        place_of(room, sizeof room, function));
    put_facts(out, function, hz);
}

// --- All of it ---

static void put_header(struct Bytes *out, const struct Snapshot *snapshot)
{
    char command[MAX_COMMAND];

    Text_clean(command, sizeof command,
               snapshot->command ? snapshot->command : "?", true);
    put(out, "Ocular %s: pid %" PRIu64 ", %s\n",
        snapshot->version ? snapshot->version : "?", snapshot->pid, command);
    put(out, "  %s mode, threshold %" PRIu64,
        snapshot->mode ? snapshot->mode : "?", snapshot->threshold);
    if (!snapshot->threshold)
        put(out, " (never dark)");
    put(out, "; %s traced", figure_time(snapshot->uptime_s).text);
    if (snapshot->events != NULL_U64)
        put(out, "; %s events", figure("", (double)snapshot->events).text);
    if (snapshot->functions_total != NULL_U64)
        put(out, "; %s function%s",
            figure("", (double)snapshot->functions_total).text,
            snapshot->functions_total == 1 ? "" : "s");
    if (snapshot->python)
        put(out, "; %s", snapshot->python);
    put(out, "\n");
}

static void put_footer(struct Bytes *out, const struct Snapshot *snapshot,
                       const struct ReportPart *parts, size_t part_count,
                       const char *trace_path)
{
    bool precise = part_count && parts[0].detail->precise;
    char path[4096 - 64];

    if (part_count)
        put(out,
            "\n  >=  at least: the hooks were out for a while    ~  mean%s\n",
            precise ? "" : " over its block");
    if (precise)
        put(out,
            "  cycles are each instruction's own, in its generic form: one "
            "that has a hook\n"
            "  never runs specialised, so they are not those of what stands "
            "behind \"->\"\n");
    if (snapshot->lost && snapshot->lost != NULL_U64)
        put(out,
            "  %s timeline events were lost (buffers full); "
            "the gaps are marked there\n",
            figure("", (double)snapshot->lost).text);
    if (!trace_path)
        return;
    Text_clean(path, sizeof path, trace_path, true);
    put(out, "  timeline: %s\n", path);
    put(out, "            open it in https://ui.perfetto.dev\n");
}

void Report_write(struct Bytes *out, const struct Snapshot *snapshot,
                  const struct ReportPart *parts, size_t part_count,
                  const struct Opcodes *opcodes, const char *trace_path)
{
    struct Widths widths = {0, 0, 0, 0, 0};
    size_t i, j;

    put_header(out, snapshot);
    for (i = 0; i < part_count; i++)
        measure(&widths, &parts[i], opcodes);
    for (i = 0; i < part_count; i++) {
        const struct Detail *detail = parts[i].detail;
        size_t from, count = hottest_path(detail, &from);

        put_part(out, i + 1, &parts[i], snapshot->tsc_hz);
        for (j = 0; j < count; j++)
            put_row(out, j, &detail->rows[from + j], opcodes, &widths);
    }
    if (!part_count)
        put(out,
            "\n  No function was traced: the filters accepted none, or "
            "none ran.\n");
    put_footer(out, snapshot, parts, part_count, trace_path);
}
