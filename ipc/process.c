// SPDX-License-Identifier: MIT
// Reads /proc/PID/{status,uid_map,stat,cmdline,comm,environ}. Any thread may
// call these functions.
#include "ipc/process.h"
#include "ipc/base/now.h"
#include "ipc/base/opened.h"
#include "ipc/base/utf8.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENVIRON_MAX ((size_t)1 << 20)

static long read_file(pid_t pid, const char *name, char *out, size_t size)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    return Opened_read(path, out, size);
}

bool Process_status(pid_t task, char status[PROCESS_STATUS])
{
    *status = '\0';
    return read_file(task, "status", status, PROCESS_STATUS) >= 0;
}

const char *Process_row(const char *status, const char *name)
{
    const char *at = strstr(status, name);

    return at ? at + strlen(name) : "";
}

// Returns the last number in a row of /proc/PID/status. For example, the row
// NSpid has the process's pid in each pid namespace, and the innermost
// namespace comes last.
static pid_t last_number(const char *row, pid_t otherwise)
{
    const char *end = strchr(row, '\n');

    if (!end || end == row)
        return otherwise;
    while (end > row && isdigit((unsigned char)end[-1]))
        end--;
    return isdigit((unsigned char)*end) ? (pid_t)strtol(end, NULL, 10)
                                        : otherwise;
}

static uid_t inner_uid(pid_t pid, uid_t uid)
{
    char map[4096];
    const char *row = map;
    unsigned inside, outside, count;

    if (read_file(pid, "uid_map", map, sizeof(map)) < 0)
        return uid;
    while (row && sscanf(row, "%u %u %u", &inside, &outside, &count) == 3) {
        if (uid >= outside && uid - outside < count)
            return inside + (uid - outside);
        row = strchr(row, '\n');
        row = row ? row + 1 : NULL;
    }
    return uid;
}

bool Process_is_nobody(uid_t uid)
{
    char text[4096];
    unsigned nobody = 65534, inside, outside, count;

    if (Opened_read("/proc/sys/kernel/overflowuid", text, sizeof(text)) > 0)
        nobody = (unsigned)strtoul(text, NULL, 10);
    if (uid != nobody)
        return false;
    // If all user ids exist in this process's user namespace, "nobody" is an
    // ordinary user.
    return Opened_read("/proc/self/uid_map", text, sizeof(text)) < 0 ||
           sscanf(text, "%u %u %u", &inside, &outside, &count) != 3 ||
           count != UINT32_MAX;
}

int Process_look(struct Process *process, pid_t pid)
{
    char status[PROCESS_STATUS];
    unsigned real, effective;
    const char *state;

    if (pid <= 0 || (kill(pid, 0) < 0 && errno == ESRCH))
        return -ESRCH;
    if (!Process_status(pid, status))
        return kill(pid, 0) < 0 && errno == ESRCH ? -ESRCH : -EACCES;
    state = Process_row(status, "\nState:");
    state += strspn(state, " \t");
    // A process in the state Z is not always gone. The other threads of a
    // process may still run after the main thread has ended, or one of them may
    // be in the middle of an exec.
    if ((*state == 'Z' && atoi(Process_row(status, "\nThreads:")) <= 1) ||
        *state == 'X')
        return -ESRCH;
    if (sscanf(Process_row(status, "\nUid:"), "%u %u", &real, &effective) != 2)
        return -EACCES;
    process->pid = pid;
    process->uid = effective;
    process->inner_pid = last_number(Process_row(status, "\nNSpid:"), pid);
    process->inner_uid = inner_uid(pid, effective);
    return 0;
}

