// SPDX-License-Identifier: MIT
#include "formats/wait_sums.h"

#include <math.h>
#include <string.h>

void WaitSums_release(struct WaitSums *sums)
{
    SumTable_release(&sums->functions);
    SumTable_release(&sums->threads);
}

void WaitSums_sort(struct WaitSums *sums)
{
    SumTable_sort(&sums->functions);
    SumTable_sort(&sums->threads);
}

// Adds `ns` to all sums whose second key is `kind`. A function that is on the
// stack several times counts only once.
static void add(struct WaitSums *sums, const struct TimelineSample *sample,
                uint32_t kind, double ns)
{
    struct Sum *sum;
    size_t i;

    sums->stamp++;
    for (i = 0; i < sample->depth; i++) {
        uint32_t id = sample->path[i];

        sum = id ? SumTable_get(&sums->functions, Sum_key(id, kind)) : NULL;
        if (sum && sum->stamp != sums->stamp)
            sum->total_ns += ns;
        if (sum && i + 1 == sample->depth) {
            sum->ns += ns;
            sum->samples++;
        }
        if (sum)
            sum->stamp = sums->stamp;
    }
    sum = sample->tid ? SumTable_get(&sums->threads,
                                     Sum_key((uint32_t)sample->tid, kind))
                      : NULL;
    if (sum)
        sum->ns += ns;
    sums->all[kind] += ns;
}

void WaitSums_add(struct WaitSums *sums, const struct TimelineSample *sample,
                  double part)
{
    const struct TimelineWait *wait = &sample->wait;

    if (wait->timed)
        add(sums, sample, WAIT_UNKNOWN, part * wait->ns);
    if (wait->weighs && wait->kind != WAIT_UNKNOWN)
        add(sums, sample, wait->kind, part * wait->ns);
}

void WaitSums_draw(struct Flame *flame, const struct TimelineSample *sample,
                   double part)
{
    const struct ShareTime now = {.ns = 1, .full_ns = 1};
    uint32_t path[SAMPLE_TRACK_DEPTH + 1];
    struct FlameSample drawn = {.path = sample->path,
                                .depth = sample->depth,
                                .in_c = sample->in_c,
                                .cpu_ns = sample->cpu_ns};

    if (SampleTrack_is_wait(sample)) {
        if (!sample->wait.timed)
            return;
        memcpy(path, sample->path, sample->depth * sizeof *path);
        path[drawn.depth++] = FLAME_WAIT_ID + sample->wait.kind;
        drawn.path = path;
        drawn.cpu_ns = part * sample->wait.ns;
    }
    Flame_add(flame, &now, &drawn);
}

uint64_t WaitSums_count(const struct WaitSums *sums, uint32_t id)
{
    size_t i, count;
    const struct Sum *found = SumTable_of(&sums->functions, id, &count);

    for (i = 0; found && i < count; i++)
        if (Sum_second(&found[i]) == WAIT_UNKNOWN)
            return found[i].samples;
    return 0;
}

static double divide(double ns, const double *weights, double *kinds)
{
    double sum = 0;
    int i;

    for (i = 0; i < WAIT_KINDS; i++)
        sum += weights[i];
    for (i = 0; i < WAIT_KINDS; i++)
        kinds[i] = sum > 0 ? ns * (weights[i] / sum) : NAN;
    return ns;
}

double WaitSums_divide(const struct SumTable *table, uint32_t key, bool total,
                       double *kinds)
{
    size_t i, count;
    const struct Sum *sums = SumTable_of(table, key, &count);
    double weights[WAIT_KINDS + 1] = {0};

    for (i = 0; sums && i < count; i++)
        if (Sum_second(&sums[i]) <= WAIT_UNKNOWN)
            weights[Sum_second(&sums[i])] =
                total ? sums[i].total_ns : sums[i].ns;
    return divide(weights[WAIT_UNKNOWN], weights, kinds);
}

double WaitSums_divide_all(const struct WaitSums *sums, double *kinds)
{
    return divide(sums->all[WAIT_UNKNOWN], sums->all, kinds);
}
