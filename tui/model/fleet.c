// SPDX-License-Identifier: MIT
// An epoll instance watches the connections and a timer. At each tick of the
// timer the fleet looks for new workers, and for processes that have stopped
// answering.
#include "tui/model/fleet.h"

#include "ipc/base/heap.h"
#include "ipc/base/now.h"
#include "ipc/client.h"
#include "ipc/process.h"
#include "ipc/rows.h"
#include "tui/model/children.h"
#include "tui/model/merge.h"
#include "tui/model/merge_stacks.h"
#include "tui/model/row.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

// Period of the timer in ns.
#define TICK_NS 200000000
// Seconds between two searches for workers.
#define LOOK_S 1.0
// After a failed connection, the viewer tries again after RETRY_S seconds if
// the process is young, and otherwise after RETRY_OLD_S seconds. A process
// older than YOUNG_S seconds will hardly begin to serve viewers any more.
#define RETRY_S 1.0
#define RETRY_OLD_S 5.0
#define YOUNG_S 15.0
// Seconds within which a process must answer.
#define ANSWER_S 2.0
// Largest number of seconds for which the first merged snapshot waits for
// snapshots of all processes.
#define FIRST_S 3.0
// A process counts as silent if it has sent nothing for SILENT_S seconds and
// also for SILENT_TURNS times the time between two snapshots.
#define SILENT_S 3.0
#define SILENT_TURNS 3
// After TAKEN_MAX messages of one process, the next process has its turn, so
// that no process blocks the others.
#define TAKEN_MAX 64
// The time at which a process's trace began is corrected by a later snapshot if
// the first snapshot was late by more than LATE_S seconds.
#define LATE_S 1.0
#define CHILDREN_MOST 256
#define ASKS 16

struct Sent {        // A request to one process.
    uint32_t theirs; // The request's number for the process.
    // The request's number for the feed (0 = this entry is free).
    uint32_t ours;
};

struct Worker {
    pid_t pid;
    struct Client *client; // NULL if there is no connection to the process.
    bool greeted;
    // True until a snapshot comes after the connection was lost and made again.
    bool returned;
    bool found; // True if the newest search for workers has found the process.
    bool fresh; // True if the snapshot `newest` is not merged yet.
    struct Snapshot *newest;
    struct IdMap ids;
    double begun_at; // Time at which the connection was begun.
    // Time at which the process's trace began, computed from its first
    // snapshot. The time at which a trace began must not change, because stalls
    // and transitions are identified by their times.
    double began_at;
    double heard_at;
    double try_at; // Time of the next attempt to connect.
    char why[200];
    struct Sent sent[ASKS];
    struct FlameTable *stacks;
    bool answered; // `stacks` is the answer to the newest request.
};

struct Ask { // A request that the feed has sent.
    uint32_t number;
    enum MessageType type;
    double until;
    unsigned waiting;      // Number of processes whose answer is missing.
    struct Message answer; // An answer of one process, or the newest error.
};

struct Fleet {
    pid_t master;
    double rate_s;
    int epoll, timer;
    struct Worker workers[FLEET_MOST];
    size_t count;
    unsigned beyond;
    uint64_t ended_count;
    struct Snapshot *ended; // Sums of the numbers of all ended processes.
    double ended_began_at;  // began_at of `ended`.
    struct Merge merge;
    struct Standouts standouts;
    double opened_at, merged_at, look_at;
    double began_at; // Time at which the first process began to trace.
    struct Ask asks[ASKS];
    size_t ask_count;
    uint32_t last_number;
    // Function whose code was last asked for, and the process that was asked.
    uint64_t code_id;
    pid_t code_pid;
    bool all_stacks;
    char notice[160]; // Notice of a process for the viewer, or "".
};

// --- The processes

static double now_s(void)
{
    return Now_s(CLOCK_MONOTONIC);
}

static bool serves(pid_t pid, struct Served *served)
{
    char why[256];
    return Address_find(served, pid, why, sizeof why) == 0;
}

static struct Worker *worker_of(struct Fleet *fleet, pid_t pid)
{
    for (size_t i = 0; fleet && i < fleet->count; i++)
        if (fleet->workers[i].pid == pid)
            return &fleet->workers[i];
    return NULL;
}

