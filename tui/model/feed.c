// SPDX-License-Identifier: MIT
// See feed.h.
#include "tui/model/feed.h"
#include "ipc/now.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

// So long without an answer a function's code is asked for anew.
#define LISTING_LATE_S 5.0
// So much is taken in at once; the rest waits, for keys and signals come first.
// One who sends without pause would keep them waiting for ever.
#define TAKEN_MAX 256
#define TAKING_MAX_S 0.05

double Feed_now(void)
{
    return Now_s(CLOCK_MONOTONIC);
}

int Feed_open(struct Feed *feed, const struct Served *served, double rate_s,
              char *why, size_t why_size)
{
    *feed = (struct Feed){.heard_at = Feed_now(), .pid = served->pid};
    int error = Client_open(&feed->client, served, why, why_size);
    if (error) {
        feed->client = NULL;
        return error;
    }
    Feed_rate(feed, rate_s); // a process that dies here is noticed on reading
    return 0;
}

int Feed_replay(struct Feed *feed, const char *path, bool paced, char *why,
                size_t why_size)
{
    *feed = (struct Feed){.heard_at = Feed_now(), .rate_s = 1, .speed = 1};
    return Replay_open(&feed->replay, path, paced, why, why_size);
}

void Feed_record(struct Feed *feed, struct Recording *recording)
{
    feed->recording = recording;
    if (feed->client)
        Recording_add(recording, Client_hello(feed->client), Feed_now());
}

void Feed_close(struct Feed *feed)
{
    if (feed->client && feed->export.there)
        Feed_cancel(feed); // else it would write on, to what has no name
    ExportFile_drop(&feed->export);
    if (feed->client)
        Client_close(feed->client);
    Replay_close(feed->replay);
    feed->replay = NULL;
    Snapshot_free(feed->newest);
    Listing_free(feed->listing.newest);
    feed->client = NULL;
    feed->newest = NULL;
    feed->listing.newest = NULL;
    FlameTable_free(feed->stacks);
    feed->stacks = NULL;
}

int Feed_fd(struct Feed *feed)
{
    if (feed->replay)
        return Replay_fd(feed->replay);
    return feed->client ? Client_fd(feed->client) : -1;
}

static void end(struct Feed *feed, const char *reason)
{
    snprintf(feed->reason, sizeof feed->reason, "%s", reason);
    feed->ended = true;
    if (feed->client)
        Client_close(feed->client);
    feed->client = NULL;
    ExportFile_drop(&feed->export);
    memset(feed->pending, 0, sizeof feed->pending);
    feed->listing.number = 0;
    feed->wish = (struct FeedWish){0};
}

// --- What arrives

static struct FeedPending *find(struct Feed *feed, uint32_t number)
{
    for (int i = 0; number && i < FEED_PENDING; i++)
        if (feed->pending[i].number == number)
            return &feed->pending[i];
    return NULL;
}

// The process has written all of it, or gives up.
static void finish_export(struct Feed *feed, struct Answer *answer)
{
    struct ExportFile *file = &feed->export;
    if (answer->failed) {
        ExportFile_drop(file);
        return;
    }
    answer->error = -ExportFile_commit(file, answer->bytes);
    answer->failed = answer->error != 0;
    if (answer->failed)
        snprintf(answer->text, sizeof answer->text, "%.900s: %s", file->path,
                 strerror(answer->error));
    else
        snprintf(answer->text, sizeof answer->text, "%.1000s", file->path);
}

// True when the message answers something that the user asked for.
static bool take_answer(struct Feed *feed, const struct Message *message,
                        struct Answer *answer)
{
    struct FeedPending *pending = find(feed, message->request);
    if (!pending)
        return false;
    bool failed = message->type == MESSAGE_ERROR;
    *answer = (struct Answer){.request = pending->type,
                              .about = pending->about,
                              .failed = failed,
                              .progress = message->value};
    if (failed)
        answer->error = (int)message->number;
    else
        answer->bytes = message->number;
    answer->done =
        failed || pending->type != MESSAGE_EXPORT || !(message->value < 1);
    snprintf(answer->text, sizeof answer->text, "%s",
             message->text ? message->text : "");
    if (answer->done && pending->type == MESSAGE_EXPORT)
        finish_export(feed, answer);
    if (answer->done)
        *pending = (struct FeedPending){0};
    return answer->failed || (answer->request != MESSAGE_RATE &&
                              answer->request != MESSAGE_CANCEL);
}

