// SPDX-License-Identifier: MIT
// Walks over a thread's frames, beginning at its PyThreadState. The memory may
// change during the walk, so every address may be wrong and every word may be
// torn. The results are numbers and not pointers, and a user of a code address
// asks the registry first. Any thread may use a struct Walk, but only one
// thread at a time. The caller does not need the GIL.
#ifndef OCULAR_TRACER_SAMPLE_WALK_H
#define OCULAR_TRACER_SAMPLE_WALK_H

#include "tracer/sample/memory.h"

#include <stdatomic.h>

#define WALK_DEPTH 256 // number of frames; deeper frames are cut off
// largest number of bytes of a PyThreadState that are read
#define WALK_STATE 1024
#define WALK_FRAME_SIZE 256 // largest number of bytes of a frame's head
#define WALK_PAGE 4096      // bytes; alignment and smallest size of mappings
#define WALK_KNOWN 64       // number of pages that are known to be readable
#define WALK_COPIES 8       // number of pages that are copied

// The place of C code that has no frame of its own, but is a function in all
// tables. The walk adds a frame for this C code. The thread that runs the C
// code changes this struct with the GIL, and any thread may read it.
struct WalkMark {
    // The newest frame when the C code began, or the PyThreadState if the
    // thread had no frame. 0 if the C code does not run.
    _Atomic uintptr_t frame;
    // The instruction of that frame, or 0 if there is no frame. If the frame is
    // at another instruction, the C code has ended.
    _Atomic uintptr_t instruction;
    uintptr_t code; // address of the code object that stands for the C code
};

// The offsets of members in this interpreter's structs. python/ fills this
// struct.
struct FrameLayout {
    // Offset of the current frame, or of the cframe, in PyThreadState.
    size_t thread_frame;
    // True on 3.12, where thread_frame is the offset of the pointer to a
    // cframe.
    bool through_cframe;
    size_t cframe_frame; // offset of the current frame in the cframe
    // offset of the newest data stack chunk in PyThreadState
    size_t thread_chunk;
    // Offset of the byte with `active_mask` in PyThreadState.
    size_t thread_active;
    // Bits that are set while the thread holds the GIL; 0 if unknown.
    uint8_t active_mask;
    size_t frame_code; // offsets in _PyInterpreterFrame
    size_t frame_previous;
    size_t frame_instruction;
    size_t frame_owner; // offset of the owner byte in _PyInterpreterFrame
    // The owner byte, or the owner byte minus 1, of a frame that C code has
    // made. C code makes the last frame of a stack. 0 if unknown.
    uint8_t owned_by_c;
    size_t chunk_first; // offset of the first frame in a thread's first chunk
    // Returns the calling thread's PyThreadState, or 0 if this is unknown. This
    // function is async-signal-safe. The pointer is NULL if the state cannot be
    // known.
    uintptr_t (*own_state)(void);
    const struct WalkMark *mark; // borrowed; NULL if there is none
    const struct Gil *gil;       // borrowed; NULL if the GIL is unknown
    uintptr_t code_mask;  // a mask that clears the tag bits of frame_code
    size_t code_bytecode; // offset of co_code_adaptive in PyCodeObject
};

// The values of a thread's PyThreadState with which a walk begins.
struct WalkStart {
    // Input: PyThreadState, or 0 if the thread is outside the interpreter.
    uintptr_t state;
    uintptr_t frame;
    uintptr_t chunk;
    bool active; // true if the thread holds the GIL, as far as is known
    bool read;   // false if the state could not be read
};

struct WalkFrame {
    // Address of the code object without tag bits; may be 0 or garbage.
    uintptr_t code;
    uintptr_t instruction;
};

// Copies of pages. Each page is copied when the walk first reads the page.
struct WalkCopies {
    const struct Memory *memory; // borrowed
    uintptr_t from[WALK_COPIES]; // address of each page, or 0 if there is none
    unsigned next;               // index of the page that is replaced next
    uint8_t pages[WALK_COPIES][WALK_PAGE];
    uint8_t straddling[WALK_STATE]; // copy of bytes that are on two pages
};

struct Walk {
    // The result of the newest Walk_frames, innermost first.
    struct WalkFrame frames[WALK_DEPTH];
    unsigned depth;
    // True if the walk ended at a frame that could not be read, that is
    // impossible, or whose caller is gone because the frame was popped or has
    // yielded.
    bool torn;
    bool truncated; // true if the walk ended at WALK_DEPTH

    struct FrameLayout layout;
    size_t state_from; // offset of the part of a PyThreadState that is read
    size_t state_size;
    size_t frame_size;
    struct WalkCopies *copies; // borrowed; NULL if memory is read in place
    // addresses of readable pages, with bit 0 set; 0 for an unused entry
    uintptr_t known[WALK_KNOWN];
};

// For the frames of other threads, `copies` must not be NULL, and its field
// `memory` must be set. If `copies` is NULL, the walk is for the frames of the
// calling thread. Returns 0, or -EINVAL for an impossible layout.
int Walk_init(struct Walk *walk, const struct FrameLayout *layout,
              struct WalkCopies *copies);
// Walks one thread's frames. The result may be torn if the walk is for another
// thread and that thread runs during the walk.
//
// A signal handler walks over the frames of its own thread and reads the frames
// without copies. No other thread changes these frames, so the result is torn
// only if the signal came while CPython pushed or popped a frame. This function
// is async-signal-safe.
void Walk_frames(struct Walk *walk, struct WalkStart *start);

#endif