// Fills `pids` with the ids of the master, its workers, and the workers of
// workers. Returns their number. `fleet` may be NULL.
static size_t find_workers(struct Fleet *fleet, pid_t master,
                           pid_t pids[CHILDREN_MOST])
{
    pid_t children[CHILDREN_MOST];
    size_t count = 1;
    pids[0] = master;
    for (size_t i = 0; i < count; i++) {
        size_t found = Children_list(pids[i], children, CHILDREN_MOST);
        for (size_t k = 0; k < found && count < CHILDREN_MOST; k++) {
            const struct Worker *known = worker_of(fleet, children[k]);
            if ((known && known->client) ||
                Children_is_worker(children[k], pids[i]))
                pids[count++] = children[k];
        }
    }
    return count;
}

bool Fleet_is_wanted(pid_t master)
{
    pid_t pids[CHILDREN_MOST];
    struct Served served;
    size_t count = find_workers(NULL, master, pids);
    for (size_t i = 1; i < count; i++)
        if (serves(pids[i], &served))
            return true;
    return false;
}

static void forget_requests(struct Fleet *fleet, struct Worker *worker)
{
    for (int i = 0; i < ASKS; i++)
        for (size_t k = 0; worker->sent[i].ours && k < fleet->ask_count; k++)
            if (fleet->asks[k].number == worker->sent[i].ours)
                fleet->asks[k].waiting--;
    memset(worker->sent, 0, sizeof worker->sent);
}

static struct MergePart part_of(const struct Fleet *fleet,
                                struct Worker *worker)
{
    return (struct MergePart){.pid = worker->pid,
                              .snapshot = worker->newest,
                              .ids = &worker->ids,
                              .begin_s = worker->began_at - fleet->began_at};
}

static struct MergePart ended_part(const struct Fleet *fleet)
{
    return (struct MergePart){.snapshot = fleet->ended,
                              .begin_s =
                                  fleet->ended_began_at - fleet->began_at};
}

// Adds the counts of a process that has ended to the sums of all ended
// processes.
static void keep_counts(struct Fleet *fleet, struct Worker *worker)
{
    struct MergePart parts[2];
    size_t count = 0;
    double uptime = now_s() - fleet->began_at;
    if (fleet->ended)
        parts[count++] = ended_part(fleet);
    parts[count++] = part_of(fleet, worker);
    struct MergeRequest request = {parts, count, (uint64_t)fleet->master,
                                   uptime};
    struct Snapshot *sum = Merge_make(&fleet->merge, &request, NULL);
    fleet->ended_count++;
    if (!sum) // no memory
        return;
    Snapshot_free(fleet->ended);
    fleet->ended = sum;
    fleet->ended_began_at = fleet->began_at;
}

// Must be called if a process's trace has ended, so that its counts do not
// change any more. Adds the counts to those of ended processes, and frees the
// process's snapshot.
static void end_trace(struct Fleet *fleet, struct Worker *worker)
{
    if (worker->newest)
        keep_counts(fleet, worker);
    Snapshot_free(worker->newest);
    worker->newest = NULL;
    worker->fresh = false;
    IdMap_release(&worker->ids);
}

// Closes the connection to a process. The process may go on tracing, and the
// viewer may connect to it again.
static void leave(struct Fleet *fleet, struct Worker *worker, const char *why)
{
    forget_requests(fleet, worker);
    Client_close(worker->client);
    FlameTable_free(worker->stacks);
    struct Worker left = {.pid = worker->pid,
                          .found = worker->found,
                          .returned = worker->newest != NULL,
                          .fresh = worker->fresh,
                          .newest = worker->newest,
                          .ids = worker->ids,
                          .began_at = worker->began_at,
                          .heard_at = worker->heard_at,
                          .try_at = now_s() + RETRY_S};
    snprintf(left.why, sizeof left.why, "%s", why);
    *worker = left;
}

