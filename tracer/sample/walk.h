// SPDX-License-Identifier: MIT
// struct Walk reads the frames of one thread, beginning at its PyThreadState.
// The frames may change while they are read, so every address may be wrong and
// every word may be torn. A struct Walk stores addresses as numbers and not as
// pointers. Before other code uses the address of a code object, it must ask
// the registry for it. Any thread may use a struct Walk, but only one thread at
// a time. The caller of Walk_frames does not need the GIL.
#pragma once

#include "tracer/sample/memory.h"

#include <stdatomic.h>

// Largest number of frames that a walk over a stack returns.
#define WALK_DEPTH 256
// Number of roots that a walk over a stack returns.
#define WALK_ROOTS 4
// The owner byte of a coroutine's or a generator's frame.
#define WALK_OWNED_BY_GENERATOR 1
// Largest number of bytes that are read of a PyThreadState.
#define WALK_STATE 1024
// Largest number of bytes that are read of one of CPython's frames.
#define WALK_FRAME_SIZE 256
// Largest number of frame objects that a walk over a stack reads.
#define WALK_OBJECTS 8
// Bytes of a page of memory.
#define WALK_PAGE 4096
// Number of pages that a walk over a stack remembers as readable.
#define WALK_KNOWN 64
// Number of pages of which a walk over a stack keeps copies.
#define WALK_COPIES 8

// C code that has no frame of its own but counts as a function, such as the
// garbage collector. Walk_frames adds a frame for C code with a struct
// WalkMark. The thread that runs the C code changes its struct WalkMark while
// it holds the GIL. Any thread may read the struct.
struct WalkMark {
    // Address of the newest frame when the C code began, or of the
    // PyThreadState if the thread had no frame. `frame` is 0 while the C code
    // of the struct WalkMark does not run.
    _Atomic uintptr_t frame;
    // Address of the instruction at which that frame is, or 0 if there is no
    // frame. When the frame is at another instruction, the C code has ended.
    _Atomic uintptr_t instruction;
    // Address that represents the C code as if it were a code object.
    uintptr_t code;
};

// Offsets of the members of CPython's structs in this interpreter. The code in
// python/ fills this struct.
struct FrameLayout {
    // Offset of the current frame in PyThreadState. If `through_cframe` is
    // true, offset of the pointer to the cframe.
    size_t thread_frame;
    // True on 3.12, where PyThreadState has the current frame in its cframe.
    bool through_cframe;
    size_t cframe_frame; // Offset of the current frame in the cframe.
    // Offset of the newest chunk of the data stack in PyThreadState.
    size_t thread_chunk;
    // Offset in PyThreadState of the byte that `active_mask` applies to.
    size_t thread_active;
    // Bits that are set while the thread holds the GIL, or 0 if unknown.
    uint8_t active_mask;
    // The members whose names begin with frame_ are offsets in
    // _PyInterpreterFrame.
    size_t frame_code;
    size_t frame_previous;
    size_t frame_instruction;
    size_t frame_owner; // Offset of the owner byte.
    // Offset of the pointer to the frame object, and offset in the frame object
    // of the byte that tags a call (LongCalls), or 0 if there are no tags.
    size_t frame_object, object_tag;
    // Value of the owner byte, or this value minus 1, in a frame that C code
    // has made. The outermost frame of a stack is a frame that C code has made.
    // `owned_by_c` is 0 if the value is unknown.
    uint8_t owned_by_c;
    // Offset of the first frame in the first chunk of a thread's data stack.
    size_t chunk_first;
    // Returns the calling thread's PyThreadState, or 0 if it is unknown.
    // `own_state` must be async-signal-safe. `own_state` is NULL if the
    // PyThreadState can never be known.
    uintptr_t (*own_state)(void);
    // C code that counts as a function, or NULL. Not owned.
    const struct WalkMark *mark;
    // CPython's GIL, or NULL if its layout is unknown. Not owned.
    const struct Gil *gil;
    // A mask that clears the tag bits in the pointer to a code object at
    // `frame_code`.
    uintptr_t code_mask;
    size_t code_bytecode; // Offset of co_code_adaptive in PyCodeObject.
};

// The values in a thread's PyThreadState with which a walk over its stack
// begins.
struct WalkStart {
    // Address of the PyThreadState, which the caller sets, or 0 if the thread
    // is outside the interpreter.
    uintptr_t state;
    uintptr_t frame;
    uintptr_t chunk;
    bool active; // True if the thread holds the GIL, as far as this is known.
    bool read;   // False if the PyThreadState could not be read.
};

// The frame of a coroutine or a generator that C code has resumed. The frame of
// a task's outermost coroutine is one.
struct WalkRoot {
    uintptr_t at; // Address of the frame; 0 if there are fewer roots.
    size_t frame; // Index in the frames of the stack.
};

// The innermost frame on a stack whose call is tagged (LongCalls).
struct WalkTag {
    uint16_t frame; // Index in the frames of the stack.
    // The tag, which is above 1, or 0 if no frame is tagged. 1 if the thread
    // has begun no call since its last sample.
    uint8_t value;
};

struct WalkFrame {
    // Address of the code object without tag bits. The address may be 0 or
    // wrong.
    uintptr_t code;
    uintptr_t instruction;
};

// Copies of pages of memory. Each page is copied when it is first read.
struct WalkCopies {
    const struct Memory *memory; // Borrowed.
    // Address of each page that was copied, or 0 for an unused copy.
    uintptr_t from[WALK_COPIES];
    unsigned next; // Index of the copy that the next page replaces.
    uint8_t pages[WALK_COPIES][WALK_PAGE];
    uint8_t straddling[WALK_STATE]; // A copy of bytes that lie on two pages.
};

struct Walk {
    // The frames that the newest Walk_frames has found, the innermost first.
    struct WalkFrame frames[WALK_DEPTH];
    unsigned depth;
    // True if the walk over the stack ended at a frame that could not be read
    // or is impossible. `torn` is also true if the last frame has no caller
    // because CPython has popped it or it has yielded.
    bool torn;
    // True if the stack has more than WALK_DEPTH frames.
    bool truncated;
    // The innermost roots. If there are more, the last one is the outermost.
    struct WalkRoot roots[WALK_ROOTS];
    struct WalkTag tag;

    struct FrameLayout layout;
    // Only the part of a PyThreadState from this offset on is read.
    size_t state_from;
    size_t state_size;
    size_t frame_size;
    // Copies of pages (not owned), or NULL if memory is read in place.
    struct WalkCopies *copies;
    // Addresses of pages that are known to be readable, with bit 0 set, or 0
    // for an unused entry.
    uintptr_t known[WALK_KNOWN];
};

// Prepares a struct Walk. If `copies` is NULL, Walk_frames may only read the
// frames of the calling thread. If `copies` is not NULL, Walk_frames may read
// the frames of any thread, and `copies->memory` must be set. Returns 0, or
// -EINVAL if the layout of CPython's frames is impossible.
int Walk_init(struct Walk *walk, const struct FrameLayout *layout,
              struct WalkCopies *copies);
// Walks over the frames of one thread. If the thread is not the calling thread
// and runs meanwhile, the result may be torn.
//
// A signal handler reads the frames of its own thread without copies. No other
// thread changes the frames of the signal handler's thread. The result is
// therefore torn only if the signal came while CPython pushed or popped a
// frame. Walk_frames is async-signal-safe.
void Walk_frames(struct Walk *walk, struct WalkStart *start);
// Calls Walk_frames for another thread. If that thread runs meanwhile, the walk
// is repeated a few times.
void Walk_other(struct Walk *walk, struct WalkStart *start);
