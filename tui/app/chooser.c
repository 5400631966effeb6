// SPDX-License-Identifier: MIT
#include "tui/app/chooser.h"

#include "ipc/base/now.h"
#include "ipc/process.h"
#include "tui/attach/attach.h"
#include "tui/model/children.h"
#include "tui/screen/keymap.h"
#include "tui/text/text.h"
#include "tui/views/navigation.h"
#include "tui/views/view_table.h"

#include <errno.h>
#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEPTH_MOST 16 // Deeper processes in the tree are not indented further.

// --- The list of processes

static bool is_below(const struct ChooserRow *row, pid_t parent,
                     const struct ChooserRow *all, long count)
{
    if (parent)
        return row->parent == parent;
    for (long i = 0; i < count; i++)
        if (all[i].served.pid == row->parent)
            return false;
    return true;
}

// Appends the children of `parent` to `rows`. Each child is followed by its own
// children. Each row is appended only once, because /proc can change while it
// is read, and a cycle of parents can then appear.
static long add_children(struct ChooserRow *rows, long used, pid_t parent,
                         struct ChooserRow *all, long count)
{
    int depth = 0;
    if (parent)
        depth = rows[used - 1].depth + (rows[used - 1].depth < DEPTH_MOST);
    for (long i = 0; i < count; i++) {
        if (all[i].depth < 0 || !is_below(&all[i], parent, all, count))
            continue;
        rows[used] = all[i];
        rows[used++].depth = depth;
        all[i].depth = -1; // Marks the row as appended.
        used = add_children(rows, used, all[i].served.pid, all, count);
    }
    return used;
}

static void name_user(struct ChooserRow *row)
{
    const struct passwd *user = getpwuid(row->served.uid);
    if (user)
        Text_clean(row->user, sizeof row->user, user->pw_name);
    else
        snprintf(row->user, sizeof row->user, "%u", (unsigned)row->served.uid);
}

// Copies `all` to `rows` in such an order that each row is below its parent's
// row.
static void arrange(struct ChooserRow *rows, struct ChooserRow *all, long count)
{
    long used = add_children(rows, 0, 0, all, count);
    for (long i = 0; i < count; i++)
        if (all[i].depth >= 0)
            rows[used++] = all[i];
}

// Sets the `role` of each row.
static void find_workers(struct ChooserRow *rows, long count)
{
    for (long i = 0; i < count; i++)
        for (long j = 0; j < count; j++) {
            if (rows[j].served.pid != rows[i].parent ||
                !Children_is_worker(rows[i].served.pid, rows[j].served.pid))
                continue;
            rows[i].role = "worker";
            rows[j].workers += !rows[i].other;
            rows[j].cpu_s += rows[i].cpu_s;
            if (!rows[j].role)
                rows[j].role = "master";
        }
}

// Sets `cores` of each row from its CPU time now and its CPU time in the
// previous list. If a worker has ended, the CPU time of its master may be
// smaller than before, so that `cores` of the master is unknown.
static void find_cores(struct ChooserRow *rows, long count,
                       const struct Chooser *before)
{
    for (long i = 0; i < count; i++) {
        rows[i].cores = NAN;
        for (long j = 0; j < before->count; j++) {
            const struct ChooserRow *old = &before->rows[j];
            double since = rows[i].read_s - old->read_s;
            if (old->served.pid == rows[i].served.pid && since > 0 &&
                rows[i].cpu_s >= old->cpu_s)
                rows[i].cores = (rows[i].cpu_s - old->cpu_s) / since;
        }
    }
}

static uint64_t pid_of(const struct ListRows *rows, long row)
{
    const struct Chooser *chooser = rows->source;
    return (uint64_t)chooser->rows[row].served.pid;
}

struct ListRows Chooser_rows(const struct Chooser *chooser)
{
    return (struct ListRows){
        .source = chooser, .count = chooser->count, .key = pid_of};
}

const struct ChooserRow *Chooser_selected(const struct Chooser *chooser)
{
    struct ListRows rows = Chooser_rows(chooser);
    long row = List_selected(&chooser->list, &rows);
    return row < 0 ? NULL : &chooser->rows[row];
}

