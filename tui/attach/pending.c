// SPDX-License-Identifier: MIT
// CPython 3.12 and 3.13 do not publish where their queue of pending calls is,
// and its offset differs between patch versions. Ocular therefore searches for
// the queue before it writes. The machine code of _PyEval_AddPendingCall()
// refers to several addresses. There is a queue of pending calls at exactly one
// of the addresses in this code.
#include "tui/attach/pending.h"

#include "tui/attach/process_memory.h"
#include "tui/attach/script.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define CODE_MOST 1024
#define CALLS 24 // Offset in the queue of its array of calls.
// The text of the call is written into unused elements of the array, from this
// index on.
#define TEXT_AT 8
#define TEXT_MOST 380
// Least offset in the interpreter's state of the main thread's queue.
#define QUEUE_FROM 0x200
// Largest offset in the interpreter's state of the main thread's queue. The
// offset is 0x7e0 in 3.12.1 and 0xa68 in 3.13.15.
#define QUEUE_TO 0x4000
// Size of the main thread's queue in 3.13. All calls in it run at once.
#define MAIN_MOST 32
#define OTHERS_MOST 300 // Size of the queue for all threads.
// Maximum number of calls in the queue for all threads that run at once.
#define OTHERS_LOOP 100
#define CALLS_BIT 4 // _PY_CALLS_TO_DO_BIT
#define THREADS_MOST 1024

// Offsets in one minor version of CPython, in bytes.
struct Layout {
    // Offset in _PyRuntime of the address of the main thread's state; 0 if it
    // is not needed.
    unsigned main_thread;
    // Offset of the recursion limit in the interpreter's state.
    unsigned ceval;
    unsigned queue; // Offset in the interpreter's state.
    // Offset in the interpreter's state (3.12), or in each thread's state
    // (3.13).
    unsigned breaker;
    unsigned lock; // This and the following members are offsets in the queue.
    unsigned count;
    unsigned call_size;
    unsigned capacity;
};

static const struct Layout layouts[] = {
    [12] = {0, 0x178, 0x190, 0x170, 8, 16, 16, 32},
    [13] = {0x298, 8, 0x20, 24, 8, 12, 24, 300},
};

struct Queue {
    const struct Interpreter *interpreter;
    const struct Layout *layout;
    struct InterpreterState state;
    uint64_t address;  // Address of the queue in the process.
    uint64_t function; // Address of PyRun_SimpleString in the process.
    // Address of PyCallable_Check in the process. For the argument NULL,
    // PyCallable_Check does nothing and returns 0.
    uint64_t nothing;
    char text[TEXT_MOST];
};

static int read_at(const struct Queue *queue, uint64_t address, void *out,
                   size_t size)
{
    return ProcessMemory_read(queue->interpreter->pid, address, out, size);
}

static int write_at(const struct Queue *queue, uint64_t address,
                    const void *data, size_t size)
{
    return ProcessMemory_write(queue->interpreter->pid, address, data, size);
}

// --- Search for the queue

static int32_t number_at(const unsigned char *code)
{
    int32_t number;
    memcpy(&number, code, sizeof number);
    return number;
}

struct Code {
    unsigned char bytes[CODE_MOST];
    uint64_t address, size, runtime;
};

// Returns true if the machine code contains `address`. `address` can appear as
// an offset in _PyRuntime, as an absolute address, or relative to the end of an
// instruction.
static bool names(const struct Code *code, uint64_t address)
{
    for (size_t i = 0; i + 4 <= code->size; i++) {
        uint64_t number = (uint64_t)(int64_t)number_at(code->bytes + i);
        uint64_t target = code->address + i + 4 + number;
        if (number == address - code->runtime || number == address ||
            target == address || target + 1 == address || target + 4 == address)
            return true;
    }
    return false;
}

static int read_code(struct Code *code, const struct Interpreter *interpreter)
{
    struct Symbol add;
    if (interpreter->image.machine != EM_X86_64 ||
        Image_find(&interpreter->image, "_PyEval_AddPendingCall", &add) ||
        !add.size || add.size > sizeof code->bytes)
        return -ENOTSUP;
    code->address = add.address;
    code->size = add.size;
    code->runtime = interpreter->runtime;
    return ProcessMemory_read(interpreter->pid, add.address, code->bytes,
                              add.size);
}

static uint64_t ends_of(const struct Queue *queue)
{
    return queue->address + CALLS +
           (uint64_t)queue->layout->capacity * queue->layout->call_size;
}

// Sets *free to true if no thread holds the queue's lock. In 3.12 the lock is a
// semaphore in memory of its own, and in 3.13 it is a byte. Returns 0 or
// -ENOTSUP.
static int read_lock(const struct Queue *queue, bool *free)
{
    uint64_t at = queue->address + queue->layout->lock;
    uint64_t semaphore;
    int32_t value;
    unsigned char mutex = 0;
    int error;
    if (queue->interpreter->minor == 13) {
        error = read_at(queue, at, &mutex, 1);
        *free = mutex == 0;
        return error || mutex > 3 ? -ENOTSUP : 0;
    }
    error = read_at(queue, at, &semaphore, sizeof semaphore);
    if (!error)
        error = read_at(queue, semaphore, &value, sizeof value);
    *free = !error && value == 1;
    return error || value < 0 || value > 1 ? -ENOTSUP : 0;
}