// Whoever asked for it, this viewer or its recording: it is the newest.
static void take_stacks(struct Feed *feed, struct Message *message)
{
    struct FeedPending *pending = find(feed, message->request);
    if (pending)
        *pending = (struct FeedPending){0};
    FlameTable_free(feed->stacks);
    feed->stacks = message->stacks;
    message->stacks = NULL;
}

static const char *why_ended(int error, bool replay)
{
    if (replay && error == -EPROTO)
        return "The recording is damaged here, and cannot be played further";
    if (replay)
        return error == -ENOMEM ? "There is no memory for what was recorded"
                                : "The recording ends here";
    if (error == -EPROTO)
        return "The process sent what is not Ocular's protocol";
    return error == -ENOMEM ? "There is no memory for what the process sent"
                            : "The process has ended";
}

// True when the message answers the newest wish for a function's code.
static bool take_listing(struct Feed *feed, struct Message *message)
{
    struct FeedListing *listing = &feed->listing;
    if (!listing->number || message->request != listing->number)
        return false;
    listing->number = 0;
    listing->error = 0;
    feed->wish.waits = false;
    if (message->type == MESSAGE_LISTING && message->listing) {
        Listing_free(listing->newest);
        listing->newest = message->listing;
        message->listing = NULL;
        return true;
    }
    listing->error = message->number ? (int)message->number : EIO;
    snprintf(listing->why, sizeof listing->why, "%s",
             message->text ? message->text : strerror(listing->error));
    return true;
}

static bool take(struct Feed *feed, struct Message *message,
                 struct Answer *answer)
{
    feed->heard_at = Feed_now();
    switch (message->type) {
    case MESSAGE_SNAPSHOT:
        if (message->snapshot) {
            Snapshot_free(feed->newest);
            feed->newest = message->snapshot;
            message->snapshot = NULL;
            feed->listing.behind = true;
        }
        return false;
    case MESSAGE_ERROR:
        if (message->request == 0) { // of the connection: nothing follows
            end(feed, message->text ? message->text : why_ended(-EPIPE, false));
            return false;
        }
        return !take_listing(feed, message) &&
               take_answer(feed, message, answer);
    case MESSAGE_LISTING:
        take_listing(feed, message);
        return false;
    case MESSAGE_REPLY:
        return take_answer(feed, message, answer);
    case MESSAGE_STACKS:
        take_stacks(feed, message);
        return false;
    case MESSAGE_NOTICE:
        snprintf(feed->notice, sizeof feed->notice, "%s",
                 message->text ? message->text : "");
        return false;
    case MESSAGE_END:
        end(feed, "The program has stopped tracing");
        return false;
    default: // a message of a later version
        return false;
    }
}

// --- What is recorded

static bool is_refused(const struct FeedListing *listing)
{
    return listing->error == ENOENT || listing->error == EOPNOTSUPP;
}

// A request for a listing. One that is late may never be answered.
static bool is_under_way(uint32_t number, double asked_at, double now)
{
    return number && now - asked_at < LISTING_LATE_S;
}

// What is recorded must be able to show every view: code is asked for in turn.
static void record(struct Feed *feed, const struct Message *message)
{
    struct FeedWish *wish = &feed->wish;
    Recording_add(feed->recording, message, feed->heard_at);
    if (wish->number && message->request == wish->number)
        *wish = (struct FeedWish){0};
    if (message->type != MESSAGE_SNAPSHOT || !message->snapshot ||
        feed->recording->error)
        return;
    Client_request(feed->client, &(struct Message){.type = MESSAGE_FLAME});
    if (!is_under_way(wish->number, wish->asked_at, feed->heard_at) &&
        (!wish->id || wish->number))
        *wish = (struct FeedWish){.id = Recording_wish(feed->recording,
                                                       message->snapshot,
                                                       feed->heard_at)};
    wish->waits = feed->listing.looked_at && !is_refused(&feed->listing);
    feed->listing.looked_at = false;
}