int Process_user(struct ProcessUser *user, pid_t pid)
{
    char status[PROCESS_STATUS], *at, *end;
    unsigned uid, gid;

    if (!Process_status(pid, status))
        return kill(pid, 0) < 0 && errno == ESRCH ? -ESRCH : -EACCES;
    // The four numbers in the rows Uid and Gid are the real id, the effective
    // id, the saved id, and the id for file access.
    if (sscanf(Process_row(status, "\nUid:"), "%*u %*u %*u %u", &uid) != 1 ||
        sscanf(Process_row(status, "\nGid:"), "%*u %*u %*u %u", &gid) != 1)
        return -EACCES;
    *user = (struct ProcessUser){.uid = uid, .gid = gid};
    at = (char *)Process_row(status, "\nGroups:");
    while (user->group_count < PROCESS_GROUPS) {
        at += strspn(at, " \t");
        user->groups[user->group_count] = (gid_t)strtoul(at, &end, 10);
        if (end == at || !isdigit((unsigned char)*at))
            break;
        user->group_count++;
        at = end;
    }
    return 0;
}

// Replaces each harmful character, and each byte that is not UTF-8, by one '?'.
// The text is changed in place.
static void make_printable(char *text)
{
    const char *from = text, *at = text;
    uint32_t code;

    while ((code = Utf8_decode(&at)) != 0) {
        if (code == UTF8_BAD || Utf8_is_harmful(code)) {
            *text++ = '?';
        } else {
            memmove(text, from, (size_t)(at - from));
            text += at - from;
        }
        from = at;
    }
    *text = '\0';
}

// Returns the text of /proc/PID/stat from the field `number` on, or "". The
// second field of /proc/PID/stat is the process's name in brackets, which may
// contain brackets and blanks.
static const char *stat_field(pid_t pid, char stat[1024], int number)
{
    if (read_file(pid, "stat", stat, 1024) < 0)
        return "";
    const char *at = strrchr(stat, ')');
    for (int field = 2; at && field < number; field++)
        at = strchr(at + 1, ' ');
    return at ? at : "";
}

pid_t Process_parent(pid_t pid)
{
    char stat[1024];

    return (pid_t)strtol(stat_field(pid, stat, 4), NULL, 10);
}

uint64_t Process_start(pid_t pid)
{
    char stat[1024];

    return strtoull(stat_field(pid, stat, 22), NULL, 10);
}

uint64_t Process_stack(pid_t pid)
{
    char stat[1024];

    return strtoull(stat_field(pid, stat, 28), NULL, 10);
}

double Process_cpu_s(pid_t pid)
{
    char stat[1024];
    unsigned long long user, system;

    if (sscanf(stat_field(pid, stat, 14), " %llu %llu", &user, &system) != 2)
        return 0;
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

double Process_age_s(pid_t pid)
{
    uint64_t ticks = Process_start(pid);

    if (!ticks)
        return NAN;
    return (double)Now_ns(CLOCK_BOOTTIME) / 1e9 -
           (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

void Process_command(pid_t pid, char *out, size_t size)
{
    long got = read_file(pid, "cmdline", out, size);

    while (got > 0 && out[got - 1] == '\0')
        got--;
    if (got <= 0) {
        char name[64] = "";

        got = read_file(pid, "comm", name, sizeof(name));
        name[strcspn(name, "\n")] = '\0';
        got = snprintf(out, size, "[%s]", got > 0 ? name : "?");
        got = (size_t)got < size ? got : (long)size - 1;
    }
    for (long i = 0; i < got; i++) {
        if (out[i] == '\0')
            out[i] = ' ';
    }
    make_printable(out);
}

static int find_variable(const char *text, const char *end, const char *name,
                         char *out, size_t size)
{
    size_t length = strlen(name);

    for (; text < end; text += strlen(text) + 1) {
        if (strncmp(text, name, length) || text[length] != '=')
            continue;
        text += length + 1;
        if (!*text || strlen(text) >= size)
            return 0;
        strcpy(out, text);
        return 1;
    }
    return 0;
}

int Process_variable(pid_t pid, const char *name, char *out, size_t size)
{
    char *text = malloc(ENVIRON_MAX);
    long got;

    if (!text)
        return -ENOMEM;
    got = read_file(pid, "environ", text, ENVIRON_MAX);
    if (got > 0)
        got = find_variable(text, text + got, name, out, size);
    free(text);
    return (int)got;
}