static void try_to_join(struct Fleet *fleet, struct Worker *worker, double now)
{
    struct Served served;
    double age = Process_age_s(worker->pid);
    worker->try_at = now + (age < YOUNG_S ? RETRY_S : RETRY_OLD_S);
    if (!serves(worker->pid, &served)) {
        strcpy(worker->why, "is not traced");
        return;
    }
    if (Client_begin(&worker->client, &served, worker->why,
                     sizeof worker->why)) {
        worker->client = NULL;
        return;
    }
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(fleet->epoll, EPOLL_CTL_ADD, Client_fd(worker->client), &event);
    worker->begun_at = now;
    strcpy(worker->why, "has not answered yet");
}

// Searches for workers that have come or gone.
static void look(struct Fleet *fleet, double now)
{
    pid_t pids[CHILDREN_MOST];
    size_t count = find_workers(fleet, fleet->master, pids), kept = 0;
    for (size_t i = 0; i < fleet->count; i++)
        fleet->workers[i].found = false;
    fleet->beyond = 0;
    for (size_t i = 0; i < count; i++) {
        struct Worker *worker = worker_of(fleet, pids[i]);
        if (!worker && fleet->count < FLEET_MOST) {
            worker = &fleet->workers[fleet->count++];
            *worker = (struct Worker){.pid = pids[i]};
        }
        if (worker)
            worker->found = true;
        else
            fleet->beyond++;
    }
    for (size_t i = 0; i < fleet->count; i++)
        if (fleet->workers[i].client || fleet->workers[i].found)
            fleet->workers[kept++] = fleet->workers[i];
        else
            end_trace(fleet, &fleet->workers[i]);
    fleet->count = kept;
    for (size_t i = 0; i < fleet->count; i++)
        if (!fleet->workers[i].client && now >= fleet->workers[i].try_at)
            try_to_join(fleet, &fleet->workers[i], now);
    fleet->look_at = now + LOOK_S;
}

static enum FoldAge age_of(const struct Fleet *fleet,
                           const struct Worker *worker, double now)
{
    double limit = SILENT_S + SILENT_TURNS * fleet->rate_s;
    if (!worker->greeted || worker->returned)
        return FOLD_ENDED;
    return now - worker->heard_at > limit ? FOLD_SILENT : FOLD_LIVE;
}

// --- Opening

int Fleet_open(struct Fleet **out, pid_t master, double rate_s, char *why,
               size_t why_size)
{
    const struct itimerspec tick = {{0, TICK_NS}, {0, TICK_NS}};
    struct epoll_event event = {.events = EPOLLIN};
    struct Fleet *fleet = calloc(1, sizeof *fleet);
    *out = NULL;
    if (!fleet) {
        snprintf(why, why_size, "no memory for the connections");
        return -ENOMEM;
    }
    fleet->master = master;
    fleet->rate_s = rate_s;
    fleet->opened_at = fleet->began_at = now_s();
    fleet->epoll = epoll_create1(EPOLL_CLOEXEC);
    fleet->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (fleet->epoll < 0 || fleet->timer < 0 ||
        epoll_ctl(fleet->epoll, EPOLL_CTL_ADD, fleet->timer, &event) ||
        timerfd_settime(fleet->timer, 0, &tick, NULL)) {
        int error = -errno;
        snprintf(why, why_size, "no descriptor for the connections: %s",
                 strerror(-error));
        Fleet_close(fleet);
        return error;
    }
    look(fleet, fleet->opened_at);
    *out = fleet;
    return 0;
}

void Fleet_close(struct Fleet *fleet)
{
    if (!fleet)
        return;
    for (size_t i = 0; i < fleet->count; i++) {
        Client_close(fleet->workers[i].client);
        Snapshot_free(fleet->workers[i].newest);
        FlameTable_free(fleet->workers[i].stacks);
        IdMap_release(&fleet->workers[i].ids);
    }
    for (size_t i = 0; i < fleet->ask_count; i++)
        Message_release(&fleet->asks[i].answer);
    Snapshot_free(fleet->ended);
    Merge_release(&fleet->merge);
    free(fleet->standouts.items);
    if (fleet->timer >= 0)
        close(fleet->timer);
    if (fleet->epoll >= 0)
        close(fleet->epoll);
    free(fleet);
}

