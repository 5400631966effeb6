// SPDX-License-Identifier: MIT
// Lists the numbers of the protobuf fields that pftrace*.c write, for each
// message. Perfetto defines the numbers of fields (protos/perfetto/trace in
// Perfetto's sources), and they never change.
#pragma once

#include "formats/replay.h"

enum { TRACE_PACKET = 1 };
enum {
    PACKET_CLOCKS = 6,
    PACKET_TIME = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_CLOCK = 58,
    PACKET_SAMPLE = 66,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK = 60
};
enum { FLAG_STATE_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { CLOCKS_CLOCK = 1, CLOCKS_PRIMARY = 2 };
enum { CLOCK_ID = 1, CLOCK_TIME = 2, CLOCK_IS_INCREMENTAL = 3 };
enum { DEFAULTS_CLOCK = 58, DEFAULTS_EVENT = 11 };
enum {
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8
};
// Field of the descriptors of processes and threads.
enum { DESCRIPTOR_PID = 1 };
enum { PROCESS_NAME = 6 };
enum { THREAD_TID = 2, THREAD_SORT = 3, THREAD_NAME = 5 };
enum {
    TRACK_EVENT_CATEGORY_IID = 3,
    TRACK_EVENT_NOTE = 4,
    TRACK_EVENT_TYPE = 9,
    TRACK_EVENT_NAME_IID = 10,
    TRACK_EVENT_TRACK = 11,
    TRACK_EVENT_CATEGORY = 22,
    TRACK_EVENT_NAME = 23,
    TRACK_EVENT_PLACE_IID = 34,
    TRACK_EVENT_REAL = 44,
    TRACK_EVENT_FLOW = 47
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum { COUNTER_UNIT = 6 };
// Samples have the form of perf's samples, so these fields have perf's names.
enum { SAMPLE_PID = 2, SAMPLE_TID = 3, SAMPLE_STACK = 4, SAMPLE_MODE = 5 };
enum { MODE_USER = 2 };
enum { FRAME_NAME = 2, FRAME_MAPPING = 3, FRAME_PC = 4 };
enum { STACK_FRAME = 2 };
enum { MAPPING_PATH = 7 };
enum {
    NOTE_NAME_IID = 1,
    NOTE_BOOL = 2,
    NOTE_NUMBER = 3,
    NOTE_INT = 4,
    NOTE_REAL = 5,
    NOTE_TEXT = 6,
    NOTE_POINTER = 7,
    NOTE_JSON = 9,
    NOTE_NAME = 10,
    NOTE_TEXT_IID = 17
};
enum {
    INTERNED_CATEGORY = 1,
    INTERNED_NAME = 2,
    INTERNED_NOTE = 3,
    INTERNED_PLACE = 4,
    INTERNED_FUNCTION = 5,
    INTERNED_FRAME = 6,
    INTERNED_STACK = 7,
    INTERNED_PATH = 17,
    INTERNED_MAPPING = 19,
    INTERNED_TEXT = 29
};
enum { IID = 1, IID_NAME = 2, PLACE_FUNCTION = 3, PLACE_LINE = 4 };

// Perfetto gives each clock a number. The 64 clocks of a sequence of packets
// have numbers from 64 on.
enum { CLOCK_REAL = 1, CLOCK_BOOT = 6, CLOCK_OURS = 64, CLOCKS_OURS = 64 };

// The names of the categories are written into every sequence of packets.
// Ocular defines the numbers of its categories. The words of Trace_end_word
// have numbers from NAME_END on, and the words of Trace_begin_word from
// NAME_BEGIN on.
enum { CATEGORY_OCULAR = 1, CATEGORY_STEP };
// Number of the first text of an instant. The number of an instant's text is
// TEXT_INSTANT plus the kind of the event.
enum { TEXT_INSTANT = 1 };
enum {
    NAME_CYCLES = 1,
    NAME_UOPS,
    NAME_CODE,
    NAME_EVENTS,
    NAME_NOTE,
    NAME_NS,
    NAME_END,
    NAME_BEGIN = NAME_END + CALL_PARKED + 1
};
