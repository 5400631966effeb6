// SPDX-License-Identifier: MIT
// struct Session is one run of tracing, with its settings, its threads, its
// timeline and its snapshots. lifetime.h starts and stops a session. Any thread
// may call the functions of session.h, and no caller needs the GIL.
#pragma once

#include "ipc/server.h"
#include "tracer/budget/account.h"
#include "tracer/budget/rearm_queue.h"
#include "tracer/code/retired.h"
#include "tracer/code/transitions.h"
#include "tracer/session/collector.h"
#include "tracer/session/engine.h"
#include "tracer/session/exception_rows.h"
#include "tracer/session/line_rows.h"
#include "tracer/session/listing_requests.h"
#include "tracer/session/object_board.h"
#include "tracer/session/persistent_server.h"
#include "tracer/session/publish.h"
#include "tracer/session/roll.h"
#include "tracer/session/task_board.h"
#include "tracer/timeline/sample_track.h"
#include "tracer/timeline/timeline.h"

#include <limits.h>

struct Filter;
struct Session;

// The events that a user can choose. Settings_events has the names of the
// events.
enum Chosen {
    CHOSEN_CALL = 1 << 0,   // Calls of Python functions, always chosen.
    CHOSEN_C_CALL = 1 << 1, // Calls of C functions.
    CHOSEN_EXCEPTION = 1 << 2,
    CHOSEN_LINE = 1 << 3,
    CHOSEN_BRANCH = 1 << 4,   // Jumps and branches.
    CHOSEN_OPCODE = 1 << 5,   // Instructions, in precise mode.
    CHOSEN_REFERENCE = 1 << 6 // Births and deaths of objects.
};

struct Config {
    char mode[16];
    // Number of hits after which a hook is removed, or 0 if hooks are never
    // removed.
    uint64_t threshold;
    bool timeline;
    // Largest number of bytes of the recording. If the recording may grow
    // (`spill`), `timeline_limit` limits only the memory for data that the file
    // refuses.
    size_t timeline_limit;
    // True if, in precise mode, the timeline shows each instruction that runs.
    bool instructions;
    // Folder for a recording that may grow beyond timeline_limit, or "".
    char spill[PATH_MAX];
    // True if tracing must not start without the folder `spill`.
    bool spill_asked;
    char output[PATH_MAX];
    // True if `output` is a profile, so that no timeline is written.
    bool profile;
    // True if a recording (recorder.h) is kept until `output` is written.
    bool record;
    bool serve;
    bool sampler;    // True if samples are taken.
    unsigned events; // Bits of enum Chosen.
    bool native;     // True if samples contain C functions.
    bool objects;    // True if objects are always counted.
    // Number of the signal that takes samples, 0 for any free signal, or -1 for
    // none.
    int signal;
    // A server that outlives the session, or NULL.
    struct PersistentServer *persistent;
    // Budget at the start as a fraction of CPU time, or NaN if there is no
    // budget.
    double budget;
    // A step of an event loop that takes this number of seconds or longer is a
    // stall.
    double stall_s;
    // The rules that decide which code is traced, or NULL. The session does not
    // own the rules.
    const struct Filter *filter;
    // The collector's thread calls `each_turn` each time that it wakes up.
    // `each_turn` may be NULL.
    void (*each_turn)(struct Session *session);
};

// The newest values of the timeline's graphs (counters.h).
struct Counters {
    // CLOCK_MONOTONIC in seconds when values were last added to the graphs, or
    // at the start.
    double then_s;
    // Number of the next change of an instruction to add to the timeline.
    uint64_t change;
    // True before the collector's last turn, in which values are added although
    // less than a second has passed.
    bool last;
    // Counters_begin sets the fields from `due` on: whether values are added
    // now, the time in ms that they cover, and the present time in ticks.
    bool due;
    unsigned ms;
    uint64_t ticks;
};

// A viewer's request for a recording (handout.h).
struct HandoutRequest {
    uint64_t viewer;
    uint32_t number;
    enum HandoutKind kind;
    // CLOCK_MONOTONIC in ns at which the viewer asked for the recording.
    uint64_t asked_ns;
};

// Largest number of requests for the recording that wait.
#define HANDOUT_REQUESTS 8

struct Handouts {
    // Answers at most one request of a viewer for the recording. Returns the
    // milliseconds until the next request may be answered, or UINT_MAX if no
    // request waits. `serve` is NULL if no recording is handed out.
    unsigned (*serve)(struct Session *session);
    // The last result of `serve`. Only the collector's thread uses `pause_ms`.
    unsigned pause_ms;
    // Until this time, CLOCK_MONOTONIC in ns, the answers so far have used up
    // their share of CPU time. Only the collector's thread uses `paid_ns`.
    uint64_t paid_ns;
    // The copy of the recording that the collector's thread is making, or NULL.
    struct Recording *_Atomic copy;
    pthread_mutex_t mutex; // Guards `closed`, `count` and `requests`.
    bool closed;
    unsigned count;
    // The requests that wait, the oldest first.
    struct HandoutRequest requests[HANDOUT_REQUESTS];
};