int Fleet_fd(const struct Fleet *fleet)
{
    return fleet->epoll;
}

// --- What the processes send

static struct Ask *ask_of(struct Fleet *fleet, struct Worker *worker,
                          uint32_t theirs)
{
    for (int i = 0; theirs && i < ASKS; i++) {
        uint32_t ours = worker->sent[i].ours;
        if (!ours || worker->sent[i].theirs != theirs)
            continue;
        worker->sent[i].ours = 0;
        for (size_t k = 0; k < fleet->ask_count; k++)
            if (fleet->asks[k].number == ours)
                return &fleet->asks[k];
    }
    return NULL;
}

// Adds the process id to the text of a process's error.
static void name_process(struct Message *message, pid_t pid)
{
    char text[600];
    snprintf(text, sizeof text, "process %d: %.500s", (int)pid,
             message->text ? message->text : strerror((int)message->number));
    Heap_free(message->text);
    message->text = Heap_text(text);
}

static void take_answer(struct Fleet *fleet, struct Worker *worker,
                        struct Message *message)
{
    struct Ask *ask = ask_of(fleet, worker, message->request);
    if (!ask)
        return;
    ask->waiting--;
    if (message->type == MESSAGE_STACKS) {
        FlameTable_free(worker->stacks);
        worker->stacks = message->stacks;
        message->stacks = NULL;
        worker->answered = true;
        return;
    }
    if (message->type == MESSAGE_LISTING && message->listing) {
        message->listing->id = fleet->code_id;
        if (worker->newest)
            message->listing->at_s += worker->began_at - fleet->began_at;
    }
    if (message->type == MESSAGE_ERROR)
        name_process(message, worker->pid);
    else if (ask->answer.type == MESSAGE_ERROR)
        return;
    Message_release(&ask->answer);
    ask->answer = *message;
    *message = (struct Message){0};
}

// Returns true if the process has begun a new trace since the connection was
// lost.
static bool is_new_trace(const struct Worker *worker, double began_at)
{
    return worker->returned &&
           began_at - worker->began_at > worker->newest->uptime_s / 2;
}

static void take_snapshot(struct Fleet *fleet, struct Worker *worker,
                          struct Message *message)
{
    if (!message->snapshot)
        return;
    double began_at = worker->heard_at - message->snapshot->uptime_s;
    if (is_new_trace(worker, began_at))
        end_trace(fleet, worker);
    worker->returned = false;
    if (!worker->newest || began_at < worker->began_at - LATE_S)
        worker->began_at = began_at;
    fleet->began_at = fmin(fleet->began_at, worker->began_at);
    Snapshot_free(worker->newest);
    worker->newest = message->snapshot;
    message->snapshot = NULL;
    worker->fresh = true;
    worker->why[0] = 0;
}

static void take(struct Fleet *fleet, struct Worker *worker,
                 struct Message *message)
{
    worker->heard_at = now_s();
    switch (message->type) {
    case MESSAGE_SNAPSHOT:
        take_snapshot(fleet, worker, message);
        return;
    case MESSAGE_NOTICE:
        snprintf(fleet->notice, sizeof fleet->notice, "%s",
                 message->text ? message->text : "");
        return;
    case MESSAGE_END:
        end_trace(fleet, worker);
        leave(fleet, worker, "has stopped tracing");
        return;
    case MESSAGE_ERROR:
        if (message->request == 0) {
            leave(fleet, worker, message->text ? message->text : "refuses");
            return;
        }
        take_answer(fleet, worker, message);
        return;
    default:
        take_answer(fleet, worker, message);
    }
}

static void greet(struct Fleet *fleet, struct Worker *worker, double now)
{
    int got = Client_greet(worker->client, worker->pid, worker->why,
                           sizeof worker->why);
    if (got < 0) {
        char why[sizeof worker->why];
        memcpy(why, worker->why, sizeof why);
        leave(fleet, worker, why);
        worker->try_at = now + RETRY_OLD_S;
    } else if (got > 0) {
        worker->greeted = true;
        worker->heard_at = now;
        strcpy(worker->why, "has sent no snapshot yet");
        Client_request(
            worker->client,
            &(struct Message){.type = MESSAGE_RATE, .value = fleet->rate_s});
    } else if (now - worker->begun_at > ANSWER_S) {
        strcpy(worker->why, "does not answer");
    }
}