// Returns true if the memory contains numbers that are possible for a queue.
// `all` is true for the queue for all threads, and false for the main thread's
// queue.
static bool is_queue(const struct Queue *queue, bool all)
{
    const int32_t most = all ? OTHERS_MOST : MAIN_MOST;
    const int32_t loop = all ? OTHERS_LOOP : 0;
    int32_t ends[2], count, limits[2] = {most, loop};
    int32_t capacity = (int32_t)queue->layout->capacity;
    bool free;
    return !read_at(queue, ends_of(queue), ends, sizeof ends) &&
           !read_at(queue, queue->address + queue->layout->count, &count,
                    sizeof count) &&
           (queue->interpreter->minor != 13 ||
            !read_at(queue, queue->address + 16, limits, sizeof limits)) &&
           ends[0] >= 0 && ends[0] < capacity && ends[1] >= 0 &&
           ends[1] < capacity && count >= 0 && count <= capacity &&
           limits[0] == most && limits[1] == loop && !read_lock(queue, &free);
}

// Finds the main thread's queue. Returns 0, or -ENOTSUP if there is no such
// queue or more than one.
static int find_queue(struct Queue *queue)
{
    struct Code code;
    uint64_t found = 0, runtime = queue->interpreter->runtime;
    if (read_code(&code, queue->interpreter))
        return -ENOTSUP;
    for (uint64_t at = QUEUE_FROM; at < QUEUE_TO; at += 8) {
        queue->address = runtime + at;
        if (!names(&code, queue->address) &&
            !names(&code, queue->address + queue->layout->lock) &&
            !names(&code, queue->address + queue->layout->count))
            continue;
        if (is_queue(queue, false) && found)
            return -ENOTSUP;
        if (is_queue(queue, false))
            found = queue->address;
    }
    queue->address = found;
    return found ? 0 : -ENOTSUP;
}

// Returns true if the bytes are almost certainly the state of a running
// interpreter. The state of a running interpreter has a recursion limit, and
// its GIL is in _PyRuntime.
static bool is_interpreter(const struct Queue *queue)
{
    struct {
        int32_t limit, padding;
        uint64_t lock;
        int32_t own;
    } ceval;
    const struct Interpreter *interpreter = queue->interpreter;
    uint64_t end = interpreter->runtime + interpreter->runtime_size;
    return queue->state.main > interpreter->runtime &&
           queue->state.main < end &&
           !read_at(queue, queue->state.main + queue->layout->ceval, &ceval,
                    sizeof ceval) &&
           ceval.limit > 0 && ceval.own == 1 &&
           ceval.lock > queue->state.main && ceval.lock < end;
}

// --- Calls in the queue

static uint64_t text_of(const struct Queue *queue)
{
    return queue->address + CALLS +
           (uint64_t)TEXT_AT * queue->layout->call_size;
}

static bool holds(const struct Queue *queue, uint64_t function,
                  uint64_t argument)
{
    uint64_t call[2];
    return !read_at(queue, queue->address + CALLS, call, sizeof call) &&
           call[0] == function && call[1] == argument;
}

// Returns true if the first call in the queue is a request of Ocular.
static bool holds_request(const struct Queue *queue)
{
    return holds(queue, queue->function, text_of(queue));
}

// Returns true if the first call in the queue is a request of Ocular, even a
// withdrawn one. A viewer may have been killed before it removed its withdrawn
// request.
static bool holds_ours(const struct Queue *queue)
{
    return holds_request(queue) || holds(queue, queue->nothing, 0);
}

// Returns 0 if no thread is changing the queue, and if the queue is empty or
// contains only a call of Ocular. In all other cases returns -EAGAIN or
// -ENOTSUP. The number of calls in the queue is not checked, because it is
// wrong if a viewer was killed between its two writes. (CPython changes the
// number of calls and the ends of the queue while it holds the lock.)
static int check_empty(const struct Queue *queue)
{
    int32_t ends[2];
    bool free;
    int error = read_at(queue, ends_of(queue), ends, sizeof ends);
    if (!error)
        error = read_lock(queue, &free);
    if (error)
        return error;
    if (!free)
        return -EAGAIN;
    if (ends[0] == 0 && ends[1] == 1 && holds_ours(queue))
        return 0;
    return ends[0] != ends[1] ? -EAGAIN : 0;
}

