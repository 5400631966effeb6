// SPDX-License-Identifier: MIT
// A feed is the connection to one traced process, or the reader of a recording.
// A feed receives snapshots, sends the user's requests and receives the
// answers. A feed can record all messages. A feed ends with the process and
// does not reconnect. Only Feed_open and Feed_wait block.
#pragma once

#include "formats/native_names.h"
#include "tui/model/capture.h"
#include "tui/model/converter.h"
#include "tui/model/export_file.h"
#include "tui/model/feed_link.h"
#include "tui/model/feed_listing.h"

#include <stdbool.h>

// The protocol allows this range of seconds between two snapshots.
#define FEED_RATE_MIN 0.1
#define FEED_RATE_MAX 60.0

struct Answer { // An answer to a request of the user.
    enum MessageType request;
    // Id of the function of a REARM request (0 = all functions).
    uint64_t about;
    bool failed;
    bool done; // True if the export is over.
    int error; // errno, if `failed`.
    double progress;
    uint64_t bytes;
    char text[1024]; // Text of the process, which is not trusted, or "".
    // Describes what an exported file lacks, or is "". The text is not trusted.
    char lack[200];
};

struct Feed {
    pid_t pid; // Process id as this viewer sees it (0 = unknown).
    struct FeedLink link;
    // The recording to which all messages are written, borrowed, or NULL.
    struct Capture *recording;
    double speed; // Speed of a replay (1 = the recorded speed).
    bool paused;
    bool ended;
    char reason[320]; // The reason why the feed ended.
    // Reason why no snapshot has come yet, sent by the process and not trusted,
    // or "".
    char notice[160];
    double rate_s;   // Requested seconds between snapshots.
    double heard_at; // Time (Feed_now()) of the newest message.
    unsigned taken;  // Number of messages since Feed_next last returned 0.
    // Time (Feed_now()) of the first of these messages.
    double taking_since;
    bool more; // True if Feed_next has stopped before the last message.
    // Owned snapshot that the model has not taken yet, or NULL.
    struct Snapshot *newest;
    // Owned stacks that the flame view has not taken yet, or NULL.
    struct FlameTable *stacks;
    struct NativeNames names; // Names of C functions in what has arrived.
    struct Pending pending;
    struct FeedListing listing;
    struct ExportFile export; // File of the running export.
    // Writes the export's file. NULL until the process has handed out its
    // recording.
    struct Converter *converter;
    // Time (Feed_now()) at which the viewer asked for the recording.
    double asked_s;
    uint32_t asked; // Number of the request for the recording.
    bool cancelled; // The export is cancelled.
};

double Feed_now(void); // Returns the monotonic time in seconds.

// Connects to a process and asks for snapshots. Returns 0, or -errno with the
// reason in `why`.
int Feed_open(struct Feed *feed, const struct Served *served, double rate_s,
              char *why, size_t why_size);
// Connects to the processes of a service, a master and its workers, instead of
// one process. After this call, the other functions work as for one process,
// but there is no export.
int Feed_open_fleet(struct Feed *feed, pid_t master, double rate_s, char *why,
                    size_t why_size);
// Opens a recording instead of a connection. If `paced` is true, snapshots come
// as far apart as they were recorded. If `paced` is false, each Feed_step makes
// one snapshot come.
int Feed_replay(struct Feed *feed, const char *path, bool paced, char *why,
                size_t why_size);
// Opens the recording of a run. The first snapshot covers the whole run.
int Feed_open_past(struct Feed *feed, const struct PastRequest *request,
                   char *why, size_t why_size);
// Starts to read a stretch of the run. The next snapshot covers the chosen
// stretch. Returns 0 or -errno.
int Feed_stretch(struct Feed *feed, struct SummaryStretch stretch);
// Writes all messages that arrive after this call to the recording.
void Feed_record(struct Feed *feed, struct Capture *recording);
void Feed_close(struct Feed *feed);
// Returns the descriptor for poll(), or -1 if there is none.
int Feed_fd(struct Feed *feed);
// Returns true if the feed is the recording of a run. Feed_is_shown also
// requires that a stretch of this run has been read.
bool Feed_is_past(const struct Feed *feed);
bool Feed_is_shown(const struct Feed *feed);
// Returns true for any recording, and false for a live process.
bool Feed_is_replay(const struct Feed *feed);

// Handles messages that have arrived. Returns 1 if there is an answer for the
// user in *answer, and 0 if no messages are left. If the result is 1, the
// caller must call Feed_next again. If a process sends without a pause,
// Feed_next returns 0 after some time although there are more messages, and
// feed->more is true. If feed->more is true, the caller must not wait for the
// descriptor.
int Feed_next(struct Feed *feed, struct Answer *answer);
// Waits until messages arrive. Returns false after the timeout or if the feed
// has ended.
bool Feed_wait(struct Feed *feed, int timeout_ms);
// Returns the newest snapshot, which the caller then owns. Returns NULL if it
// was already taken, or if the feed is paused.
struct Snapshot *Feed_take(struct Feed *feed);
// Returns the newest stacks in the same way. If the feed is a recording, stacks
// also come while it is paused.
struct FlameTable *Feed_take_stacks(struct Feed *feed);
// Returns true if the newest stacks contain the CPU time of all counted calls.
bool Feed_has_all_stacks(const struct Feed *feed);
// Makes a replay play one more snapshot. Does nothing for a live process.
void Feed_step(struct Feed *feed);
void Feed_speed(struct Feed *feed, double speed); // Sets the speed of a replay.
void Feed_pause(struct Feed *feed, bool paused);
// Says which function a view shows (0 = no function). Requests the function's
// code once for each snapshot, but not while an answer is pending.
void Feed_want_listing(struct Feed *feed, uint64_t function);
// Returns the newest listing, which the caller then owns. Returns NULL if it
// was already taken.
struct Listing *Feed_take_listing(struct Feed *feed);
// Returns true if the user or a view waits for an answer.
bool Feed_is_waiting(const struct Feed *feed);
bool Feed_is_exporting(const struct Feed *feed);

// All functions below send requests and return 0 or -errno. -EPIPE means that
// the feed has ended.
int Feed_rate(struct Feed *feed, double rate_s);
int Feed_refresh(struct Feed *feed); // Requests a snapshot now.
// Asks the process to install the hooks of a function again (0 = of all
// functions).
int Feed_rearm(struct Feed *feed, uint64_t function);
// Sets the budget, as a share of the CPU time.
int Feed_budget(struct Feed *feed, double share);
// Starts an export. Returns -EBUSY if an export is running, -EOPNOTSUPP if the
// file's name is that of a recording, or an error of ExportFile_open. The last
// answer comes after the file has got its final name or has been removed. If
// the process has handed out its recording, the export goes on even after the
// end of the feed.
int Feed_export(struct Feed *feed, const char *path, bool overwrite);
void Feed_cancel(struct Feed *feed); // Stops the running export.
// Sends a request that consists of a type and a number, unless a request of
// this type is pending. A view calls Feed_ask again and again for what it
// shows: for tasks, objects or lines in the next snapshots, the single tasks of
// the group `number` (TaskGroup_key), C functions in the next stacks and
// listings, or stacks, which Feed_take_stacks returns.
int Feed_ask(struct Feed *feed, enum MessageType type, uint64_t number);
