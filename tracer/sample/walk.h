// SPDX-License-Identifier: MIT
// Follows a thread's frames from its PyThreadState down. The memory may change
// meanwhile, so every address may be wrong and every word may be torn. The
// results are numbers, not pointers, and a user of a code address asks the
// registry first. A Walk has one user at a time, on any thread. The GIL is not
// needed.
#ifndef OCULAR_TRACER_SAMPLE_WALK_H
#define OCULAR_TRACER_SAMPLE_WALK_H

#include "tracer/sample/memory.h"

#define WALK_DEPTH 256  // frames; deeper frames are cut off
#define WALK_STATE 1024 // most bytes from the first to the last needed member
#define WALK_FRAME_SIZE 256 // most bytes of a frame's head
#define WALK_PAGE 4096      // bytes: alignment and least size of mappings
#define WALK_KNOWN 64       // pages
#define WALK_COPIES 8       // pages

// The offsets of members in this interpreter's structs. python/ fills this
// struct.
struct FrameLayout {
    size_t thread_frame;  // in PyThreadState: current frame, or the cframe
    bool through_cframe;  // 3.12: thread_frame points to a cframe
    size_t cframe_frame;  // in the cframe: current frame
    size_t thread_chunk;  // in PyThreadState: newest data stack chunk
    size_t thread_active; // in PyThreadState: the byte with `active_mask`
    uint8_t active_mask;  // bits set while the thread holds the GIL; 0: unknown
    size_t frame_code;    // in _PyInterpreterFrame
    size_t frame_previous;
    size_t frame_instruction;
    size_t frame_owner; // in _PyInterpreterFrame: the owner byte
    // The owner byte, or the owner byte minus 1, of a frame that C has made. C
    // makes the last frame of a stack. 0: unknown.
    uint8_t owned_by_c;
    size_t chunk_first; // offset of the first frame in a thread's first chunk
    // Returns the calling thread's PyThreadState, or 0 if this is unknown. This
    // function is async-signal-safe. This pointer is NULL if no function can
    // know the state.
    uintptr_t (*own_state)(void);
    uintptr_t code_mask;  // clears the tag bits of frame_code
    size_t code_bytecode; // in PyCodeObject: co_code_adaptive
};

// The part of a thread's state where the stack begins.
struct WalkStart {
    uintptr_t state; // input: PyThreadState; 0: outside the interpreter
    uintptr_t frame;
    uintptr_t chunk;
    bool active; // the thread holds the GIL, as far as is known
    bool read;   // false: the state could not be read
};

struct WalkFrame {
    uintptr_t code; // without tag bits; may be 0 or garbage
    uintptr_t instruction;
};

// Copies of pages as they were when the walk first read them.
struct WalkCopies {
    const struct Memory *memory; // borrowed
    uintptr_t from[WALK_COPIES]; // address of each page; 0: no page
    unsigned next;               // index of the next page to be replaced
    uint8_t pages[WALK_COPIES][WALK_PAGE];
    uint8_t straddling[WALK_STATE]; // a copy of bytes on two pages
};

struct Walk {
    // The result of the newest Walk_frames, innermost first.
    struct WalkFrame frames[WALK_DEPTH];
    unsigned depth;
    // The walk ended at a frame that could not be read, that is impossible, or
    // whose caller is gone because the frame was popped or has yielded.
    bool torn;
    bool truncated; // the walk ended at WALK_DEPTH

    struct FrameLayout layout;
    size_t state_from; // offset of the part of a PyThreadState that is read
    size_t state_size;
    size_t frame_size;
    struct WalkCopies *copies; // borrowed; NULL: memory is read in place
    // addresses of readable pages, with bit 0 set; 0: none
    uintptr_t known[WALK_KNOWN];
};

// `copies`, with its memory set, is for the frames of other threads. NULL is
// for the frames of the calling thread. Returns 0, or -EINVAL for an impossible
// layout.
int Walk_init(struct Walk *walk, const struct FrameLayout *layout,
              struct WalkCopies *copies);
// Walks one thread's frames. If this thread is another one and runs meanwhile,
// the result may be torn.
//
// In a signal handler the frames are the calling thread's own and are read in
// place. No other thread changes the frames, so the result is torn only at a
// frame that is being pushed or popped. This function is async-signal-safe.
void Walk_frames(struct Walk *walk, struct WalkStart *start);

#endif
