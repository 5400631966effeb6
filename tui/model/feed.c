// SPDX-License-Identifier: MIT
#include "tui/model/feed.h"
#include "ipc/base/now.h"
#include "ipc/file_kind.h"
#include "tui/model/place.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// One call of Feed_next takes TAKEN_MAX messages or TAKING_MAX_S seconds at
// most. Further messages wait, because a process that sends without a pause
// must not delay keys and signals.
#define TAKEN_MAX 256
#define TAKING_MAX_S 0.05

static int request(struct Feed *feed, struct Message *message);

double Feed_now(void)
{
    return Now_s(CLOCK_MONOTONIC);
}

int Feed_open(struct Feed *feed, const struct Served *served, double rate_s,
              char *why, size_t why_size)
{
    *feed = (struct Feed){.heard_at = Feed_now(), .pid = served->pid};
    int error = Client_open(&feed->link.client, served, why, why_size);
    if (error) {
        feed->link.client = NULL;
        return error;
    }
    // If the process has ended, the next read reports the end.
    Feed_rate(feed, rate_s);
    return 0;
}

int Feed_open_fleet(struct Feed *feed, pid_t master, double rate_s, char *why,
                    size_t why_size)
{
    *feed = (struct Feed){.heard_at = Feed_now(), .pid = master};
    int error = Fleet_open(&feed->link.fleet, master, rate_s, why, why_size);
    return error ? error : Feed_rate(feed, rate_s);
}

int Feed_replay(struct Feed *feed, const char *path, bool paced, char *why,
                size_t why_size)
{
    *feed = (struct Feed){.heard_at = Feed_now(), .rate_s = 1, .speed = 1};
    return Playback_open(&feed->link.replay, path, paced, why, why_size);
}

int Feed_open_past(struct Feed *feed, const struct PastRequest *request,
                   char *why, size_t why_size)
{
    *feed = (struct Feed){.heard_at = Feed_now(), .rate_s = 1, .speed = 1};
    return PastRun_open(&feed->link.past, request, why, why_size);
}

int Feed_stretch(struct Feed *feed, struct SummaryStretch stretch)
{
    struct Message message = {.type = MESSAGE_NOW};
    struct SummaryStretch all, shown;
    if (!PastRun_stretches(feed->link.past, &all, &shown))
        return -EBUSY;
    PastRun_set(feed->link.past, stretch);
    return request(feed, &message);
}

void Feed_record(struct Feed *feed, struct Capture *recording)
{
    feed->recording = recording;
    if (feed->link.client)
        Capture_add(recording, Client_hello(feed->link.client), Feed_now());
}

void Feed_close(struct Feed *feed)
{
    Converter_free(feed->converter);
    feed->converter = NULL;
    ExportFile_drop(&feed->export);
    FeedLink_close(&feed->link);
    Snapshot_free(feed->newest);
    feed->newest = NULL;
    FeedListing_release(&feed->listing);
    FlameTable_free(feed->stacks);
    feed->stacks = NULL;
    NativeNames_release(&feed->names);
}

int Feed_fd(struct Feed *feed)
{
    return feed->converter ? Converter_fd(feed->converter)
                           : FeedLink_fd(&feed->link);
}

bool Feed_is_past(const struct Feed *feed)
{
    return feed->link.past != NULL;
}

bool Feed_is_shown(const struct Feed *feed)
{
    struct SummaryStretch all, shown;
    return Feed_is_past(feed) &&
           PastRun_stretches(feed->link.past, &all, &shown);
}

bool Feed_is_replay(const struct Feed *feed)
{
    return feed->link.replay || feed->link.past;
}

static void end(struct Feed *feed, const char *reason)
{
    snprintf(feed->reason, sizeof feed->reason, "%s", reason);
    feed->ended = true;
    FeedLink_hang_up(&feed->link);
    if (!feed->converter)
        ExportFile_drop(&feed->export);
    Pending_end(&feed->pending, feed->converter);
    FeedListing_end(&feed->listing);
}

// --- What arrives

// If the export is complete, gives its file the final name. If the export has
// failed, removes the file.
static void finish_export(struct Feed *feed, struct Answer *answer)
{
    struct ExportFile *file = &feed->export;
    if (answer->failed) {
        ExportFile_drop(file);
        return;
    }
    snprintf(answer->lack, sizeof answer->lack, "%.199s", answer->text);
    answer->error = -ExportFile_commit(file, answer->bytes);
    answer->failed = answer->error != 0;
    if (answer->failed)
        snprintf(answer->text, sizeof answer->text, "%.900s: %s", file->path,
                 strerror(answer->error));
    else
        snprintf(answer->text, sizeof answer->text, "%.1000s", file->path);
}

