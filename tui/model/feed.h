// SPDX-License-Identifier: MIT
// The stream of snapshots from one traced process, live or recorded, paused or
// ended, and the requests made of it with their answers. It does not reconnect:
// a process that is gone has ended. What comes can be recorded on the way. One
// thread; nothing blocks but Feed_open and Feed_wait.
#ifndef OCULAR_TUI_MODEL_FEED_H
#define OCULAR_TUI_MODEL_FEED_H

#include "tui/model/export_file.h"
#include "tui/model/feed_link.h"
#include "tui/model/feed_listing.h"
#include "tui/model/pending.h"
#include "tui/model/recording.h"

#include <stdbool.h>

#define FEED_RATE_MIN 0.1 // seconds, as the wire allows
#define FEED_RATE_MAX 60.0

struct Answer { // to a request
    enum MessageType request;
    uint64_t about; // REARM: the function, 0 = all
    bool failed;
    bool done; // false: an export under way
    int error; // failed: errno
    double progress;
    uint64_t bytes;
    char text[1024]; // a stranger's words, or ""
};

struct Feed {
    pid_t pid; // as seen from here; 0 = not known
    struct FeedLink link;
    struct Recording *recording; // borrowed, or NULL
    double speed;                // of the replay
    bool paused;
    bool ended;
    char reason[320];    // why it ended
    char notice[160];    // a stranger's: why there is no snapshot yet, or ""
    double rate_s;       // seconds between snapshots, as asked for
    double heard_at;     // Feed_now() of the newest message
    unsigned taken;      // messages since Feed_next had nothing more
    double taking_since; // Feed_now() of the first of them
    bool more;           // it stopped though there may be more
    struct Snapshot *newest;   // not yet taken; owned
    struct FlameTable *stacks; // the same
    struct Pending pending;
    struct FeedListing listing;
    struct ExportFile export; // of the one that is under way
};

double Feed_now(void); // monotonic seconds

// Connects and asks for snapshots. 0, or -errno with `why` in words.
int Feed_open(struct Feed *feed, const struct Served *served, double rate_s,
              char *why, size_t why_size);
// The same from a recording; paced: at the time of the recording, else one
// snapshot for each Feed_step.
int Feed_replay(struct Feed *feed, const char *path, bool paced, char *why,
                size_t why_size);
// From now on what arrives is recorded, too.
void Feed_record(struct Feed *feed, struct Recording *recording);
void Feed_close(struct Feed *feed);
int Feed_fd(struct Feed *feed);               // to poll, or -1
bool Feed_is_replay(const struct Feed *feed); // else a live process

// Takes in what has arrived. 1: *answer is one to show, call again; 0: nothing
// more for now. Of one who sends without pause it takes so much at a time;
// Feed_has_more tells then that there is no need to wait for the descriptor.
int Feed_next(struct Feed *feed, struct Answer *answer);
bool Feed_has_more(const struct Feed *feed);
// Waits for bytes; false when none came in time or the feed has ended.
bool Feed_wait(struct Feed *feed, int timeout_ms);
// The newest snapshot, which the caller then owns; NULL if there is none that
// was not taken yet, or the feed is paused.
struct Snapshot *Feed_take(struct Feed *feed);
// The same; a recording's are of the moment that is shown, paused or not.
struct FlameTable *Feed_take_stacks(struct Feed *feed);
void Feed_step(struct Feed *feed); // live: snapshots come by themselves
void Feed_speed(struct Feed *feed, double speed); // of a replay
void Feed_pause(struct Feed *feed, bool paused);
// Says which function is looked at (0: none any more). Asks for its code, once
// a snapshot; does nothing while an answer is on its way.
void Feed_want_listing(struct Feed *feed, uint64_t function);
// Its code as it came last, which the caller then owns; NULL if there is none
// that was not taken yet.
struct Listing *Feed_take_listing(struct Feed *feed);
bool Feed_has_listing(const struct Feed *feed);
// Is some request not answered yet?
bool Feed_is_waiting(const struct Feed *feed);
bool Feed_is_exporting(const struct Feed *feed);

// Requests: 0 or -errno (-EPIPE: it has ended).
int Feed_rate(struct Feed *feed, double rate_s);
int Feed_rearm(struct Feed *feed, uint64_t function); // 0 = all
int Feed_budget(struct Feed *feed, double share);     // of CPU time
// One export at a time (-EBUSY); also what ExportFile_open says. Its last
// answer comes when the file is in its place, or is removed.
int Feed_export(struct Feed *feed, const char *path, bool overwrite);
int Feed_cancel(struct Feed *feed);
// Stacks, if they are not asked for already: Feed_take_stacks has them later.
int Feed_flame(struct Feed *feed);

#endif