// Makes Ocular's call the first call of the empty queue, and writes the call's
// text after it.
static int put_call(const struct Queue *queue)
{
    const int32_t ends[2] = {0, 1}, count = 1;
    const struct {
        uint64_t function, argument;
        // _Py_PENDING_MAINTHREADONLY, which CPython does not read later
        uint64_t flags;
    } call = {queue->function, text_of(queue), 1};
    int error =
        write_at(queue, text_of(queue), queue->text, strlen(queue->text) + 1);
    if (!error)
        error = write_at(queue, queue->address + CALLS, &call,
                         queue->layout->call_size);
    if (!error)
        error = write_at(queue, ends_of(queue), ends, sizeof ends);
    if (!error)
        error = write_at(queue, queue->address + queue->layout->count, &count,
                         sizeof count);
    return error;
}

// --- Waking the threads

static int wake_thread(const struct Queue *queue, uint64_t thread)
{
    uint64_t at = thread + queue->layout->breaker, breaker = 0, interp;
    // The state of a thread begins with the fields prev, next and interp.
    int error = read_at(queue, thread + 16, &interp, sizeof interp);
    if (!error && interp != queue->state.main)
        error = -ENOTSUP;
    if (!error)
        error = read_at(queue, at, &breaker, sizeof breaker);
    breaker |= CALLS_BIT;
    return error ? error : write_at(queue, at, &breaker, sizeof breaker);
}

// 3.12 has one flag for all threads. 3.13 has a flag in the state of each
// thread.
static int wake(const struct Queue *queue, bool all)
{
    const int32_t one = 1;
    uint64_t thread;
    if (queue->interpreter->minor == 12)
        return write_at(queue, queue->state.main + queue->layout->breaker, &one,
                        sizeof one);
    uint64_t threads = queue->state.main + queue->state.offsets[OFFSET_THREADS];
    uint64_t first = queue->interpreter->runtime + queue->layout->main_thread;
    int error = read_at(queue, all ? threads : first, &thread, sizeof thread);
    for (int i = 0; !error && thread && i < (all ? THREADS_MOST : 1); i++) {
        error = wake_thread(queue, thread);
        if (!error)
            error = read_at(queue, thread + 8, &thread, sizeof thread);
    }
    return error;
}

// --- Request and withdrawal

static int find(struct Queue *queue, const struct Interpreter *interpreter,
                const char *script, bool all)
{
    const struct Layout *layout = &layouts[interpreter->minor];
    struct Symbol run, check;
    *queue = (struct Queue){.interpreter = interpreter, .layout = layout};
    int size = snprintf(queue->text, sizeof queue->text, SCRIPT_LINE, script);
    if (size >= (int)sizeof queue->text ||
        Image_find(&interpreter->image, "PyRun_SimpleString", &run) ||
        Image_find(&interpreter->image, "PyCallable_Check", &check) ||
        find_queue(queue))
        return -ENOTSUP;
    queue->function = run.address;
    queue->nothing = check.address;
    if (Interpreter_read_state(interpreter, &queue->state) ||
        !is_interpreter(queue))
        return -ENOTSUP;
    if (all)
        queue->address = queue->state.main + layout->queue;
    return !all || is_queue(queue, true) ? 0 : -ENOTSUP;
}

int Pending_ask(const struct Interpreter *interpreter, const char *script,
                bool all, char *why, size_t why_size)
{
    struct Queue queue;
    int error = find(&queue, interpreter, script, all);
    if (!error)
        error = check_empty(&queue);
    if (!error)
        error = put_call(&queue);
    if (!error)
        error = wake(&queue, all);
    if (error == -EAGAIN)
        snprintf(
            why, why_size,
            "process %d has other calls to make first (Py_AddPendingCall), "
            "and its main thread does not come to them: try again later",
            (int)interpreter->pid);
    else if (error)
        snprintf(
            why, why_size,
            "this build of Python 3.%u in process %d does not keep its "
            "pending calls where this Ocular knows them: start the program "
            "with `python -m ocular --serve`",
            interpreter->minor, (int)interpreter->pid);
    return error;
}

// Removes Ocular's call from the queue. If other calls follow Ocular's call,
// replaces Ocular's call by a call that does nothing.
static void withdraw(const struct Queue *queue)
{
    const uint64_t call[2] = {queue->nothing, 0};
    int32_t ends[2], none = 0;
    bool free = false;
    if (read_at(queue, ends_of(queue), ends, sizeof ends) || ends[0] != 0 ||
        ends[1] == 0 || !holds_request(queue))
        return;
    write_at(queue, queue->address + CALLS, call, sizeof call);
    if (ends[1] != 1 || read_lock(queue, &free) || !free)
        return;
    ends[1] = 0;
    write_at(queue, ends_of(queue), ends, sizeof ends);
    write_at(queue, queue->address + queue->layout->count, &none, sizeof none);
}

void Pending_withdraw(const struct Interpreter *interpreter)
{
    struct Queue queue;
    for (int all = 0; all < 2; all++) {
        if (!find(&queue, interpreter, "", all))
            withdraw(&queue);
    }
}
