// SPDX-License-Identifier: MIT
#include "tracer/session/called_from.h"
#include "tracer/base/harmless.h"
#include "tracer/session/figure.h"

#include <stdio.h>
#include <string.h>

// Largest number of callers that the report names. All further callers are
// shown as a sum.
#define NAMED 3
#define LEAST 0.01 // Smallest part that the report shows.
#define MAX_NAME 40
#define COLUMNS 80
#define FIRST "    time by caller: "
#define NEXT "        "

// --- Reading ---------------------------------------------------------------

static const char *name_of(uint32_t id, struct Registry *registry,
                           const struct Retired *retired)
{
    const struct Code *code = id ? Registry_by_id(registry, id) : NULL;

    return code ? code->who.name : Retired_name(retired, id);
}

// Adds `part` to the entry of the caller called `name`. Code objects with the
// same name share one entry.
static void add_caller(struct CalledFrom *from, const char *name, double part)
{
    size_t i = 0;

    while (i < from->count && strcmp(from->callers[i].name, name) != 0)
        i++;
    if (i == from->count)
        from->callers[from->count++] = (struct CallerPart){name, 0};
    from->callers[i].part += part;
    // Keeps the list of callers sorted, with the largest part first.
    for (; i > 0 && from->callers[i].part > from->callers[i - 1].part; i--) {
        struct CallerPart smaller = from->callers[i - 1];

        from->callers[i - 1] = from->callers[i];
        from->callers[i] = smaller;
    }
}

void CalledFrom_init(struct CalledFrom *from, const struct Code *code,
                     struct Registry *registry, const struct Retired *retired)
{
    const struct Breakdown *breakdown = Share_callers(&code->share);
    double all =
        (double)Counter_get(&Share_parts(&code->share)->cumulative.total_ns);
    struct Caller rows[BREAKDOWN_ROWS];
    size_t count, i;

    memset(from, 0, sizeof *from);
    if (!breakdown || !(all > 0))
        return;
    count = Breakdown_read(breakdown, NULL, rows);
    from->untraced = 1;
    for (i = 0; i < count; i++) {
        const char *name =
            name_of(rows[i].id == NULL_U64 ? 0 : rows[i].id, registry, retired);
        double part = rows[i].share / all;

        from->untraced -= part;
        if (name)
            add_caller(from, name, part);
        else
            from->unknown += part;
    }
}

// --- Writing ---------------------------------------------------------------

struct Line {
    struct Bytes *out;
    size_t width; // Number of columns written so far.
};

static void put_part(struct Line *line, const char *name, double part)
{
    char text[MAX_NAME + 16];
    size_t width;

    if (part < LEAST)
        return;
    Harmless_clean(text, MAX_NAME + 1, name, true);
    snprintf(text + strlen(text), 16, " %.0f%%", 100 * part);
    width = Harmless_width(text);
    if (!line->width) {
        Figure_print(line->out, FIRST);
        line->width = strlen(FIRST);
        // A comma needs one more column.
    } else if (line->width + 2 + width + 1 > COLUMNS) {
        Figure_print(line->out, ",\n" NEXT);
        line->width = strlen(NEXT);
    } else {
        Figure_print(line->out, ", ");
        line->width += 2;
    }
    Figure_print(line->out, "%s", text);
    line->width += width;
}

void CalledFrom_write(struct Bytes *out, const struct CalledFrom *from)
{
    struct Line line = {out, 0};
    double others = 0;
    size_t i;

    if (!from->count && from->unknown < LEAST)
        return;
    for (i = 0; i < from->count; i++)
        if (i < NAMED)
            put_part(&line, from->callers[i].name, from->callers[i].part);
        else
            others += from->callers[i].part;
    put_part(&line, "others", others);
    put_part(&line, "unknown callers", from->unknown);
    put_part(&line, "untraced code", from->untraced);
    if (line.width)
        Figure_print(out, "\n");
}
