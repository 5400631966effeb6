// SPDX-License-Identifier: MIT
// One run of tracing: its settings, its threads, its timeline and its
// snapshots. lifetime.h starts and stops it. Any thread may call these
// functions; none needs the GIL.
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
#include "tracer/session/listing_wishes.h"
#include "tracer/session/persistent_server.h"
#include "tracer/session/publish.h"
#include "tracer/session/roll.h"
#include "tracer/timeline/export.h"
#include "tracer/timeline/sample_track.h"
#include "tracer/timeline/timeline.h"

#include <limits.h>

struct Session;

struct Config {
    char mode[16];
    uint64_t threshold; // 0: code never goes dark
    bool timeline;
    size_t timeline_limit; // bytes of memory
    bool instructions;     // in precise mode the timeline has each instruction
    char spill[PATH_MAX];  // folder for events beyond the memory; "": none
    bool spill_asked;      // a bad folder is an error
    char output[PATH_MAX];
    bool profile; // `output` names a profile: no timeline is written
    bool record;  // keep a recording (recorder.h) until `output` is written
    bool serve;
    bool sampler; // false: only hooks measure
    int signal;   // signal for samples; 0: any free one, -1: none
    // Server that outlives the session; or NULL.
    struct PersistentServer *persistent;
    double budget; // share of CPU time at the start; NaN: none
    // Called on the collector's thread each time that it wakes up; or NULL.
    void (*each_turn)(struct Session *session);
};

struct Session {
    struct Config config;
    struct Engine *engine;
    uint64_t start_ticks;
    uint64_t start_unix_ns;
    // NULL: not wanted. With config.profile it has samples, and no thread's
    // events, and is only recorded.
    struct Timeline *timeline;
    struct Recording *recording; // NULL: none; the timeline writes it
    struct RecordingHead head;   // of that; the collector's
    int recording_error;         // 0, or -errno: why there is none
    bool keeps_recording;        // when the session is freed
    struct SampleTrack samples;  // the sampler's thread's
    struct Sampler *sampler;     // NULL: no shares
    // Stacks of the whole run, once the sampler has stopped; or NULL.
    struct FlameTable *stacks;
    bool sampler_refused;    // a sampler was wanted
    struct Server *server;   // config.persistent's or our own; NULL: none
    uint64_t server_base_ns; // CPU time that the server had used before
    // When viewers last had a snapshot built; for the server's thread.
    double built_s;
    // Snapshots built in a row while overdrawn; for the server's thread.
    unsigned debt_builds;
    bool hands_over; // viewers stay connected for the next session
    struct Collector collector;
    pthread_mutex_t draining; // only its holder drains rings (Collect_drain)
    // Taken after `draining`: only its holder moves events into the timeline.
    pthread_mutex_t tracks;
    // Time in s of the newest snapshot. The collector's thread uses this member
    // and the next four.
    double collected_s;
    double looked_s;   // when it last looked for work other than the recording
    uint64_t followed; // head of the ring of hits at the last check
    // Number of hits counted without the ring, at the last check.
    uint64_t followed_alone;
    unsigned idle_turns;      // turns in a row without a hit or a sample
    _Atomic bool sampled;     // a sample has come since the last check
    struct Counters counters; // guarded by `draining`
    struct Publish publish;
    struct Export export;
    // Functions whose code objects are gone; guarded by `draining`, as roll and
    // rows.
    struct Retired retired;
    struct Roll roll;   // functions that may have a row
    struct RowLog rows; // their rows
    // The governor's thread, used by python/. The session needs its CPU time.
    struct Worker governor;
    struct Waker governor_waker;
    // CPU ns of the program's threads for stopping our threads before a fork
    // and starting them after it.
    counter_t forks_ns;
    _Atomic double budget; // share of CPU time, as set last; NaN: none
    struct Account account;
    // Newly adopted code is armed at once; set by the governor.
    _Atomic bool arm_new;
    struct RearmQueue rearm; // for the governor
    struct ListingWishes wishes;
    double process_start_s; // Unix time; NaN: unknown
    struct Transitions transitions;
};

// Sets the budget from now on, a share of CPU time. Returns 0, -EINVAL unless
// it is above 0 and at most 1, or -ENOTSUP if this session has no budget
// (threshold 0, precise mode). Any thread may call this.
int Session_set_budget(struct Session *session, double budget);
// Returns how many hits armed code may have in a second. 0 means that hits
// count for good, because there is no budget. Any thread may call this.
uint64_t Session_second_hits(const struct Session *session);
// Returns why there are no shares of the window although they are wanted, as a
// text; or NULL. Any thread may call this.
const char *Session_sampler_trouble(const struct Session *session);
// Writes which events the timeline has dropped that a file should have taken.
// If there are none, writes why the recording is incomplete, or "". Any thread
// may call this.
void Session_describe_missing(const struct Session *session, char *out,
                              size_t size);
// Fills in all that a file says of the run, but for the functions that are
// dark. Any thread.
void Session_describe(const struct Session *session,
                      struct PerfettoTrace *trace);
// s since it was started. Any thread.
double Session_age_s(const struct Session *session);
// Has a new snapshot built and waits for it. Returns 0, -ETIMEDOUT after two
// seconds, or -ESHUTDOWN if the session is finished. The caller must not hold
// the GIL.
int Session_refresh(struct Session *session);
// Returns the final snapshot, which the caller owns. Call this after
// Session_finish.
struct Snapshot *Session_take(struct Session *session);

#endif