// A process has one such request of a viewer under way: another takes its
// place, without an answer. So the user and the recording take turns, the user
// first.
static void ask_wish(struct Feed *feed)
{
    struct FeedWish *wish = &feed->wish;
    const struct FeedListing *listing = &feed->listing;
    struct Message ask = {.type = MESSAGE_DETAIL, .number = wish->id};
    double now = Feed_now();
    if (!feed->client || !wish->id || wish->number || wish->waits ||
        is_under_way(listing->number, listing->asked_at, now) ||
        Client_request(feed->client, &ask))
        return;
    wish->number = ask.request;
    wish->asked_at = now;
}

// --- Taking it in

static int receive(struct Feed *feed, struct Message *message)
{
    if (feed->replay)
        return Replay_next(feed->replay, message);
    int result = Client_next(feed->client, message);
    if (result > 0 && feed->recording) {
        feed->heard_at = Feed_now();
        record(feed, message);
    }
    return result;
}

// Of messages that a process has sent since there was nothing more. A recording
// is taken by number alone: it ends, and what is due of it does not depend on
// the machine's speed.
static bool is_enough(const struct Feed *feed)
{
    return feed->taken >= TAKEN_MAX ||
           (feed->taken && feed->client &&
            Feed_now() - feed->taking_since >= TAKING_MAX_S);
}

static int take_all(struct Feed *feed, struct Answer *answer)
{
    struct Message message = {0};
    while (feed->client || feed->replay) {
        feed->more = is_enough(feed);
        if (feed->more)
            return 0;
        if (!feed->taken++)
            feed->taking_since = Feed_now();
        int result = receive(feed, &message);
        if (result == 0 || (result < 0 && feed->ended))
            return 0;
        if (result < 0) {
            end(feed, why_ended(result, feed->replay));
            return 0;
        }
        bool shown = take(feed, &message, answer);
        Message_release(&message);
        if (shown)
            return 1;
    }
    return 0;
}

int Feed_next(struct Feed *feed, struct Answer *answer)
{
    feed->more = false;
    if (take_all(feed, answer))
        return 1;
    feed->taken = 0;
    ask_wish(feed);
    return 0;
}

bool Feed_has_more(const struct Feed *feed)
{
    return feed->more;
}

bool Feed_wait(struct Feed *feed, int timeout_ms)
{
    struct pollfd waiting = {.fd = Feed_fd(feed), .events = POLLIN};
    if (feed->more)
        return true;
    return waiting.fd >= 0 && poll(&waiting, 1, timeout_ms) > 0;
}

struct Snapshot *Feed_take(struct Feed *feed)
{
    struct Snapshot *snapshot = feed->newest;
    if (feed->paused)
        return NULL;
    feed->newest = NULL;
    return snapshot;
}

struct FlameTable *Feed_take_stacks(struct Feed *feed)
{
    struct FlameTable *stacks = feed->stacks;
    if (feed->paused && !feed->replay)
        return NULL;
    feed->stacks = NULL;
    return stacks;
}

void Feed_step(struct Feed *feed)
{
    if (feed->replay)
        Replay_step(feed->replay);
}

void Feed_speed(struct Feed *feed, double speed)
{
    feed->speed = speed;
    Replay_speed(feed->replay, speed);
}

void Feed_pause(struct Feed *feed, bool paused)
{
    feed->paused = paused;
    if (feed->replay)
        Replay_pause(feed->replay, paused);
}

bool Feed_is_waiting(const struct Feed *feed)
{
    for (int i = 0; i < FEED_PENDING; i++)
        if (feed->pending[i].number && feed->pending[i].type != MESSAGE_RATE &&
            feed->pending[i].type != MESSAGE_CANCEL)
            return true;
    return feed->listing.number != 0;
}

// --- Requests