// Returns true if the message is the answer to a request of the user.
static bool take_answer(struct Feed *feed, const struct Message *message,
                        struct Answer *answer)
{
    struct PendingRequest *pending =
        Pending_find(&feed->pending, message->request);
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
        failed || pending->type != MESSAGE_HANDOUT || !(message->value < 1);
    snprintf(answer->text, sizeof answer->text, "%s",
             message->text ? message->text : "");
    if (answer->done && pending->type == MESSAGE_HANDOUT)
        finish_export(feed, answer);
    if (answer->done)
        *pending = (struct PendingRequest){0};
    return answer->failed || answer->request != MESSAGE_RATE;
}

// Starts to write the file of an export. If the export cannot start, returns
// true and sets *answer to the reason.
static bool take_recording(struct Feed *feed, const struct Message *message,
                           struct Answer *answer)
{
    struct PendingRequest *pending =
        Pending_find(&feed->pending, message->request);
    if (!pending || pending->type != MESSAGE_HANDOUT || feed->converter)
        return false;
    struct ConverterRequest request = {message, feed->asked_s, &feed->export,
                                       message->request,
                                       FeedLink_fd(&feed->link)};
    int error = message->descriptor
                    ? Converter_start(&feed->converter, &request)
                    : -EACCES;
    if (!error)
        return false;
    struct Message failed = {
        .type = MESSAGE_ERROR,
        .request = message->request,
        .number = (uint64_t)-error,
        .text = message->descriptor
                    ? strerror(-error)
                    : "the recording of the process did not arrive, perhaps "
                      "because a security policy forbids it; a recording of "
                      "the whole run needs only `ocular convert`"};
    return take_answer(feed, &failed, answer);
}

// Takes the next message of the converter, or makes the answer to a cancelled
// export. Returns true if *answer is to be shown.
static bool take_converted(struct Feed *feed, struct Answer *answer)
{
    struct Message message = {.type = MESSAGE_ERROR,
                              .request = feed->asked,
                              .number = ECANCELED,
                              .text = "export cancelled"};
    if (!feed->converter && feed->cancelled && feed->export.there)
        return take_answer(feed, &message, answer);
    if (!feed->converter || !Converter_next(feed->converter, &message))
        return false;
    bool shown = take_answer(feed, &message, answer);
    Message_release(&message);
    if (!feed->export.there) {
        Converter_free(feed->converter);
        feed->converter = NULL;
    }
    return shown;
}

// Keeps the newest stacks, which either the view or the recorder has requested.
static void take_stacks(struct Feed *feed, struct Message *message)
{
    struct PendingRequest *pending =
        Pending_find(&feed->pending, message->request);
    if (pending)
        *pending = (struct PendingRequest){0};
    FlameTable_free(feed->stacks);
    feed->stacks = message->stacks;
    message->stacks = NULL;
}

static const char *why_ended(const struct Feed *feed, int error)
{
    bool replay = Feed_is_replay(feed);
    if (Feed_is_past(feed) && error != -EPIPE)
        return PastRun_note(feed->link.past);
    if (replay && error == -EPROTO)
        return "The recording is damaged here, and cannot be played further";
    if (replay)
        return error == -ENOMEM ? "There is no memory for the recording"
                                : "The recording ends here";
    if (error == -EPROTO)
        return "The process sent a message that is not of Ocular's protocol";
    if (error == -ENOMEM)
        return "There is no memory for the message";
    return feed->link.fleet ? "The processes have ended"
                            : "The process has ended";
}

// Returns true if the process sends an answer about an export that the viewer
// is already writing.
static bool is_late(const struct Feed *feed, const struct Message *message)
{
    return feed->converter && message->request == feed->asked;
}

// Reads the names of C functions from their files, because the process does not
// send them.
static void name_natives(struct Feed *feed, struct Message *message)
{
    feed->names.pid = feed->pid;
    feed->names.open = Feed_is_replay(feed) ? NULL : Place_open;
    if (message->stacks)
        NativeNames_set(&feed->names, message->stacks);
    if (message->listing)
        NativeNames_set_listing(&feed->names, message->listing);
}

static bool take(struct Feed *feed, struct Message *message,
                 struct Answer *answer)
{
    feed->heard_at = Feed_now();
    name_natives(feed, message);
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
        // An ERROR without a request number ends the connection.
        if (message->request == 0) {
            end(feed, message->text ? message->text : why_ended(feed, -EPIPE));
            return false;
        }
        return !FeedListing_take(&feed->listing, message) &&
               !is_late(feed, message) && take_answer(feed, message, answer);
    case MESSAGE_LISTING:
        FeedListing_take(&feed->listing, message);
        return false;
    case MESSAGE_REPLY:
        return !is_late(feed, message) && take_answer(feed, message, answer);
    case MESSAGE_RECORDING:
        return take_recording(feed, message, answer);
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
    default: // A message of a later version of Ocular.
        return false;
    }
}

// --- Taking it in

