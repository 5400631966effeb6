// SPDX-License-Identifier: MIT
#include "tui/app/diff.h"

#include "formats/summary.h"
#include "tui/app/batch.h"
#include "tui/model/json.h"
#include "tui/model/run_numbers.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/view_compare.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDTH 120
// The table has ROWS rows at most. If more than ROWS functions have changed,
// the table has a row for each of these functions.
#define ROWS 20
// Largest number of changed numbers of the whole run that are listed.
#define NUMBERS 20

static struct Snapshot *read_run(const char *path, char *why, size_t why_size)
{
    const struct SummaryWatch nobody = {0};
    struct Summary *summary;
    struct Snapshot *snapshot = NULL;
    char reason[400];
    int error = Summary_open(&summary, path, nobody, reason, sizeof reason);
    if (!error && *reason)
        fprintf(stderr, "ocular-top: %s: %s\n", path, reason);
    if (!error) {
        snprintf(reason, sizeof reason, "%s", strerror(ENOMEM));
        if (Summary_read(summary, Summary_all(summary), nobody) == 0)
            snapshot = Summary_snapshot(summary);
    }
    Summary_close(summary);
    if (!snapshot)
        snprintf(why, why_size, "%s: %s", path, reason);
    return snapshot;
}

// --- The table

static void write_run(struct Bytes *out, const char *path,
                      const struct ComparedRun *run)
{
    char line[600], clean[600], samples[NUMBER_MAX];
    snprintf(line, sizeof line, "%.200s: %.200s, %.40s, %.1f s, %s samples",
             path, run->command ? run->command : "?",
             run->python ? run->python : "?", run->seconds,
             Number_grouped(samples, run->samples));
    Text_clean(clean, sizeof clean, line);
    Bytes_put(out, clean, strlen(clean));
    Bytes_put(out, "\n", 1);
}

static int write_table(struct Bytes *out, const struct Comparison *comparison,
                       const struct Options *options)
{
    struct Canvas canvas;
    struct List list = {.unmarked = true};
    size_t rows = comparison->function_count;
    int width = options->width ? options->width : Batch_width(WIDTH);
    if (rows > ROWS)
        rows = comparison->apart > ROWS ? (size_t)comparison->apart : ROWS;
    Canvas_init(&canvas, options->ascii);
    int error = Canvas_resize(&canvas, width, (int)rows + 1);
    if (!error) {
        ViewCompare_draw(&canvas, &list, comparison, (struct Box){0, 0, width},
                         (int)rows);
        Canvas_write(&canvas, out);
    }
    Canvas_release(&canvas);
    return error;
}

static void write_line(struct Bytes *out, const char *text)
{
    Bytes_put(out, text, strlen(text));
    Bytes_put(out, "\n", 1);
}

static void write_slower(struct Bytes *out, const struct Comparison *comparison,
                         double limit)
{
    char line[400], clean[300];
    for (size_t i = 0; i < comparison->function_count; i++) {
        const struct ComparedFunction *f = &comparison->functions[i];
        if (!Comparison_is_slower(f, limit))
            continue;
        Text_clean(clean, sizeof clean, f->name);
        snprintf(line, sizeof line,
                 "slower by more than %.4g%%: %s, by %.0f%% (two standard "
                 "errors: %.0f)",
                 100 * limit, clean, 100 * f->slowdown,
                 100 * COMPARISON_LIMIT * f->slowdown_error);
        write_line(out, line);
    }
}

// Lists the functions whose waits have grown, each with the kind of wait that
// has grown most.
static void write_waits(struct Bytes *out, const struct Comparison *comparison)
{
    char line[400], clean[300];
    for (size_t i = 0; i < comparison->function_count; i++) {
        const struct ComparedFunction *f = &comparison->functions[i];
        const char *kind = Comparison_wait(f);
        if (!f->wait.apart || f->wait.change < 0 || !kind)
            continue;
        Text_clean(clean, sizeof clean, f->name);
        snprintf(line, sizeof line,
                 "waits longer, most of all for %s: %s, %.1f%% and then %.1f%% "
                 "of a thread's time (two standard errors: %.1f)",
                 kind, clean, 100 * f->wait.a, 100 * f->wait.b,
                 100 * COMPARISON_LIMIT * f->wait.error);
        write_line(out, line);
    }
}

// Lists the numbers of the whole run and the latencies that have changed.
static void write_numbers(struct Bytes *out,
                          const struct Comparison *comparison)
{
    char line[500];
    for (size_t i = 0; i < comparison->number_count; i++) {
        if (!comparison->numbers[i].measured.apart || i == NUMBERS)
            break;
        RunNumbers_text(&comparison->numbers[i], line, sizeof line);
        write_line(out, line);
    }
}

static int write_text(struct Bytes *out, const struct Comparison *comparison,
                      const struct Options *options)
{
    char line[160], clean[1200];
    write_run(out, options->before, &comparison->runs[0]);
    write_run(out, options->replay, &comparison->runs[1]);
    for (size_t i = 0; i < comparison->note_count; i++) {
        Text_clean(clean, sizeof clean, comparison->notes[i].text);
        write_line(out, clean);
    }
    write_line(out, "");
    int error = write_table(out, comparison, options);
    snprintf(line, sizeof line,
             "%llu of %zu functions are told apart, by two standard errors; = "
             "±5 is noise with this standard error.",
             (unsigned long long)comparison->apart, comparison->function_count);
    write_line(out, line);
    write_waits(out, comparison);
    write_numbers(out, comparison);
    if (isfinite(options->fail_above))
        write_slower(out, comparison, options->fail_above);
    return error;
}

// --- JSON --------------------------------------------------------------------

static bool is_slower(const struct Comparison *comparison, double limit)
{
    for (size_t i = 0; isfinite(limit) && i < comparison->function_count; i++)
        if (Comparison_is_slower(&comparison->functions[i], limit))
            return true;
    return false;
}

static int print(const struct Comparison *comparison,
                 const struct Options *options)
{
    struct Bytes out;
    Bytes_init(&out);
    int error = options->json
                    ? Json_record(&out, &COMPARISON_RECORD, comparison)
                    : write_text(&out, comparison, options);
    if (!error)
        error = out.error;
    if (!error &&
        (fwrite(out.data, 1, out.size, stdout) != out.size || fflush(stdout)))
        error = -errno;
    Bytes_release(&out);
    return error;
}

int Diff_run(const struct Options *options, bool *slower, char *why,
             size_t why_size)
{
    struct Comparison comparison = {0};
    struct Snapshot *a = read_run(options->before, why, why_size), *b = NULL;
    int error = a ? 0 : -EINVAL;
    *slower = false;
    if (!error) {
        b = read_run(options->replay, why, why_size);
        error = b ? 0 : -EINVAL;
    }
    if (!error)
        error = Comparison_make(&comparison, a, b);
    if (!error)
        error = print(&comparison, options);
    if (!error)
        *slower = is_slower(&comparison, options->fail_above);
    Comparison_release(&comparison);
    Snapshot_free(a);
    Snapshot_free(b);
    return error;
}
