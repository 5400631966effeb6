// SPDX-License-Identifier: MIT
// Writes the report as plain text without colour. A line of the report has at
// most about a hundred columns, unless an opcode has a longer name. Text of the
// traced program is first cleaned of characters that could harm a terminal.
#include "tracer/session/report.h"
#include "ipc/file_kind.h"
#include "tracer/base/harmless.h"
#include "tracer/session/figure.h"
#include "tracer/session/hot_path.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// A timeline of this number of bytes or more counts as large.
#define LARGE_JSON 50000000u
// A timeline of this number of bytes or more is too large for ui.perfetto.dev.
#define HUGE_JSON 300000000u
#define MAX_NAME 53  // Largest width of a function's name, in columns.
#define MAX_PLACE 36 // Largest width of a file's name with a line, in columns.
// Largest number of bytes of the program's command line.
#define MAX_COMMAND 400
// The report calls shares rough if there are fewer than FEW_SAMPLES samples.
// With 100 samples, a share of one half has a standard error of a tenth of the
// share.
#define FEW_SAMPLES 100
#define LIGHT_CORES 0.2 // Below this, the budget is a part of a core.
#define MENTIONED 5e-4  // Smallest share that is not shown as 0.0%.

static struct Figure number(uint64_t value)
{
    return Figure_number("", (double)value);
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

// --- Head ------------------------------------------------------------------

static void put_run(struct Bytes *out, const struct Snapshot *snapshot)
{
    char command[MAX_COMMAND];

    Harmless_clean(command, sizeof command,
                   snapshot->command ? snapshot->command : "?", true);
    Figure_print(out, "Ocular %s: pid %" PRIu64 ", %s\n",
                 snapshot->version ? snapshot->version : "?", snapshot->pid,
                 command);
    Figure_print(out, "  %s mode, threshold %" PRIu64,
                 snapshot->mode ? snapshot->mode : "?", snapshot->threshold);
    if (!snapshot->threshold)
        Figure_print(out, " (never dark)");
    Figure_print(out, "; %s traced", Figure_time(snapshot->uptime_s).text);
    if (snapshot->events != NULL_U64)
        Figure_print(out, "; %s events", number(snapshot->events).text);
    if (snapshot->functions_total != NULL_U64)
        Figure_print(out, "; %s function%s",
                     number(snapshot->functions_total).text,
                     plural(snapshot->functions_total));
    if (snapshot->python)
        Figure_print(out, "; %s", snapshot->python);
    Figure_print(out, "\n");
}

static void put_overhead(struct Bytes *out, const struct Snapshot *snapshot)
{
    double mean = snapshot->overhead_mean, cores = 0;

    // The times of dropped threads are not known.
    bool all =
        !snapshot->threads_dropped || snapshot->threads_dropped == NULL_U64;

    for (size_t i = 0; i < snapshot->thread_count; i++)
        cores += snapshot->threads[i].cpu_s / snapshot->uptime_s;
    if (all && cores > 0 && cores < LIGHT_CORES && mean >= MENTIONED)
        Figure_print(out,
                     "  overhead: %.1f%% of a core over the whole run, in "
                     "which the program used %.1f%%\n",
                     100 * mean * cores, 100 * cores);
    else if (isnan(mean))
        Figure_print(
            out,
            "  overhead: not known, the program used no CPU time of its "
            "own\n");
    else if (mean < MENTIONED)
        Figure_print(
            out,
            "  overhead: below 0.1%% of the program's CPU time, over the "
            "whole run\n");
    else
        Figure_print(
            out,
            "  overhead: %.1f%% of the program's CPU time, over the whole "
            "run\n",
            100 * mean);
}

// Returns the number of samples in which a function was running, added up over
// all functions.
static uint64_t run_samples(const struct Snapshot *snapshot)
{
    uint64_t sum = 0;
    size_t i;

    for (i = 0; i < snapshot->function_count; i++)
        if (snapshot->functions[i].run_samples != NULL_U64)
            sum += snapshot->functions[i].run_samples;
    for (i = 0; i < snapshot->retired_count; i++)
        if (snapshot->retired[i].run_samples != NULL_U64)
            sum += snapshot->retired[i].run_samples;
    return sum;
}

// Writes how the functions are sorted if there are no shares.
static void put_order(struct Bytes *out, const struct Snapshot *snapshot)
{
    Figure_print(
        out, "  functions are ordered by the cycles of their timed calls%s\n",
        snapshot->threshold ? ": calls without hooks are not among them" : "");
}

// Writes how the samples were taken.
static void put_source(struct Bytes *out, const struct Snapshot *snapshot)
{
    if (snapshot->sampler_signal == NULL_U64)
        Figure_print(
            out,
            "  they were taken by looking at all threads: no thread had a CPU "
            "timer\n");
    else
        Figure_print(out,
                     "  they were taken in each thread's CPU time, by signal "
                     "%" PRIu64 "\n",
                     snapshot->sampler_signal);
}

static void put_shares(struct Bytes *out, const struct Snapshot *snapshot)
{
    uint64_t samples = run_samples(snapshot);
    uint64_t unread = snapshot->sampler_unknown;

    if (snapshot->sampler_samples == NULL_U64) {
        Figure_print(
            out,
            "  shares of the run: not known, no sampler ran (this process may "
            "not read its own memory)\n");
        put_order(out, snapshot);
    } else if (!samples) {
        Figure_print(out,
                     "  shares of the run: not known, no sample found a traced "
                     "function running\n");
        put_order(out, snapshot);
    } else {
        Figure_print(
            out,
            "  shares of the run: from %s sample%s that found a traced "
            "function running%s\n",
            number(samples).text, plural(samples),
            samples < FEW_SAMPLES ? ": few, shares are rough" : "");
        put_source(out, snapshot);
    }
    if (unread && unread != NULL_U64)
        Figure_print(out, "  %s more sample%s: %s could not be read\n",
                     number(unread).text, plural(unread),
                     unread == 1 ? "its stack" : "their stacks");
}

// --- Functions -------------------------------------------------------------

// Writes "file:line" into `room` and returns this text. If the text has more
// than MAX_PLACE columns, "..." replaces its beginning.
static const char *place_of(char *room, size_t size, const char *file,
                            uint64_t line)
{
    char *place = room + 3; // The first three bytes of `room` are for "...".
    size_t length, width;

    file = file ? file : "?";
    if (!*file) // Only the row of the garbage collector has no file.
        return "-";
    length = strlen(file);
    // The last 32 bytes of `room` are for the line number and the dots.
    size -= 32;
    Harmless_clean(place, size,
                   length < size / 3 ? file : file + length - size / 3, true);
    snprintf(place + strlen(place), 24, ":%" PRIu64, line);
    width = Harmless_width(place);
    if (width <= MAX_PLACE)
        return place;
    for (; width > MAX_PLACE - 3; width--)
        do
            place++;
        while ((*place & 0xc0) == 0x80);
    return memcpy(place - 3, "...", 3);
}

static void put_title(struct Bytes *out, size_t rank, const char *text,
                      const char *place)
{
    char name[MAX_NAME + 1];
    size_t width;

    Harmless_clean(name, sizeof name, text ? text : "?", true);
    width = Harmless_width(name);
    Figure_print(out, "\n#%zu  %s%*s  %s\n", rank, name,
                 width < MAX_NAME ? (int)(MAX_NAME - width) : 0, "", place);
}

// Formats a share of time as a percentage. The result is never "0.0%", because
// samples have found the function.
static struct Figure percent(double share)
{
    struct Figure result;

