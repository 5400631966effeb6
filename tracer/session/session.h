// SPDX-License-Identifier: MIT
// One run of tracing: its settings, its threads, its timeline and its
// snapshots. lifetime.h starts and stops it. These functions may be called from
// any thread and never need the interpreter.
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
    uint64_t threshold; // 0 = never dark
    bool timeline;
    size_t timeline_limit; // bytes of memory
    bool instructions;     // the timeline has each, in precise mode
    char spill[PATH_MAX];  // the folder for what is beyond; "": none
    bool spill_asked;      // an error if that does not do
    char output[PATH_MAX];
    bool profile; // its ending is a profile's: that is written, no timeline
    bool record;  // there is a recording (recorder.h) until that is written
    bool serve;
    bool sampler; // false: hooks alone
    int signal;   // that samples come by; 0: any that is free, -1: none
    struct PersistentServer *persistent; // serve here, if not NULL; it stays
    double budget; // share of CPU time at the start; NaN = none
    // On the collector's thread, each time that it wakes up; or NULL.
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
    struct FlameTable *stacks; // of the run, once the sampler has gone; or NULL
    bool sampler_refused;      // one was wanted
    struct Server *server;     // NULL: not serving; or config.persistent's
    uint64_t server_base_ns;   // CPU time that it had used before
    double built_s; // when viewers had one built last; the server's thread
    unsigned debt_builds; // in a row, each while overdrawn; the server's thread
    bool hands_over;      // viewers stay, for the next session
    struct Collector collector;
    pthread_mutex_t draining; // one at a time, of Collect_drain
    pthread_mutex_t tracks;   // after it: who empties rings into the timeline
    double collected_s;       // when the newest snapshot was built, and
    double looked_s;          // whether anything else was due,
    uint64_t followed;        // and the head of the ring of hits then,
    uint64_t followed_alone;  // what had come past it,
    unsigned idle_turns;  // and turns without either; all four the collector's
    _Atomic bool sampled; // a sample has come since
    struct Counters counters; // under `draining`
    struct Publish publish;
    struct Export export;
    struct Retired retired; // functions whose code objects are gone
    struct Roll roll;       // who may have a row,
    struct RowLog rows;     // ... and the rows; all three under `draining`
    struct Worker governor; // python/'s; here, so that its time is known
    struct Waker governor_waker;
    counter_t forks_ns;    // CPU time of the program's threads, which end ours
                           // before a fork and start them after it
    _Atomic double budget; // share of CPU time, as set last; NaN = none
    struct Account account;
    _Atomic bool arm_new;    // code that is adopted now is armed at once; the
                             // governor's
    struct RearmQueue rearm; // for the governor
    struct ListingWishes wishes;
    double process_start_s; // Unix time; NaN: not known
    struct Transitions transitions;
};

// The budget that is held from now on, a share of CPU time. Any thread. 0,
// -EINVAL: not above 0 and at most 1, or -ENOTSUP: this session holds none
// (threshold 0, precise mode).
int Session_set_budget(struct Session *session, double budget);
// Hits that armed code may have in a second; 0: they count for good, as no
// budget is held. Any thread.
uint64_t Session_second_hits(const struct Session *session);
// Why there are no shares of the window, though they are wanted: in words.
// NULL: there are. Any thread.
const char *Session_sampler_trouble(const struct Session *session);
// Describes what the timeline has forgotten although a file was to take it, or
// else why there is no whole recording. "": nothing. Any thread.
void Session_describe_missing(const struct Session *session, char *out,
                              size_t size);
// Fills in all that a file says of the run, but for the functions that are
// dark. Any thread.
void Session_describe(const struct Session *session,
                      struct PerfettoTrace *trace);
// s since it was started. Any thread.
double Session_age_s(const struct Session *session);
// Has a fresh snapshot built and waits for it, or gives up after two seconds
// (-ETIMEDOUT) or when the session is finished (-ESHUTDOWN). Not with the
// interpreter's lock.
int Session_refresh(struct Session *session);
// The final snapshot; the caller's. After Session_finish.
struct Snapshot *Session_take(struct Session *session);

#endif
