// SPDX-License-Identifier: MIT
// Follows a thread's frames from its PyThreadState down, in memory that may
// change meanwhile: every address may be wrong, every word torn. What comes out
// are numbers, not pointers; whoever uses a code address asks the registry
// first. One user at a time, any thread; the interpreter's lock is not needed.
#ifndef OCULAR_TRACER_WALK_H
#define OCULAR_TRACER_WALK_H

#include "tracer/memory.h"

#define WALK_DEPTH 128      // frames; deeper ones are cut off
#define WALK_DEEP 16384     // bytes of the data stack that are read at once
#define WALK_STATE 1024     // bytes, at most, from first to last member needed
#define WALK_FRAME_SIZE 256 // bytes, at most, of a frame's head
#define WALK_CFRAMES 3      // that one thread uses in turn
#define WALK_OTHERS 6       // frames outside the newest chunk, the same
#define WALK_PAGE 4096      // what is mapped is at least that and aligned so
#define WALK_KNOWN 64       // pages
#define WALK_ABOVE 1024     // bytes by which a stack may well have grown

// Where things are in this interpreter's structs; filled by python/.
struct FrameLayout {
    size_t thread_frame;  // in PyThreadState: current frame, or the cframe
    bool through_cframe;  // 3.12: thread_frame points to a struct whose
    size_t cframe_frame;  // member here is the current frame
    size_t thread_chunk;  // in PyThreadState: newest data stack chunk
    size_t thread_top;    // in PyThreadState: first free slot in it
    size_t thread_active; // in PyThreadState: a byte, of which these bits are
    uint8_t active_mask;  // set while it has the interpreter; 0: not known
    size_t frame_code;    // in _PyInterpreterFrame
    size_t frame_previous;
    size_t frame_instruction;
    size_t frame_owner; // in it: a byte, this or one more where C has made the
    uint8_t owned_by_c; // frame, as it does the last of a stack; 0: not known
    size_t chunk_first; // in a thread's first data stack chunk: its first frame
    ptrdiff_t own_state;  // from the thread pointer to where a thread that has
                          // the interpreter finds its state; 0: not known
    uintptr_t code_mask;  // clears the tag bits of frame_code
    size_t code_bytecode; // in PyCodeObject: co_code_adaptive
};

// What a thread's state says of its stack. Zeroed but for the state before the
// first walk; then as the walk before has left it.
struct WalkStart {
    uintptr_t state; // in: PyThreadState
    bool own;        // in: it is the calling thread's
    uintptr_t frame;
    uintptr_t chunk;
    uintptr_t top;
    uintptr_t high; // of this chunk's tops
    // Of this walk and of those before, newest first.
    uintptr_t cframes[WALK_CFRAMES]; // 3.12: where frame was read
    uintptr_t others[WALK_OTHERS];   // frames outside the newest chunk
    bool active; // it has the interpreter, as far as is known
    bool read;   // false: could not be read
};

struct WalkFrame {
    uintptr_t code; // masked; 0 and garbage are possible
    uintptr_t instruction;
};

struct Walk {
    // The result of the newest Walk_frames, innermost first.
    struct WalkFrame frames[WALK_DEPTH];
    unsigned depth;
    bool torn;      // ended at a frame that could not be read or cannot be, or
                    // whose caller is gone: it was popped or has yielded
    bool truncated; // ended at WALK_DEPTH

    const struct Memory *memory; // borrowed
    struct FrameLayout layout;
    size_t state_from; // the part of a PyThreadState that is read
    size_t state_size;
    size_t frame_size;
    struct MemoryPart regions[2 + WALK_OTHERS];
    size_t region_count;
    uint8_t *page; // in `pages`, aligned
    uint8_t pages[2 * WALK_PAGE];
    bool in_place;               // of the calling thread: nothing is copied,
    uintptr_t known[WALK_KNOWN]; // and these pages can be read, | 1
    bool reached; // else: more of the data stack has been read, or it was tried
    uint8_t deep[WALK_DEEP];
    uint8_t frame[WALK_FRAME_SIZE]; // one that is in none of the regions
};

// 0, or -EINVAL: the layout is not of this world.
int Walk_init(struct Walk *walk, const struct Memory *memory,
              const struct FrameLayout *layout);
// Walks one thread's frames. One system call reads its state, the top of the
// data stack where that was before, and frames elsewhere that were there before
// (generators, entries from C); another one what is deeper, and one each of the
// others. Where the thread runs meanwhile the result may be torn.
//
// Of the calling thread, in a signal's handler, it is torn only at a frame that
// is being pushed or popped; and while the thread has the interpreter, so that
// its state is alive, frames are read where they are. Async-signal-safe.
void Walk_frames(struct Walk *walk, struct WalkStart *start);

#endif