    if (share < 0.5e-4)
        snprintf(result.text, sizeof result.text, "<0.01%%");
    else
        snprintf(result.text, sizeof result.text, "%.*f%%",
                 share < 0.95e-3 ? 2 : 1, 100 * share);
    return result;
}

static void put_share(struct Bytes *out, double share, uint64_t samples)
{
    if (isnan(share) || samples == NULL_U64)
        return;
    if (samples)
        Figure_print(
            out, "    %s of a core over the whole run, of %s sample%s\n",
            percent(share).text, number(samples).text, plural(samples));
    else
        Figure_print(out, "    no sample found it running\n");
}

static void put_calls(struct Bytes *out, uint64_t calls, bool exact)
{
    if (calls != NULL_U64)
        Figure_print(out, "  %s call%s",
                     Figure_number(exact ? "" : ">=", (double)calls).text,
                     exact && calls == 1 ? "" : "s");
}

static void put_state(struct Bytes *out, const struct Function *function,
                      bool gone)
{
    Figure_print(out, "  %s", gone ? "gone" : State_name(function->state));
    if (!gone && function->state == STATE_PARTIAL &&
        function->sites != NULL_U64)
        Figure_print(out, ", %" PRIu64 " of %" PRIu64 " sites dark",
                     function->dark_sites, function->sites);
    Figure_print(out, "\n");
}

static void put_function(struct Bytes *out, size_t rank,
                         const struct Function *function, bool gone, double hz)
{
    char room[1024];

    put_title(out, rank, function->name,
              place_of(room, sizeof room, function->file, function->line));
    put_share(out, function->run_share, function->run_samples);
    Figure_print(out, "  ");
    put_calls(out, function->calls, function->calls_exact == 1);
    if (!isnan(function->avg_cycles)) {
        Figure_print(out, "  ~%s cycles",
                     Figure_number("", function->avg_cycles).text);
        if (hz > 0)
            Figure_print(out, " (%s)",
                         Figure_time(function->avg_cycles / hz).text);
        Figure_print(out, " a call");
    }
    put_state(out, function, gone);
}

// Writes an entry for all retired code objects with the same name and place.
static void put_retired(struct Bytes *out, size_t rank,
                        const struct RetiredRow *row)
{
    char room[1024];

    put_title(out, rank, row->name,
              place_of(room, sizeof room, row->file, row->line));
    put_share(out, row->run_share, row->run_samples);
    Figure_print(out, "  ");
    put_calls(out, row->calls, row->calls_exact == 1);
    if (row->self_cycles != NULL_U64)
        Figure_print(out, "  %s cycles of its own",
                     number(row->self_cycles).text);
    else if (row->total_cycles != NULL_U64)
        Figure_print(out, "  %s cycles with what it called",
                     number(row->total_cycles).text);
    Figure_print(out, "  gone");
    if (row->objects > 1 && row->objects != NULL_U64)
        Figure_print(out, ", %s code objects", number(row->objects).text);
    Figure_print(out, "\n");
}

static void put_parts(struct Bytes *out, const struct Report *report)
{
    struct HotPathWidths widths = {0, 0, 0, 0, 0};
    size_t i;

    for (i = 0; i < report->part_count; i++)
        if (report->parts[i].detail)
            HotPath_measure(&widths, report->parts[i].detail, report->opcodes);
    for (i = 0; i < report->part_count; i++) {
        const struct ReportPart *part = &report->parts[i];

        if (part->ranked.retired)
            put_retired(out, i + 1, part->ranked.retired);
        else
            put_function(out, i + 1, part->ranked.function, !part->detail,
                         report->snapshot->tsc_hz);
        CalledFrom_write(out, &part->callers);
        if (part->detail)
            HotPath_write(out, part->detail, report->opcodes, &widths);
    }
    if (!report->part_count)
        Figure_print(
            out,
            "\n  No function was traced: the filters accepted none, or "
            "none ran.\n");
}

// --- Foot ------------------------------------------------------------------

static void put_legend(struct Bytes *out, const struct Report *report)
{
    const struct ListingDetail *detail = NULL;
    size_t i;

    for (i = 0; i < report->part_count && !detail; i++)
        detail = report->parts[i].detail;
    if (report->part_count)
        Figure_print(
            out,
            "\n  >=  at least: the hooks were out for a while    ~  mean%s\n",
            detail && !detail->precise ? " over its block" : "");
    if (detail && detail->precise)
        Figure_print(
            out,
            "  cycles are each instruction's own, in its generic form: one "
            "that has a hook\n"
            "  never runs specialised, so they are not those of what stands "
            "behind \"->\"\n");
}

static void put_lost(struct Bytes *out, const struct Snapshot *snapshot)
{
    if (snapshot->lost && snapshot->lost != NULL_U64)
        Figure_print(out,
                     "  %s timeline events were lost (buffers full); "
                     "the gaps are marked there\n",
                     number(snapshot->lost).text);
}

static void put_missing(struct Bytes *out, const struct Snapshot *snapshot)
{
    const struct RetiredRow *others = Ranking_others(snapshot);

    if (others && others->run_share >= MENTIONED)
        Figure_print(
            out,
            "  %.1f%% of a core went into functions that are gone and have no "
            "row of their own\n",
            100 * others->run_share);
    put_lost(out, snapshot);
}

static bool is_json_of(const struct ReportTimeline *timeline, uint64_t bytes)
{
    struct FileKind kind = FileKind_of(timeline->path);

    return timeline->bytes >= bytes && kind.content == FILE_JSON &&
           !kind.gzipped;
}

static const char *kind_of(const char *path)
{
    if (FileKind_of(path).content == FILE_PAGE)
        return "flame graph";
    if (FileKind_of(path).content == FILE_RECORDING)
        return "recording";
    return FileKind_is_profile(path) ? "sampled stacks" : "timeline";
}

static void put_timeline(struct Bytes *out,
                         const struct ReportTimeline *timeline)
{
    char path[4096 - 64];

    if (!timeline->path)
        return;
    Harmless_clean(path, sizeof path, timeline->path, true);
    if (FileKind_is_profile(timeline->path)) {
        Figure_print(out, "  %s: %s\n", kind_of(timeline->path), path);
        return;
    }
    if (FileKind_of(timeline->path).content == FILE_RECORDING) {
        Figure_print(out,
                     "  recording: %s, %s\n"
                     "            ocular convert makes a timeline or a profile "
                     "of it\n",
                     path, Figure_bytes((double)timeline->bytes).text);
        return;
    }
    Figure_print(out, "  timeline: %s\n", path);
    Figure_print(
        out,
        "            writing its %s took %s of CPU time, which the overhead "
        "leaves out\n",
        Figure_bytes((double)timeline->bytes).text,
        Figure_time(timeline->cpu_s).text);
    if (is_json_of(timeline, HUGE_JSON)) {
        Figure_print(
            out,
            "            too large for https://ui.perfetto.dev: choose "
            "an output that ends in .pftrace\n");
        return;
    }
    if (is_json_of(timeline, LARGE_JSON))
        Figure_print(out,
                     "            with a name that ends in .pftrace it is "
                     "smaller, and faster to write and to open\n");
    Figure_print(out, "            open it in https://ui.perfetto.dev\n");
}

// Writes the end of the report if viewers could connect. The end of the report
// is short, because ocular-top has shown the rest.
static void put_brief_end(struct Bytes *out, const struct Report *report)
{
    char path[4096 - 64];

    put_lost(out, report->snapshot);
    if (!report->timeline.path)
        return;
    Harmless_clean(path, sizeof path, report->timeline.path, true);
    Figure_print(out, "  %s: %s\n", kind_of(report->timeline.path), path);
}

void Report_write(struct Bytes *out, const struct Report *report)
{
    put_run(out, report->snapshot);
    put_overhead(out, report->snapshot);
    if (report->brief) {
        put_brief_end(out, report);
        return;
    }
    put_shares(out, report->snapshot);
    put_parts(out, report);
    put_legend(out, report);
    put_missing(out, report->snapshot);
    put_timeline(out, &report->timeline);
}
