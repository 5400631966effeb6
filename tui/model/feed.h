// SPDX-License-Identifier: MIT
// The stream of snapshots from one traced process, live or recorded, and the
// user's requests to it with their answers. It can record what comes. It does
// not reconnect: a process that is gone has ended. Called by the app and by
// views, on the viewer's thread; nothing blocks but Feed_open and Feed_wait.
#ifndef OCULAR_TUI_MODEL_FEED_H
#define OCULAR_TUI_MODEL_FEED_H

#include "tui/model/export_file.h"
#include "tui/model/feed_link.h"
#include "tui/model/feed_listing.h"
#include "tui/model/recording.h"

#include <stdbool.h>

#define FEED_RATE_MIN 0.1 // seconds, as the wire allows
#define FEED_RATE_MAX 60.0

struct Answer { // to a request of the user
    enum MessageType request;
    uint64_t about; // REARM: id of the function, 0: all
    bool failed;
    bool done; // false: the export goes on
    int error; // errno, if `failed`
    double progress;
    uint64_t bytes;
    char text[1024]; // the process's words, not trusted; "": none
};

struct Feed {
    pid_t pid; // as this viewer sees it; 0: not known
    struct FeedLink link;
    struct Recording *recording; // borrowed; NULL: nothing is recorded
    double speed;                // of a replay: 1 is as recorded
    bool paused;
    bool ended;
    char reason[320];          // Why it ended.
    char notice[160];          // Why no snapshot came yet, not trusted; or "".
    double rate_s;             // Seconds between snapshots, as asked for.
    double heard_at;           // Feed_now() of the newest message.
    unsigned taken;            // Messages since Feed_next last returned 0.
    double taking_since;       // Feed_now() of the first of these.
    bool more;                 // Feed_next stopped before the last message.
    struct Snapshot *newest;   // Not yet taken; owned.
    struct FlameTable *stacks; // Not yet taken; owned.
    struct Pending pending;
    struct FeedListing listing;
    struct ExportFile export; // of the export that is under way
};

double Feed_now(void); // monotonic seconds

// Connects and asks for snapshots. 0, or -errno with `why` in words.
int Feed_open(struct Feed *feed, const struct Served *served, double rate_s,
              char *why, size_t why_size);
// Opens a recording in its place. `paced`: snapshots come at their recorded
// times; else one comes for each Feed_step.
int Feed_replay(struct Feed *feed, const char *path, bool paced, char *why,
                size_t why_size);
// Records what arrives from now on.
void Feed_record(struct Feed *feed, struct Recording *recording);
void Feed_close(struct Feed *feed);
int Feed_fd(struct Feed *feed);               // to poll, or -1
bool Feed_is_replay(const struct Feed *feed); // else a live process

// Takes in what has arrived. 1: *answer is one to show, call again; 0: nothing
// more for now. If a process sends without pause, this stops after a while;
// then Feed_has_more is true, and there is no need to wait for the descriptor.
int Feed_next(struct Feed *feed, struct Answer *answer);
bool Feed_has_more(const struct Feed *feed);
// Waits for bytes; false: none came in time, or the feed has ended.
bool Feed_wait(struct Feed *feed, int timeout_ms);
// Returns the newest snapshot, which the caller then owns. NULL: there is none
// that was not taken yet, or the feed is paused.
struct Snapshot *Feed_take(struct Feed *feed);
// The same for stacks; a recording's come while it is paused, too.
struct FlameTable *Feed_take_stacks(struct Feed *feed);
void Feed_step(struct Feed *feed); // a replay plays one snapshot; a live
                                   // process sends them
void Feed_speed(struct Feed *feed, double speed); // of a replay
void Feed_pause(struct Feed *feed, bool paused);
// Says which function a view shows (0: none any more), and asks for its code,
// once a snapshot. Does nothing while an answer is on its way.
void Feed_want_listing(struct Feed *feed, uint64_t function);
// Returns its newest code, which the caller then owns. NULL: there is none that
// was not taken yet.
struct Listing *Feed_take_listing(struct Feed *feed);
bool Feed_has_listing(const struct Feed *feed);
// Is there a request whose answer somebody waits for?
bool Feed_is_waiting(const struct Feed *feed);
bool Feed_is_exporting(const struct Feed *feed);

// Requests: 0 or -errno (-EPIPE: it has ended).
int Feed_rate(struct Feed *feed, double rate_s);
int Feed_refresh(struct Feed *feed);                  // a snapshot now
int Feed_rearm(struct Feed *feed, uint64_t function); // 0: all
int Feed_budget(struct Feed *feed, double share);     // of CPU time
// One export at a time (-EBUSY); also the errors of ExportFile_open. The last
// answer comes when the file is in its place, or is removed.
int Feed_export(struct Feed *feed, const char *path, bool overwrite);
int Feed_cancel(struct Feed *feed);
// Asks for stacks, unless it has asked already; Feed_take_stacks has them
// later.
int Feed_flame(struct Feed *feed);

#endif
