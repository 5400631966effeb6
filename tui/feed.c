// SPDX-License-Identifier: MIT
// See feed.h.
#include "tui/feed.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

double Feed_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int Feed_open(struct Feed *feed, const struct Served *served, double rate_s,
              char *why, size_t why_size)
{
    *feed = (struct Feed){.heard_at = Feed_now()};
    int error = Client_open(&feed->client, served, why, why_size);
    if (error) {
        feed->client = NULL;
        return error;
    }
    Feed_rate(feed, rate_s); // a process that dies here is noticed on reading
    return 0;
}

void Feed_close(struct Feed *feed)
{
    if (feed->client)
        Client_close(feed->client);
    Snapshot_free(feed->newest);
    feed->client = NULL;
    feed->newest = NULL;
}

int Feed_fd(const struct Feed *feed)
{
    return feed->client ? Client_fd(feed->client) : -1;
}

static void end(struct Feed *feed, const char *reason)
{
    snprintf(feed->reason, sizeof feed->reason, "%s", reason);
    feed->ended = true;
    if (feed->client)
        Client_close(feed->client);
    feed->client = NULL;
    memset(feed->pending, 0, sizeof feed->pending);
}

// --- What arrives

static struct FeedPending *find(struct Feed *feed, uint32_t number)
{
    for (int i = 0; number && i < FEED_PENDING; i++)
        if (feed->pending[i].number == number)
            return &feed->pending[i];
    return NULL;
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
    if (answer->done)
        *pending = (struct FeedPending){0};
    return failed || (answer->request != MESSAGE_RATE &&
                      answer->request != MESSAGE_CANCEL);
}

static const char *why_ended(int error)
{
    if (error == -EPROTO)
        return "The process sent what is not Ocular's protocol";
    return error == -ENOMEM ? "There is no memory for what the process sent"
                            : "The process has ended";
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
        }
        return false;
    case MESSAGE_ERROR:
        if (message->request == 0) { // of the connection: nothing follows
            end(feed, message->text ? message->text : why_ended(-EPIPE));
            return false;
        }
        return take_answer(feed, message, answer);
    case MESSAGE_REPLY:
        return take_answer(feed, message, answer);
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

int Feed_next(struct Feed *feed, struct Answer *answer)
{
    struct Message message = {0};
    while (feed->client) {
        int result = Client_next(feed->client, &message);
        if (result == 0)
            return 0;
        if (result < 0) {
            end(feed, why_ended(result));
            return 0;
        }
        bool shown = take(feed, &message, answer);
        Message_release(&message);
        if (shown)
            return 1;
    }
    return 0;
}

bool Feed_wait(struct Feed *feed, int timeout_ms)
{
    struct pollfd waiting = {.fd = Feed_fd(feed), .events = POLLIN};
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

void Feed_pause(struct Feed *feed, bool paused)
{
    feed->paused = paused;
}

bool Feed_is_waiting(const struct Feed *feed)
{
    for (int i = 0; i < FEED_PENDING; i++)
        if (feed->pending[i].number && feed->pending[i].type != MESSAGE_RATE &&
            feed->pending[i].type != MESSAGE_CANCEL)
            return true;
    return false;
}

// --- Requests

static int request(struct Feed *feed, struct Message *message)
{
    if (!feed->client)
        return -EPIPE;
    int error = Client_request(feed->client, message);
    if (error)
        return error;
    // When all are taken the oldest makes room: nobody will answer it any more.
    struct FeedPending *place = &feed->pending[0];
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
    struct Message message = {.type = MESSAGE_EXPORT,
                              .number = overwrite,
                              .text = (char *)(uintptr_t)path};
    return request(feed, &message);
}

int Feed_cancel(struct Feed *feed)
{
    struct Message message = {.type = MESSAGE_CANCEL};
    return request(feed, &message);
}
