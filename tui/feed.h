// SPDX-License-Identifier: MIT
// The stream of snapshots from one traced process, live, paused or ended, and
// the requests made of it with their answers. It does not reconnect: a process
// that is gone has ended. One thread; nothing blocks but Feed_open and
// Feed_wait.
#ifndef OCULAR_TUI_FEED_H
#define OCULAR_TUI_FEED_H

#include "ipc/client.h"

#include <stdbool.h>

#define FEED_PENDING 16
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

struct FeedPending {
    uint32_t number; // 0 = free
    enum MessageType type;
    uint64_t about;
};

struct Feed {
    struct Client *client; // NULL once it has ended
    bool paused;
    bool ended;
    char reason[320]; // why it ended
    char notice[160]; // a stranger's: why there is no snapshot yet, or ""
    double rate_s;    // seconds between snapshots, as asked for
    double heard_at;  // Feed_now() of the newest message
    struct Snapshot *newest; // not yet taken; owned
    struct FeedPending pending[FEED_PENDING];
};

double Feed_now(void); // monotonic seconds

// Connects and asks for snapshots. 0, or -errno with `why` in words.
int Feed_open(struct Feed *feed, const struct Served *served, double rate_s,
              char *why, size_t why_size);
void Feed_close(struct Feed *feed);
int Feed_fd(const struct Feed *feed); // to poll, or -1

// Takes in what has arrived. 1: *answer is one to show, call again; 0: nothing
// more for now.
int Feed_next(struct Feed *feed, struct Answer *answer);
// Waits for bytes; false when none came in time or the feed has ended.
bool Feed_wait(struct Feed *feed, int timeout_ms);
// The newest snapshot, which the caller then owns; NULL if there is none that
// was not taken yet, or the feed is paused.
struct Snapshot *Feed_take(struct Feed *feed);
void Feed_pause(struct Feed *feed, bool paused);
// Is some request not answered yet?
bool Feed_is_waiting(const struct Feed *feed);

// Requests: 0 or -errno (-EPIPE: it has ended).
int Feed_rate(struct Feed *feed, double rate_s);
int Feed_rearm(struct Feed *feed, uint64_t function); // 0 = all
int Feed_budget(struct Feed *feed, double share);     // of CPU time
int Feed_export(struct Feed *feed, const char *path, bool overwrite);
int Feed_cancel(struct Feed *feed);

#endif
