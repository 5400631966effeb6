// SPDX-License-Identifier: MIT
// Implements the list of answers to viewers. A thread encodes its answer before
// it takes the list's lock.
#include "ipc/answers.h"
#include "ipc/base/heap.h"

#include <errno.h>
#include <unistd.h>

void Answers_init(struct Answers *answers)
{
    pthread_mutex_init(&answers->lock, NULL);
    answers->first = NULL;
    answers->end = &answers->first;
}

void Answers_release(struct Answers *answers)
{
    Answer_free(answers->first);
    pthread_mutex_destroy(&answers->lock);
}

void Answers_abandon(struct Answers *answers)
{
    if (pthread_mutex_trylock(&answers->lock) == 0)
        Answer_free(answers->first);
}

void Answer_free(struct Answer *first)
{
    while (first) {
        struct Answer *next = first->next;

        if (first->file)
            Opened_close(&first->opened, first->file);
        Bytes_release(&first->bytes);
        Heap_free(first);
        first = next;
    }
}

static int encode(struct Bytes *bytes, const struct Message *message)
{
    char words[] = "the answer is too large to send";
    struct Message instead = {.type = MESSAGE_ERROR,
                              .request = message->request,
                              .number = EMSGSIZE,
                              .text = words};
    int error = Message_encode(bytes, message);

    return error == -EMSGSIZE ? Message_encode(bytes, &instead) : error;
}

int Answers_push(struct Answers *answers, uint64_t viewer,
                 const struct Message *message)
{
    struct Answer *answer = Heap_zeroed(1, sizeof(*answer));
    int error;

    if (!answer) {
        if (message->descriptor)
            close(message->descriptor);
        return -ENOMEM;
    }
    answer->viewer = viewer;
    answer->file = message->descriptor;
    if (answer->file)
        Opened_note(&answer->opened, answer->file);
    error = encode(&answer->bytes, message);
    if (error) {
        Answer_free(answer);
        return error;
    }
    pthread_mutex_lock(&answers->lock);
    *answers->end = answer;
    answers->end = &answer->next;
    pthread_mutex_unlock(&answers->lock);
    return 0;
}

struct Answer *Answers_take(struct Answers *answers)
{
    struct Answer *first;

    pthread_mutex_lock(&answers->lock);
    first = answers->first;
    answers->first = NULL;
    answers->end = &answers->first;
    pthread_mutex_unlock(&answers->lock);
    return first;
}