// Records a message. Requests stacks, tasks and code from time to time, because
// a replay must be able to show every view.
static void record(struct Feed *feed, const struct Message *message)
{
    struct Message ask = {.type = MESSAGE_FLAME};
    struct Message tasks = {.type = MESSAGE_TASKS};
    Capture_add(feed->recording, message, feed->heard_at);
    if (message->type == MESSAGE_SNAPSHOT && message->snapshot &&
        !feed->recording->error) {
        Client_request(feed->link.client, &ask);
        Client_request(feed->link.client, &tasks);
    }
    FeedListing_recorded(&feed->listing, feed->recording, message,
                         feed->heard_at);
}

static int receive(struct Feed *feed, struct Message *message)
{
    int result = FeedLink_next(&feed->link, message);
    if (result > 0 && feed->recording) {
        feed->heard_at = Feed_now();
        record(feed, message);
    }
    return result;
}

// Returns true if this call of Feed_next has taken enough messages. For a
// recording only the number of messages counts, so that the result does not
// depend on the machine's speed.
static bool is_enough(const struct Feed *feed)
{
    return feed->taken >= TAKEN_MAX ||
           (feed->taken && !Feed_is_replay(feed) &&
            Feed_now() - feed->taking_since >= TAKING_MAX_S);
}

static int take_all(struct Feed *feed, struct Answer *answer)
{
    struct Message message = {0};
    while (FeedLink_answers(&feed->link)) {
        feed->more = is_enough(feed);
        if (feed->more)
            return 0;
        if (!feed->taken++)
            feed->taking_since = Feed_now();
        int result = receive(feed, &message);
        if (result == 0 || (result < 0 && feed->ended))
            return 0;
        if (result < 0) {
            end(feed, why_ended(feed, result));
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
    if (take_converted(feed, answer) || take_all(feed, answer))
        return 1;
    feed->taken = 0;
    FeedListing_ask_recorded(&feed->listing, &feed->link, Feed_now());
    return 0;
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
    if (feed->paused && !Feed_is_replay(feed))
        return NULL;
    feed->stacks = NULL;
    return stacks;
}

bool Feed_has_all_stacks(const struct Feed *feed)
{
    return !feed->link.fleet || Fleet_has_all_stacks(feed->link.fleet);
}

void Feed_step(struct Feed *feed)
{
    if (feed->link.replay)
        Playback_step(feed->link.replay);
}

void Feed_speed(struct Feed *feed, double speed)
{
    feed->speed = speed;
    if (feed->link.replay)
        Playback_speed(feed->link.replay, speed);
}

void Feed_pause(struct Feed *feed, bool paused)
{
    feed->paused = paused;
    if (feed->link.replay)
        Playback_pause(feed->link.replay, paused);
}

// --- Requests

static int request(struct Feed *feed, struct Message *message)
{
    int error = FeedLink_request(&feed->link, message);
    if (!error)
        Pending_add(&feed->pending, message);
    return error;
}

bool Feed_is_waiting(const struct Feed *feed)
{
    return feed->listing.number || Pending_is_awaited(&feed->pending);
}

bool Feed_is_exporting(const struct Feed *feed)
{
    return Pending_has(&feed->pending, MESSAGE_HANDOUT);
}

int Feed_ask(struct Feed *feed, enum MessageType type, uint64_t number)
{
    struct Message message = {.type = type, .number = number};
    return Pending_has(&feed->pending, type) ? 0 : request(feed, &message);
}

int Feed_rate(struct Feed *feed, double rate_s)
{
    struct Message message = {.type = MESSAGE_RATE};
    feed->rate_s = fmin(fmax(rate_s, FEED_RATE_MIN), FEED_RATE_MAX);
    message.value = feed->rate_s;
    return request(feed, &message);
}

int Feed_refresh(struct Feed *feed)
{
    struct Message message = {.type = MESSAGE_NOW};
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
    struct Message message = {.type = MESSAGE_HANDOUT};
    int error;
    if (!feed->link.client)
        // The result of request() is the reason if it fails.
        return request(feed, &message);
    if (file->there)
        return -EBUSY;
    if (FileKind_of(path).content == FILE_RECORDING)
        return -EOPNOTSUPP;
    error = ExportFile_open(file, feed->pid, path, overwrite);
    if (error)
        return error;
    message.number =
        FileKind_is_profile(path) ? HANDOUT_STACKS : HANDOUT_TIMELINE;
    feed->asked_s = Feed_now();
    feed->cancelled = false;
    error = request(feed, &message);
    if (error)
        ExportFile_drop(file);
    feed->asked = message.request;
    return error;
}

void Feed_cancel(struct Feed *feed)
{
    feed->cancelled = true;
    if (feed->converter)
        Converter_cancel(feed->converter);
}

// --- One function's code

void Feed_want_listing(struct Feed *feed, uint64_t function)
{
    FeedListing_want(&feed->listing, &feed->link, function, feed->paused,
                     Feed_now());
}

struct Listing *Feed_take_listing(struct Feed *feed)
{
    struct Listing *listing = feed->listing.newest;
    feed->listing.newest = NULL;
    return listing;
}