void Chooser_select(struct Chooser *chooser, pid_t pid)
{
    struct ListRows rows = Chooser_rows(chooser);
    for (long i = 0; i < chooser->count; i++)
        if (chooser->rows[i].served.pid == pid)
            List_select(&chooser->list, &rows, i);
}

// Adds the processes of `others` that are not in `served`. Returns the number
// of added processes.
static long list_others(struct ChooserRow *rows, const struct Others *others,
                        const struct Served *served, long serving)
{
    struct ChooserRow *row = rows;
    for (size_t i = 0; i < others->count; i++) {
        const struct Other *other = &others->items[i];
        long same = 0;
        while (same < serving && served[same].pid != other->pid)
            same++;
        if (same < serving)
            continue;
        *row = (struct ChooserRow){.parent = Process_parent(other->pid),
                                   .other = true};
        row->served.pid = other->pid;
        row->served.uid = other->uid;
        memcpy(row->served.command, other->command, sizeof other->command);
        memcpy(row->takes, other->takes, sizeof other->takes);
        memcpy(row->why, other->why, sizeof other->why);
        row++;
    }
    return row - rows;
}

// Finds masters that do not serve viewers but have workers that do. Moves the
// found masters to the end of the first `serving` rows, because they can be
// shown together with their workers. Returns the number of these masters.
static long take_masters(struct ChooserRow *all, long serving, long others)
{
    long taken = 0;
    for (long i = serving; i < serving + others; i++) {
        struct ChooserRow row = all[i];
        long k = 0;
        while (k < serving &&
               (all[k].parent != row.served.pid ||
                !Children_is_worker(all[k].served.pid, row.served.pid)))
            k++;
        if (k == serving)
            continue;
        row.other = false;
        snprintf(row.takes, sizeof row.takes, "its workers serve");
        all[i] = all[serving + taken];
        all[serving + taken++] = row;
    }
    return taken;
}

// Fills the list with the processes that serve viewers, and appends all other
// processes. Returns 0 or -ENOMEM.
static int fill(struct Chooser *chooser, const struct Served *served,
                long count)
{
    size_t room = (size_t)count + chooser->others.count + 1;
    struct ChooserRow *all = calloc(room, sizeof *all);
    struct ChooserRow *rows = calloc(room, sizeof *rows);
    if (!all || !rows) {
        free(all);
        free(rows);
        return -ENOMEM;
    }
    for (long i = 0; i < count; i++)
        all[i] = (struct ChooserRow){.served = served[i],
                                     .parent = Process_parent(served[i].pid)};
    long more = list_others(all + count, &chooser->others, served, count);
    long masters = take_masters(all, count, more);
    count += masters;
    more -= masters;
    for (long i = 0; i < count + more; i++) {
        all[i].age_s = Process_age_s(all[i].served.pid);
        all[i].cpu_s = Process_cpu_s(all[i].served.pid);
        all[i].read_s = Now_s(CLOCK_MONOTONIC);
    }
    arrange(rows, all, count);
    arrange(rows + count, all + count, more);
    find_workers(rows, count + more);
    find_cores(rows, count + more, chooser);
    free(all);
    free(chooser->rows);
    chooser->rows = rows;
    chooser->count = count + more;
    chooser->serving = count;
    return 0;
}

// Drops the question about attaching if the process in question has ended.
static void drop_question(struct Chooser *chooser)
{
    pid_t asked = chooser->asked;
    for (long i = 0; i < chooser->count; i++)
        if (chooser->rows[i].served.pid == asked)
            return;
    chooser->asked = 0;
    if (asked)
        snprintf(chooser->message, sizeof chooser->message,
                 "process %d has ended", (int)asked);
}

