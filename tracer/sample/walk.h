// SPDX-License-Identifier: MIT
// Follows a thread's frames from its PyThreadState down, in memory that may
// change meanwhile: every address may be wrong, every word torn. The results
// are numbers, not pointers; a user of a code address asks the registry first.
// One user at a time, any thread; the interpreter's lock is not needed.
#ifndef OCULAR_TRACER_SAMPLE_WALK_H
#define OCULAR_TRACER_SAMPLE_WALK_H

#include "tracer/sample/memory.h"

#define WALK_DEPTH 256      // frames; deeper ones are cut off
#define WALK_STATE 1024     // bytes, at most, from first to last member needed
#define WALK_FRAME_SIZE 256 // bytes, at most, of a frame's head
#define WALK_PAGE 4096      // what is mapped is at least that and aligned so
#define WALK_KNOWN 64       // pages
#define WALK_COPIES 8       // pages

// The offsets of members in this interpreter's structs; filled by python/.
struct FrameLayout {
    size_t thread_frame;  // in PyThreadState: current frame, or the cframe
    bool through_cframe;  // 3.12: thread_frame points to a struct whose
    size_t cframe_frame;  // member here is the current frame
    size_t thread_chunk;  // in PyThreadState: newest data stack chunk
    size_t thread_active; // in PyThreadState: a byte, of which these bits are
    uint8_t active_mask;  // set while it has the interpreter; 0: not known
    size_t frame_code;    // in _PyInterpreterFrame
    size_t frame_previous;
    size_t frame_instruction;
    size_t frame_owner; // in it: a byte, this or one more if C has made the
    uint8_t owned_by_c; // frame, as it does the last of a stack; 0: not known
    size_t chunk_first; // in a thread's first data stack chunk: its first frame
    // The calling thread's PyThreadState, 0: not known. Async-signal-safe;
    // NULL: nobody can tell.
    uintptr_t (*own_state)(void);
    uintptr_t code_mask;  // clears the tag bits of frame_code
    size_t code_bytecode; // in PyCodeObject: co_code_adaptive
};

// The part of a thread's state that its stack begins with.
struct WalkStart {
    uintptr_t state; // in: PyThreadState; 0: it is outside the interpreter
    uintptr_t frame;
    uintptr_t chunk;
    bool active; // it has the interpreter, as far as is known
    bool read;   // false: could not be read
};

struct WalkFrame {
    uintptr_t code; // masked; 0 and garbage are possible
    uintptr_t instruction;
};

// Pages as they were when this walk first read them.
struct WalkCopies {
    const struct Memory *memory; // borrowed
    uintptr_t from[WALK_COPIES]; // 0: none
    unsigned next;               // whose turn it is
    uint8_t pages[WALK_COPIES][WALK_PAGE];
    uint8_t straddling[WALK_STATE]; // what lies on two pages
};

struct Walk {
    // The result of the newest Walk_frames, innermost first.
    struct WalkFrame frames[WALK_DEPTH];
    unsigned depth;
    bool torn;      // ended at a frame that could not be read or cannot be, or
                    // whose caller is gone: it was popped or has yielded
    bool truncated; // ended at WALK_DEPTH

    struct FrameLayout layout;
    size_t state_from; // the part of a PyThreadState that is read
    size_t state_size;
    size_t frame_size;
    struct WalkCopies *copies;   // borrowed; NULL: in place
    uintptr_t known[WALK_KNOWN]; // in place: pages that can be read, | 1
};

// `copies`, with its memory set, for the frames of other threads; NULL for
// those of the calling thread. 0, or -EINVAL: the layout is not of this world.
int Walk_init(struct Walk *walk, const struct FrameLayout *layout,
              struct WalkCopies *copies);
// Walks one thread's frames. If another thread runs meanwhile, the result may
// be torn.
//
// In a signal's handler the frames are the calling thread's own, and are read
// in place. No thread changes them, and the result is torn only at a frame that
// is being pushed or popped. Async-signal-safe.
void Walk_frames(struct Walk *walk, struct WalkStart *start);

#endif