static void receive(struct Fleet *fleet, struct Worker *worker, double now)
{
    struct Message message = {0};
    if (worker->client && !worker->greeted)
        greet(fleet, worker, now);
    for (int i = 0; i < TAKEN_MAX && worker->client && worker->greeted; i++) {
        int got = Client_next(worker->client, &message);
        if (got == 0)
            return;
        if (got < 0) {
            leave(fleet, worker,
                  got == -EPIPE ? "has ended"
                                : "sends what is not Ocular's protocol");
            return;
        }
        take(fleet, worker, &message);
        Message_release(&message);
    }
}

// --- What the feed gets

// Returns true if it is time to make a snapshot of all processes. The fleet
// waits a moment, so that the newest numbers of all processes are in it.
static bool is_due(const struct Fleet *fleet, double now)
{
    bool any = false, all = true;
    for (size_t i = 0; i < fleet->count; i++) {
        const struct Worker *worker = &fleet->workers[i];
        any |= worker->fresh;
        if (worker->newest)
            all &= worker->fresh || age_of(fleet, worker, now) != FOLD_LIVE;
        else if (!fleet->merged_at)
            all &= !worker->client;
    }
    if (!fleet->merged_at)
        return any && (all || now - fleet->opened_at > FIRST_S);
    return any && (all || now - fleet->merged_at > 1.25 * fleet->rate_s);
}

static int give_snapshot(struct Fleet *fleet, double now,
                         struct Message *message)
{
    struct MergePart parts[FLEET_MOST + 1];
    size_t count = 0;
    for (size_t i = 0; i < fleet->count; i++) {
        struct Worker *worker = &fleet->workers[i];
        if (!worker->newest)
            continue;
        parts[count] = part_of(fleet, worker);
        parts[count].age = age_of(fleet, worker, now);
        parts[count++].silent_s = now - worker->heard_at;
        worker->fresh = false;
    }
    if (fleet->ended)
        parts[count++] = ended_part(fleet);
    struct MergeRequest request = {parts, count, (uint64_t)fleet->master,
                                   now - fleet->began_at};
    fleet->merged_at = now;
    *message = (struct Message){.type = MESSAGE_SNAPSHOT};
    message->snapshot = Merge_make(&fleet->merge, &request, &fleet->standouts);
    return message->snapshot ? 1 : -ENOMEM;
}

static void give_stacks(struct Fleet *fleet, struct Message *message)
{
    struct MergeStacks parts[FLEET_MOST];
    size_t count = 0;
    fleet->all_stacks = !fleet->ended;
    for (size_t i = 0; i < fleet->count; i++) {
        const struct Worker *worker = &fleet->workers[i];
        if (worker->answered)
            parts[count++] = (struct MergeStacks){worker->stacks, &worker->ids};
        else
            fleet->all_stacks &= !worker->newest;
    }
    if (!count)
        return;
    Message_release(message);
    *message = (struct Message){.type = MESSAGE_STACKS};
    message->stacks = MergeStacks_make(parts, count);
}

// Looks for a request that all processes have answered, or whose time is over.
// If there is such a request, sets *message to its answer and returns 1.
// Otherwise returns 0.
static int give_answer(struct Fleet *fleet, double now, struct Message *message)
{
    for (size_t i = 0; i < fleet->ask_count; i++) {
        struct Ask ask = fleet->asks[i];
        if (ask.waiting && now < ask.until)
            continue;
        fleet->asks[i] = fleet->asks[--fleet->ask_count];
        *message = ask.answer;
        if (ask.type == MESSAGE_FLAME)
            give_stacks(fleet, message);
        if (!message->type && ask.type == MESSAGE_RATE)
            // Processes that join later get this rate, too.
            message->type = MESSAGE_REPLY;
        else if (!message->type)
            *message =
                (struct Message){.type = MESSAGE_ERROR,
                                 .number = ETIMEDOUT,
                                 .text = Heap_text("no process has answered")};
        message->request = ask.number;
        return 1;
    }
    return 0;
}

