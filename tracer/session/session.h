// SPDX-License-Identifier: MIT
// A session is one run of tracing, with its settings, its threads, its timeline
// and its snapshots. lifetime.h starts and stops a session. Any thread may call
// these functions, and no caller needs the GIL.
#ifndef OCULAR_TRACER_SESSION_SESSION_H
#define OCULAR_TRACER_SESSION_SESSION_H

#include "ipc/server.h"
#include "tracer/budget/account.h"
#include "tracer/budget/rearm_queue.h"
#include "tracer/code/retired.h"
#include "tracer/code/transitions.h"
#include "tracer/session/collector.h"
#include "tracer/session/counters.h"
#include "tracer/session/engine.h"
#include "tracer/session/exception_rows.h"
#include "tracer/session/listing_wishes.h"
#include "tracer/session/persistent_server.h"
#include "tracer/session/publish.h"
#include "tracer/session/roll.h"
#include "tracer/session/task_board.h"
#include "tracer/timeline/export.h"
#include "tracer/timeline/sample_track.h"
#include "tracer/timeline/timeline.h"

#include <limits.h>

struct Filter;
struct Session;

struct Config {
    char mode[16];
    uint64_t threshold; // if 0, code never goes dark
    bool timeline;
    // Largest number of bytes of the recording. If the recording grows
    // (`spill`), the number of bytes of memory for what the file refuses.
    size_t timeline_limit;
    // true if the timeline has each instruction, in precise mode
    bool instructions;
    // Folder for a recording that may grow beyond timeline_limit, or "".
    char spill[PATH_MAX];
    bool spill_asked; // true if a bad folder is an error
    char output[PATH_MAX];
    // True if `output` names a profile, so that no timeline is written.
    bool profile;
    // True if a recording (recorder.h) is kept until `output` is written.
    bool record;
    bool serve;
    bool sampler; // if false, only hooks measure
    int signal;   // signal for samples; 0 for any free signal, -1 for none
    // Server that outlives the session, or NULL.
    struct PersistentServer *persistent;
    double budget; // share of CPU time at the start, or NaN
    // Seconds; a step of an event loop that takes as long is a stall.
    double stall_s;
    // The rules by which code is traced, which live longer than the session, or
    // NULL.
    const struct Filter *filter;
    // The collector's thread calls this function each time that the thread
    // wakes up. NULL if there is no function.
    void (*each_turn)(struct Session *session);
};

// A viewer's request for a recording (handout.h).
struct HandoutWish {
    uint64_t viewer;
    uint32_t request;
    enum HandoutKind kind;
    uint64_t asked_ns; // CLOCK_MONOTONIC
};

#define HANDOUT_WISHES 8 // largest number of requests that wait

struct Handouts {
    // Answers at most one request. Returns the ms until the next request may be
    // answered, or UINT_MAX if no request waits. NULL: nothing is handed out.
    unsigned (*serve)(struct Session *session);
    unsigned pause_ms; // result of `serve`; only the collector's thread uses it
    // CLOCK_MONOTONIC at which the costs of all answers are paid. Only the
    // collector's thread uses this field.
    uint64_t paid_ns;
    // The copy that the collector's thread is making, or NULL.
    struct Recording *_Atomic copy;
    pthread_mutex_t mutex; // guards all members below
    bool closed;
    unsigned count;
    struct HandoutWish wishes[HANDOUT_WISHES]; // the oldest first
};