long Chooser_refresh(struct Chooser *chooser)
{
    const struct ChooserRow *selected = Chooser_selected(chooser);
    bool other = selected && selected->other;
    struct Served *list;
    // Reads the other processes before those that serve viewers. In the
    // opposite order, both lists could lack a process that begins to serve
    // viewers in between.
    if (chooser->all)
        Others_refresh(&chooser->others, chooser->package);
    long count = Address_list(&list);
    if (count < 0)
        return count;
    int error = fill(chooser, list, count);
    free(list);
    if (error)
        return error;
    chooser->users = false;
    for (long i = 0; i < chooser->count; i++)
        chooser->users |= chooser->rows[i].served.uid != geteuid();
    for (long i = 0; chooser->users && i < chooser->count; i++)
        name_user(&chooser->rows[i]);
    // If the selected process has ended, selects another process that serves
    // viewers.
    if (!other && count > 0 && chooser->list.selected >= count)
        chooser->list.selected = count - 1;
    struct ListRows rows = Chooser_rows(chooser);
    List_select(&chooser->list, &rows, List_selected(&chooser->list, &rows));
    drop_question(chooser);
    return count;
}

void Chooser_release(struct Chooser *chooser)
{
    Others_release(&chooser->others);
    free(chooser->rows);
    *chooser = (struct Chooser){0};
}

// --- Keys

// Chooses the selected row. If the process does not serve viewers, asks the
// user before attaching, or shows the reason why Ocular cannot attach.
static enum ChooserAnswer choose(struct Chooser *chooser)
{
    const struct ChooserRow *row = Chooser_selected(chooser);
    chooser->alone = false;
    if (!row)
        return CHOOSER_NONE;
    if (!row->other)
        return CHOOSER_CHOSEN;
    memcpy(chooser->message, row->why, sizeof row->why);
    if (!*row->why) {
        chooser->asked = row->served.pid;
        chooser->may_kill = Attach_may_kill(chooser->asked);
    }
    return CHOOSER_NONE;
}

static enum ChooserAnswer answer(struct Chooser *chooser, uint32_t key)
{
    pid_t pid = chooser->asked;
    chooser->asked = 0;
    if (key != 'y' && key != 'Y') {
        snprintf(chooser->message, sizeof chooser->message,
                 "Nothing was changed.");
        return CHOOSER_NONE;
    }
    Chooser_select(chooser, pid);
    snprintf(chooser->message, sizeof chooser->message,
             "Attaching to process %d…", (int)pid);
    return CHOOSER_CHOSEN;
}

bool Chooser_may_be_alone(const struct Chooser *chooser)
{
    const struct ChooserRow *row = Chooser_selected(chooser);
    return row && row->workers && !row->other && !*row->takes;
}

enum ChooserAnswer Chooser_key(struct Chooser *chooser, uint32_t key)
{
    int request = Keymap_request(key);
    bool closes = request == REQUEST_CLOSE || request == REQUEST_QUIT;
    struct ListRows rows = Chooser_rows(chooser);
    *chooser->message = 0;
    if (chooser->asked && !chooser->too_small)
        return answer(chooser, key);
    if (chooser->too_small)
        return closes ? CHOOSER_QUIT : CHOOSER_NONE;
    if (chooser->help && request != REQUEST_QUIT) {
        chooser->help = List_scroll(&chooser->help_top,
                                    (int)chooser->list.height - 1, request);
        return CHOOSER_NONE;
    }
    if (key == PRESS_ENTER || key == PRESS_RIGHT)
        return choose(chooser);
    if (key == CHOOSER_ALONE && Chooser_may_be_alone(chooser)) {
        chooser->alone = true;
        return CHOOSER_CHOSEN;
    }
    if (View_opened_by(VIEWS, key) == VIEW_HELP)
        chooser->help = true;
    else if (request == REQUEST_BACK && chooser->back)
        return CHOOSER_BACK;
    else if (closes || key == PRESS_ESCAPE)
        return CHOOSER_QUIT;
    else if (List_press(&chooser->list, &rows, request, key) == LIST_OPENS)
        return choose(chooser);
    return CHOOSER_NONE;
}

void Chooser_write(const struct Chooser *chooser, struct Bytes *out)
{
    for (long i = 0; i < chooser->serving; i++) {
        char command[512], line[600];
        const struct ChooserRow *row = &chooser->rows[i];
        Text_clean(command, sizeof command, row->served.command);
        int size = snprintf(line, sizeof line, "%9ld  %*s%s\n",
                            (long)row->served.pid, 2 * row->depth, "", command);
        Bytes_put(out, line, (size_t)size);
    }
}