static int request(struct Feed *feed, struct Message *message)
{
    if (!feed->client && !feed->replay)
        return -EPIPE;
    int error = feed->replay ? Replay_request(feed->replay, message)
                             : Client_request(feed->client, message);
    if (error)
        return error;
    // When all are taken an old one makes room: nobody will answer it any more.
    // An export may take its time, and there is one at most.
    struct FeedPending *place = &feed->pending[0];
    if (place->type == MESSAGE_EXPORT)
        place++;
    for (int i = 0; i < FEED_PENDING; i++)
        if (!feed->pending[i].number) {
            place = &feed->pending[i];
            break;
        }
    *place = (struct FeedPending){.number = message->request,
                                  .type = message->type,
                                  .about = message->number};
    return 0;
}

int Feed_rate(struct Feed *feed, double rate_s)
{
    struct Message message = {.type = MESSAGE_RATE};
    feed->rate_s = fmin(fmax(rate_s, FEED_RATE_MIN), FEED_RATE_MAX);
    message.value = feed->rate_s;
    return request(feed, &message);
}

int Feed_rearm(struct Feed *feed, uint64_t function)
{
    struct Message message = {.type = MESSAGE_REARM, .number = function};
    return request(feed, &message);
}

int Feed_budget(struct Feed *feed, double share)
{
    struct Message message = {.type = MESSAGE_BUDGET, .value = share};
    return request(feed, &message);
}

int Feed_export(struct Feed *feed, const char *path, bool overwrite)
{
    struct ExportFile *file = &feed->export;
    struct Message message = {.type = MESSAGE_EXPORT};
    int error;
    if (!feed->client)
        return request(feed, &message); // says why not
    if (file->there)
        return -EBUSY;
    error = ExportFile_open(file, feed->pid, path, overwrite);
    if (error)
        return error;
    message.text = file->path;
    message.descriptor = file->fd;
    error = request(feed, &message);
    if (error)
        ExportFile_drop(file);
    return error;
}

int Feed_cancel(struct Feed *feed)
{
    struct Message message = {.type = MESSAGE_CANCEL};
    return request(feed, &message);
}

// --- One function's code

// Is it time to ask again? Of what is refused for good nobody asks.
static bool is_listing_due(const struct Feed *feed, double now)
{
    const struct FeedListing *listing = &feed->listing;
    const struct FeedWish *wish = &feed->wish;
    if (!listing->id || (!feed->client && !feed->replay))
        return false;
    if (!listing->asked_at)
        return true;
    if (listing->number)
        return !is_under_way(listing->number, listing->asked_at, now);
    return listing->behind && !feed->paused && !is_refused(listing) &&
           !is_under_way(wish->number, wish->asked_at, now); // whose turn it is
}

void Feed_want_listing(struct Feed *feed, uint64_t function)
{
    struct FeedListing *listing = &feed->listing;
    struct Message message = {.type = MESSAGE_DETAIL, .number = function};
    double now = Feed_now();
    if (listing->id != function) {
        Listing_free(listing->newest);
        *listing = (struct FeedListing){.id = function};
    }
    listing->looked_at = function != 0;
    if (!is_listing_due(feed, now))
        return;
    if (feed->replay ? Replay_request(feed->replay, &message)
                     : Client_request(feed->client, &message))
        return;
    listing->number = message.request;
    listing->asked_at = now;
    listing->behind = false;
    feed->wish.number = 0; // which this has removed: it comes after
    feed->wish.waits = true;
}

struct Listing *Feed_take_listing(struct Feed *feed)
{
    struct Listing *listing = feed->listing.newest;
    feed->listing.newest = NULL;
    return listing;
}

bool Feed_has_listing(const struct Feed *feed)
{
    return feed->listing.newest != NULL;
}

int Feed_flame(struct Feed *feed)
{
    struct Message message = {.type = MESSAGE_FLAME};
    for (int i = 0; i < FEED_PENDING; i++)
        if (feed->pending[i].number && feed->pending[i].type == MESSAGE_FLAME)
            return 0;
    return request(feed, &message);
}
