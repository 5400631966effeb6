// SPDX-License-Identifier: MIT
// The stream of snapshots from one traced process or from a recording, and the
// user's requests with their answers. The feed can record what arrives. The
// feed does not reconnect, but ends with the process. Called by the app and by
// views, on the viewer's thread. Only Feed_open and Feed_wait block.
#ifndef OCULAR_TUI_MODEL_FEED_H
#define OCULAR_TUI_MODEL_FEED_H

#include "tui/model/capture.h"
#include "tui/model/export_file.h"
#include "tui/model/feed_link.h"
#include "tui/model/feed_listing.h"

#include <stdbool.h>

// least seconds between snapshots, a limit of the protocol
#define FEED_RATE_MIN 0.1
#define FEED_RATE_MAX 60.0

struct Answer { // an answer to a request of the user
    enum MessageType request;
    uint64_t about; // REARM: id of the function; 0: all functions
    bool failed;
    bool done; // the export has ended; else it continues
    int error; // errno, if `failed`
    double progress;
    uint64_t bytes;
    char text[1024]; // the process's words, not trusted; "" if there are none
};

struct Feed {
    pid_t pid; // process id as this viewer sees it; 0: not known
    struct FeedLink link;
    // the recording that gets all messages; borrowed; NULL: none
    struct Capture *recording;
    double speed; // speed of a replay; 1 is the recorded speed
    bool paused;
    bool ended;
    char reason[320];          // why the feed ended
    char notice[160];          // why no snapshot came yet, not trusted; ""
    double rate_s;             // requested seconds between snapshots
    double heard_at;           // Feed_now() at the newest message
    unsigned taken;            // messages since Feed_next last returned 0
    double taking_since;       // Feed_now() at the first of these messages
    bool more;                 // Feed_next stopped before the last message
    struct Snapshot *newest;   // not taken yet; owned; NULL: none
    struct FlameTable *stacks; // not taken yet; owned; NULL: none
    struct Pending pending;
    struct FeedListing listing;
    struct ExportFile export; // file of the running export
};

double Feed_now(void); // monotonic time in seconds

// Connects and asks for snapshots. Returns 0, or -errno with the reason in
// `why`.
int Feed_open(struct Feed *feed, const struct Served *served, double rate_s,
              char *why, size_t why_size);
// Opens a recording instead of a connection. If `paced`, snapshots come at
// their recorded times; else each Feed_step brings one.
int Feed_replay(struct Feed *feed, const char *path, bool paced, char *why,
                size_t why_size);
// Opens the recording of a run. The first snapshot is of the whole run.
int Feed_open_past(struct Feed *feed, const struct PastWish *wish, char *why,
                   size_t why_size);
// Starts to read a stretch of the run, whose snapshot comes next. Returns 0 or
// -errno.
int Feed_stretch(struct Feed *feed, struct SummaryStretch stretch);
// Records everything that arrives from now on.
void Feed_record(struct Feed *feed, struct Capture *recording);
void Feed_close(struct Feed *feed);
// Returns the descriptor for poll(), or -1 if there is none.
int Feed_fd(struct Feed *feed);
// Is it the recording of a run? Feed_is_shown: which was read?
bool Feed_is_past(const struct Feed *feed);
bool Feed_is_shown(const struct Feed *feed);
// Returns false for a live process.
bool Feed_is_replay(const struct Feed *feed);

// Processes messages that have arrived. Returns 1 if *answer has to be shown;
// then the caller calls again. Returns 0 if there is nothing more for now. If a
// process sends without a pause, Feed_next returns 0 after a while and
// Feed_has_more returns true: then the caller need not wait for the descriptor.
int Feed_next(struct Feed *feed, struct Answer *answer);
bool Feed_has_more(const struct Feed *feed);
// Waits for bytes. Returns false if none came in time or the feed has ended.
bool Feed_wait(struct Feed *feed, int timeout_ms);
// Returns the newest snapshot, which the caller then owns. Returns NULL if it
// was taken already or the feed is paused.
struct Snapshot *Feed_take(struct Feed *feed);
// Returns the newest stacks, as Feed_take does a snapshot. The stacks of a
// recording also come while the feed is paused.
struct FlameTable *Feed_take_stacks(struct Feed *feed);
// makes a replay play one more snapshot; no effect on a live process
void Feed_step(struct Feed *feed);
void Feed_speed(struct Feed *feed, double speed); // Sets the speed of a replay.
void Feed_pause(struct Feed *feed, bool paused);
// Says which function a view shows (0: none), and asks for its code once a
// snapshot. Sends no request while an answer is pending.
void Feed_want_listing(struct Feed *feed, uint64_t function);
// Returns the newest listing, which the caller then owns. Returns NULL if it
// was taken already.
struct Listing *Feed_take_listing(struct Feed *feed);
bool Feed_has_listing(const struct Feed *feed);
// Returns true if the user or a view waits for an answer.
bool Feed_is_waiting(const struct Feed *feed);
bool Feed_is_exporting(const struct Feed *feed);

// The functions below send requests and return 0 or -errno (-EPIPE: the feed
// has ended).
int Feed_rate(struct Feed *feed, double rate_s);
int Feed_refresh(struct Feed *feed); // asks for a snapshot at once
// re-arms a function; 0: all functions
int Feed_rearm(struct Feed *feed, uint64_t function);
// sets the budget, as a share of the CPU time
int Feed_budget(struct Feed *feed, double share);
// Starts an export. Returns -EBUSY if one is running, or an error of
// ExportFile_open. The last answer comes when the file has its final name, or
// is removed.
int Feed_export(struct Feed *feed, const char *path, bool overwrite);
int Feed_cancel(struct Feed *feed);
// Asks for stacks, unless such a request is pending. The answer is available by
// Feed_take_stacks.
int Feed_flame(struct Feed *feed);

#endif