static bool has_ended(const struct Fleet *fleet)
{
    for (size_t i = 0; i < fleet->count; i++)
        if (fleet->workers[i].client)
            return false;
    return Fleet_master_ended(fleet);
}

bool Fleet_master_ended(const struct Fleet *fleet)
{
    return kill(fleet->master, 0) < 0 && errno == ESRCH;
}

int Fleet_next(struct Fleet *fleet, struct Message *message)
{
    uint64_t ticks;
    double now = now_s();
    ssize_t got = read(fleet->timer, &ticks, sizeof ticks);
    (void)got; // read() only makes the timer's descriptor unreadable again.
    for (size_t i = 0; i < fleet->count; i++)
        receive(fleet, &fleet->workers[i], now);
    if (now >= fleet->look_at)
        look(fleet, now);
    if (give_answer(fleet, now, message))
        return 1;
    if (is_due(fleet, now))
        return give_snapshot(fleet, now, message);
    if (*fleet->notice && !fleet->merged_at) {
        *message = (struct Message){.type = MESSAGE_NOTICE,
                                    .text = Heap_text(fleet->notice)};
        *fleet->notice = 0;
        return 1;
    }
    return has_ended(fleet) ? -EPIPE : 0;
}

// --- Requests

static void send_one(struct Worker *worker, struct Ask *ask,
                     struct Message message)
{
    int place = 0;
    while (place < ASKS - 1 && worker->sent[place].ours)
        place++;
    if (!worker->greeted || Client_request(worker->client, &message))
        return;
    worker->sent[place] = (struct Sent){message.request, ask->number};
    ask->waiting++;
}

// Asks a process to install the hooks of all code objects again that belong to
// a merged row. Code objects that no longer exist are not in the newest
// snapshot.
static void send_rearm(struct Worker *worker, struct Ask *ask,
                       struct Message message)
{
    uint64_t id = message.number;
    const struct Snapshot *from = worker->newest;
    if (!id)
        send_one(worker, ask, message);
    for (size_t i = 0; id && from && i < from->function_count; i++) {
        message.number = from->functions[i].id;
        if (IdMap_find(&worker->ids, message.number) == id)
            send_one(worker, ask, message);
    }
}

// Returns a function of the process that belongs to the merged row `id`, or
// NULL.
static const struct Function *function_of(const struct Worker *worker,
                                          uint64_t id)
{
    const struct Snapshot *from = worker->newest;
    for (size_t i = 0; from && id && i < from->function_count; i++)
        if (IdMap_find(&worker->ids, from->functions[i].id) == id)
            return &from->functions[i];
    return NULL;
}

static pid_t standout_of(const struct FunctionStandouts *standouts)
{
    bool slow = standouts->slow.out && !standouts->busy.out;
    return slow ? standouts->slow.pid : standouts->busy.pid;
}

// Returns a function of the process that belongs to the merged row `id`.
// Returns NULL if the process cannot send the code of that function now.
static const struct Function *live_function(const struct Fleet *fleet,
                                            const struct Worker *worker,
                                            uint64_t id)
{
    return worker && age_of(fleet, worker, now_s()) == FOLD_LIVE
               ? function_of(worker, id)
               : NULL;
}

// Requests the code of a function from the process that stands out by its
// numbers, or from any process that has the function. As long as a view shows
// the function, the same process is asked again.
static void send_detail(struct Fleet *fleet, struct Ask *ask,
                        struct Message message)
{
    uint64_t id = message.number;
    struct Worker *worker =
        fleet->code_id == id ? worker_of(fleet, fleet->code_pid) : NULL;
    const struct Function *function = live_function(fleet, worker, id);
    const struct Standouts *all = &fleet->standouts;
    if (!function && id && id <= all->count) {
        worker = worker_of(fleet, standout_of(&all->items[id - 1]));
        function = live_function(fleet, worker, id);
    }
    for (size_t i = 0; !function && i < fleet->count; i++) {
        worker = &fleet->workers[i];
        function = live_function(fleet, worker, id);
    }
    if (!function)
        return;
    fleet->code_id = id;
    fleet->code_pid = worker->pid;
    message.number = function->id;
    send_one(worker, ask, message);
}