struct Session {
    struct Config config;
    struct Engine *engine;
    uint64_t start_ticks;
    uint64_t start_unix_ns;
    // NULL if no timeline is wanted. With config.profile the timeline has only
    // samples.
    struct Timeline *timeline;
    // The timeline's recording if the recording is a file beside the output, or
    // NULL.
    struct Recording *recording;
    // head of the recording; only the collector's thread uses it
    struct RecordingHead head;
    // True if the timeline has the settings, with this budget. `draining`
    // guards both fields.
    bool settings_recorded;
    double recorded_budget;
    // 0, or the -errno for which the file beside the output is missing.
    int recording_error;
    // true if the file is kept when the session is freed
    bool keeps_recording;
    struct SampleTrack samples; // only the sampler's thread uses the track
    struct Sampler *sampler;    // NULL if there are no shares
    // Stacks of the whole run after the sampler has stopped, or NULL.
    struct FlameTable *stacks;
    bool sampler_refused; // true if a sampler was wanted but could not start
    // config.persistent's server, our own server, or NULL
    struct Server *server;
    // CPU time that the server had used before the session
    uint64_t server_base_ns;
    // Time at which a snapshot was last built for viewers. Only the server's
    // thread uses this field.
    double built_s;
    // Number of snapshots built in a row while the budget is overdrawn. Only
    // the server's thread uses this field.
    unsigned debt_builds;
    bool hands_over; // true if viewers stay connected for the next session
    struct Collector collector;
    // Only a holder of this mutex drains rings (Collect_drain).
    pthread_mutex_t draining;
    // Only a holder of this mutex moves events into the timeline. The mutex is
    // taken after `draining`.
    pthread_mutex_t tracks;
    // Time of the newest snapshot in seconds. Only the collector's thread uses
    // this member and the next four.
    double collected_s;
    // Time at which the thread last looked for work other than the recording.
    double looked_s;
    // Head of the ring of hits when the thread last checked for hits.
    uint64_t followed;
    // Number of hits counted without the ring, at the same time.
    uint64_t followed_alone;
    unsigned idle_turns;  // number of turns in a row without a hit or a sample
    _Atomic bool sampled; // true if a sample was taken since the last check
    struct Counters counters; // `draining` guards this field
    struct Publish publish;
    struct Export export;
    struct Handouts handouts;
    // Functions whose code objects no longer exist. `draining` guards this
    // field, `roll` and `rows`.
    struct Retired retired;
    struct Roll roll;                      // functions that may have a row
    struct RowLog rows;                    // rows of these functions
    struct ExceptionRates exception_rates; // `draining` guards this field
    // The governor's thread, which python/ runs. The session reads the thread's
    // CPU time.
    struct Worker governor;
    struct Waker governor_waker;
    // CPU time in ns in which threads of the program stopped our threads before
    // a fork and started them after the fork.
    counter_t forks_ns;
    _Atomic double budget; // share of CPU time that was set last, or NaN
    struct Account account;
    // True if newly adopted code is armed at once. The governor sets this
    // field.
    _Atomic bool arm_new;
    struct RearmQueue rearm; // requests for the governor
    struct ListingWishes wishes;
    struct TaskBoard tasks;
    double process_start_s; // Unix time, or NaN if unknown
    struct Transitions transitions;
};

// Sets the budget as a share of CPU time. Returns 0. Returns -EINVAL if the
// budget is not above 0 and at most 1, and -ENOTSUP if this session has no
// budget (threshold 0, precise mode). Any thread may call this function.
int Session_set_budget(struct Session *session, double budget);
// Returns the number of hits that armed code may have in a second. 0 means that
// the hits are not renewed, because there is no budget. Any thread may call
// this function.
uint64_t Session_second_hits(const struct Session *session);
// If shares of the window are wanted but missing, returns the reason as a text,
// otherwise NULL. Any thread may call this function.
const char *Session_sampler_trouble(const struct Session *session);
// If the timeline has dropped events that should have gone to a file, writes
// which events. If the timeline has dropped no event, writes why the recording
// is incomplete. If the recording is complete, writes "". Any thread may call
// this function.
void Session_describe_missing(const struct Session *session, char *out,
                              size_t size);
// Returns the seconds since the session was started. Any thread may call this
// function.
double Session_age_s(const struct Session *session);
// Makes the collector build a new snapshot, and waits for the snapshot. Returns
// 0, -ETIMEDOUT after two seconds, or -ESHUTDOWN if the session is finished.
// The caller must not hold the GIL.
int Session_refresh(struct Session *session);
// Returns the final snapshot, which the caller owns. The function must be
// called after Session_finish.
struct Snapshot *Session_take(struct Session *session);

#endif