struct Session {
    struct Config config;
    struct Engine *engine;
    uint64_t start_ticks;
    uint64_t start_unix_ns;
    // The session's timeline, or NULL if no timeline is wanted. If
    // config.profile is true, the timeline contains only samples.
    struct Timeline *timeline;
    // The timeline's recording if it is a file beside the output, otherwise
    // NULL.
    struct Recording *recording;
    // Head of the recording. Only the collector's thread uses `head`.
    struct RecordingHead head;
    // CLOCK_MONOTONIC in seconds at which the next totals must be written
    // (Recorder_totals). Only the collector's thread uses `totals_due_s`.
    double totals_due_s;
    // 0, or the -errno of the failure to make the file beside the output.
    int recording_error;
    // True if the recording's file must not be removed at the end.
    bool keeps_recording;
    // The track (row) of samples in the timeline. Only the sampler's thread
    // uses `samples`.
    struct SampleTrack samples;
    // Ticks when a wait last woke the collector's thread. Only the sampler's
    // thread uses `waits_ticks`.
    uint64_t waits_ticks;
    // The sampler, or NULL if there is none and shares are not known.
    struct Sampler *sampler;
    // Stacks of the whole run, kept after the sampler has stopped, or NULL.
    struct FlameTable *stacks;
    bool sampler_refused; // True if a sampler was wanted but could not start.
    // The server that shows the session, which is the server of
    // config.persistent or the session's own one, or NULL.
    struct Server *server;
    // ns of CPU time that the server had used before the session.
    uint64_t server_base_ns;
    // CLOCK_MONOTONIC in seconds at which a snapshot was last built for
    // viewers. Only the server's thread uses `built_s`.
    double built_s;
    // Number of snapshots that were built in a row while the overhead exceeded
    // the budget. Only the server's thread uses `debt_builds`.
    unsigned debt_builds;
    bool hands_over; // True if the viewers stay connected for the next session.
    struct Collector collector;
    // A thread that empties the rings of events holds this mutex
    // (Collect_drain).
    pthread_mutex_t draining;
    // A thread that moves events into the timeline holds this mutex. `tracks`
    // is locked after `draining`.
    pthread_mutex_t tracks;
    // CLOCK_MONOTONIC in seconds at the newest snapshot. Only the collector's
    // thread uses the members from `collected_s` to `idle_turns`.
    double collected_s;
    // CLOCK_MONOTONIC in seconds at which the collector's thread last looked
    // for other work than the recording.
    double looked_s;
    // HitRing.head when the collector's thread last checked for hits.
    uint64_t followed;
    // Number of hits that were counted without the ring (Counting.alone) when
    // the collector's thread last checked for hits.
    uint64_t followed_alone;
    // Number of the collector's turns in a row without a hit or a sample.
    unsigned idle_turns;
    // True if a sample was taken since the collector last checked for hits.
    _Atomic bool sampled;
    struct Counters counters; // The mutex `draining` guards `counters`.
    struct Publish publish;
    // `exports` is true while an export runs. If cancels_export is true, the
    // export ends soon (Exports_cancel).
    _Atomic bool exports, cancels_export;
    struct Handouts handouts;
    // Functions whose code objects were freed. The mutex `draining` guards the
    // members from `retired` to `c_rates_s`.
    struct Retired retired;
    struct Roll roll;   // Functions that may have a row in a snapshot.
    struct RowLog rows; // Rows of the functions in published snapshots.
    struct ExceptionRates exception_rates;
    // The governor's thread, which the code in python/ runs. The session only
    // reads the CPU time of this thread.
    struct Worker governor;
    struct Waker governor_waker;
    struct LongCalls long_calls;
    // ns of CPU time that threads of the program took to stop Ocular's threads
    // before forks, and to start them again.
    counter_t forks_ns;
    // The newest budget, as a fraction of CPU time, or NaN if there is no
    // budget.
    _Atomic double budget;
    struct Account account;
    // True if new code gets its hooks at once. The governor's thread sets
    // `arm_new`.
    _Atomic bool arm_new;
    // Requests to install the hooks of functions again, for the governor.
    struct RearmQueue rearm;
    struct ListingRequests requests;
    struct TaskBoard tasks;
    struct ObjectBoard objects;
    struct LineRows lines;
    // Unix time at which the process began, or NaN if unknown.
    double process_start_s;
    struct Transitions transitions;
};

// Sets the budget as a fraction of CPU time. Returns 0, -EINVAL if the budget
// is not above 0 and at most 1, or -ENOTSUP if this session has no budget
// (threshold 0, precise mode).
int Session_set_budget(struct Session *session, double budget);
// Returns the number of hits that each hook may have in a second. 0 means that
// hooks do not get new hits each second, because there is no budget.
uint64_t Session_second_hits(const struct Session *session);
// Returns the reason why shares of time are missing although they are wanted,
// otherwise NULL.
const char *Session_sampler_trouble(const struct Session *session);
// Writes which events are missing in the timeline's file, if some were lost. If
// no event was lost, writes why the recording is incomplete, or "" if it is
// complete.
void Session_describe_missing(const struct Session *session, char *out,
                              size_t size);
// Returns the seconds since the session began.
double Session_age_s(const struct Session *session);
// Makes the collector build a new snapshot, and waits until it is built.
// Returns 0, -ETIMEDOUT after two seconds, or -ESHUTDOWN if the session is
// finished. The caller must not hold the GIL.
int Session_refresh(struct Session *session);
// Returns the final snapshot, which the caller owns. Session_take must be
// called after Session_finish.
struct Snapshot *Session_take(struct Session *session);