int Fleet_request(struct Fleet *fleet, struct Message *request)
{
    if (request->type == MESSAGE_HANDOUT)
        return -ENOTSUP;
    if (fleet->ask_count == ASKS)
        return -EAGAIN;
    struct Ask *ask = &fleet->asks[fleet->ask_count++];
    request->request = ++fleet->last_number;
    *ask = (struct Ask){.number = request->request,
                        .type = request->type,
                        .until = now_s() + ANSWER_S};
    if (request->type == MESSAGE_RATE)
        fleet->rate_s = request->value;
    if (request->type == MESSAGE_DETAIL)
        send_detail(fleet, ask, *request);
    for (size_t i = 0; i < fleet->count; i++) {
        struct Worker *worker = &fleet->workers[i];
        worker->answered &= request->type != MESSAGE_FLAME;
        if (age_of(fleet, worker, now_s()) == FOLD_SILENT &&
            request->type != MESSAGE_RATE)
            // A silent process gets the new rate when it answers again.
            continue;
        if (request->type == MESSAGE_REARM)
            send_rearm(worker, ask, *request);
        else if (request->type != MESSAGE_DETAIL)
            send_one(worker, ask, *request);
    }
    return 0;
}

// --- For the views

static double sum_of(const struct Snapshot *from, bool calls)
{
    double sum = NAN;
    for (size_t i = 0; calls && i < from->function_count; i++)
        sum = Row_sum(sum, from->functions[i].calls_per_s);
    for (size_t i = 0; !calls && i < from->thread_count; i++)
        sum = Row_sum(sum, from->threads[i].cpu_share);
    return sum;
}

void Fleet_state(const struct Fleet *fleet, struct FleetState *state)
{
    double now = now_s();
    *state = (struct FleetState){.workers = state->items,
                                 .worker_count = fleet->count,
                                 .workers_ended = fleet->ended_count,
                                 .workers_beyond = fleet->beyond};
    for (size_t i = 0; i < fleet->count; i++) {
        const struct Worker *from = &fleet->workers[i];
        struct FleetWorker *to = &state->items[i];
        enum FoldAge age = age_of(fleet, from, now);
        const struct Snapshot *newest = age == FOLD_ENDED ? NULL : from->newest;
        bool silent = age == FOLD_SILENT;
        *to = (struct FleetWorker){
            .pid = (uint64_t)from->pid,
            .master = from->pid == fleet->master,
            .merged = newest != NULL,
            .why = *from->why ? from->why : NULL,
            .uptime_s = newest ? newest->uptime_s : NAN,
            .silent_s = newest && silent ? now - from->heard_at : NAN,
            .cpu_share = newest && !silent ? sum_of(newest, false) : NAN,
            .calls_per_s = newest && !silent ? sum_of(newest, true) : NAN};
        if (newest && silent)
            to->why = "is silent: only its counts are merged";
    }
}

const struct Standouts *Fleet_standouts(const struct Fleet *fleet)
{
    return &fleet->standouts;
}

pid_t Fleet_code_pid(const struct Fleet *fleet)
{
    return fleet->code_pid;
}

bool Fleet_has_all_stacks(const struct Fleet *fleet)
{
    return fleet->all_stacks;
}

static const struct Field WORKER_FIELDS[] = {
    U64(FleetWorker, pid),       BOOL(FleetWorker, master),
    BOOL(FleetWorker, merged),   TEXT(FleetWorker, why),
    F64(FleetWorker, uptime_s),  F64(FleetWorker, silent_s),
    F64(FleetWorker, cpu_share), F64(FleetWorker, calls_per_s),
};
static const struct Record WORKER_RECORD =
    RECORD(FleetWorker, "worker", WORKER_FIELDS);
static const struct Field FLEET_FIELDS[] = {
    LIST(FleetState, workers, worker_count, WORKER_RECORD),
    U64(FleetState, workers_ended),
    U64(FleetState, workers_beyond),
};
const struct Record FLEET_RECORD = RECORD(FleetState, "fleet", FLEET_FIELDS);
