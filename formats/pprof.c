// SPDX-License-Identifier: MIT
// A profile in pprof's protobuf format consists of samples of CPU time with
// their stacks. If the waits are known, each sample also has its wall time, and
// a wait is a sample whose CPU time is 0. Ocular uses the field numbers of
// github.com/google/pprof/proto/profile.proto.
#include "formats/pprof.h"
#include "formats/protobuf.h"

enum { // Numbers of fields, named as in profile.proto.
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING_TABLE = 6,
    PROFILE_TIME_NANOS = 9,
    PROFILE_DURATION_NANOS = 10,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14,

    VALUE_TYPE = 1,
    VALUE_UNIT = 2,

    SAMPLE_LOCATION = 1,
    SAMPLE_VALUE = 2,

    LOCATION_ID = 1,
    LOCATION_LINE = 4,

    LINE_FUNCTION = 1,
    LINE_NUMBER = 2,

    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILE = 4,
    FUNCTION_LINE = 5
};

// The string table begins with the strings of this enum. After the strings of
// this enum, the string table has two strings for each function.
enum {
    STRING_EMPTY,
    STRING_CPU,
    STRING_WALL,
    STRING_NANOSECONDS,
    STRING_COMMAND,
    STRINGS
};

static void put_value_type(struct Bytes *out, unsigned field, unsigned type)
{
    size_t from = Protobuf_open(out, field);

    Protobuf_add(out, VALUE_TYPE, type);
    Protobuf_add(out, VALUE_UNIT, STRING_NANOSECONDS);
    Protobuf_close(out, from);
}

// Writes one stack with its CPU time, or with a wait if `wait` is not NULL. The
// innermost frame comes first. A function's location has the number of the
// function plus 1. Functions that stand for waits come after all other
// functions.
static void put_sample(const struct Profile *profile, struct Bytes *out,
                       size_t row, const struct FlameWait *wait)
{
    uint32_t stack[PROFILE_DEPTH];
    size_t depth = Profile_stack(profile, row, stack), i;
    size_t from = Protobuf_open(out, PROFILE_SAMPLE);
    uint64_t ns = wait ? wait->ns : profile->rows[row].ns;

    if (wait)
        Protobuf_add(out, SAMPLE_LOCATION,
                     profile->function_count + 1 + WaitKind_of(wait->kind));
    for (i = 0; i < depth; i++)
        Protobuf_add(out, SAMPLE_LOCATION, stack[i] + 1);
    Protobuf_add(out, SAMPLE_VALUE, wait ? 0 : ns);
    if (profile->wait_count)
        Protobuf_add(out, SAMPLE_VALUE, ns);
    Protobuf_close(out, from);
}

static void put_location(const struct ProfileFunction *function,
                         struct Bytes *out, size_t number)
{
    size_t from = Protobuf_open(out, PROFILE_LOCATION), line;

    Protobuf_add(out, LOCATION_ID, number);
    line = Protobuf_open(out, LOCATION_LINE);
    Protobuf_add(out, LINE_FUNCTION, number);
    Protobuf_add(out, LINE_NUMBER, function->line);
    Protobuf_close(out, line);
    Protobuf_close(out, from);
}

static void put_function(const struct ProfileFunction *function,
                         struct Bytes *out, size_t number)
{
    size_t from = Protobuf_open(out, PROFILE_FUNCTION);
    size_t name = STRINGS + 2 * (number - 1);

    Protobuf_add(out, FUNCTION_ID, number);
    Protobuf_add(out, FUNCTION_NAME, name);
    Protobuf_add(out, FUNCTION_SYSTEM_NAME, name);
    Protobuf_add(out, FUNCTION_FILE, name + 1);
    Protobuf_add(out, FUNCTION_LINE, function->line);
    Protobuf_close(out, from);
}

static void put_strings(const struct Profile *profile, struct Bytes *out)
{
    size_t i;

    Protobuf_add_text(out, PROFILE_STRING_TABLE, "");
    Protobuf_add_text(out, PROFILE_STRING_TABLE, "cpu");
    Protobuf_add_text(out, PROFILE_STRING_TABLE, "wall");
    Protobuf_add_text(out, PROFILE_STRING_TABLE, "nanoseconds");
    Protobuf_add_text(out, PROFILE_STRING_TABLE, profile->command);
    for (i = 0; i < profile->function_count; i++) {
        const struct ProfileFunction *function = &profile->functions[i];

        Protobuf_add_text(out, PROFILE_STRING_TABLE, function->name);
        Protobuf_add_text(out, PROFILE_STRING_TABLE, function->file);
    }
    for (i = 0; profile->wait_count && i <= WAIT_UNKNOWN; i++) {
        Protobuf_add_text(out, PROFILE_STRING_TABLE,
                          Profile_wait_name((unsigned)i));
        Protobuf_add_text(out, PROFILE_STRING_TABLE, "");
    }
}

void Pprof_write(const struct Profile *profile, struct Bytes *out)
{
    static const struct ProfileFunction waits = {.line = 0};
    size_t count = profile->function_count;
    uint64_t all_ns = 0;
    size_t i;

    put_value_type(out, PROFILE_SAMPLE_TYPE, STRING_CPU);
    if (profile->wait_count)
        put_value_type(out, PROFILE_SAMPLE_TYPE, STRING_WALL);
    for (i = 0; i < profile->row_count; i++) {
        all_ns += profile->rows[i].ns;
        if (profile->rows[i].ns)
            put_sample(profile, out, i, NULL);
    }
    for (i = 0; i < profile->wait_count; i++)
        put_sample(profile, out, profile->waits[i].parent, &profile->waits[i]);
    for (i = 0; profile->wait_count && i <= WAIT_UNKNOWN; i++) {
        put_location(&waits, out, count + i + 1);
        put_function(&waits, out, count + i + 1);
    }
    for (i = 0; i < count; i++) {
        put_location(&profile->functions[i], out, i + 1);
        put_function(&profile->functions[i], out, i + 1);
    }
    put_strings(profile, out);
    Protobuf_add(out, PROFILE_TIME_NANOS, profile->start_unix_ns);
    Protobuf_add(out, PROFILE_DURATION_NANOS, profile->duration_ns);
    put_value_type(out, PROFILE_PERIOD_TYPE, STRING_CPU);
    Protobuf_add(out, PROFILE_DEFAULT_SAMPLE_TYPE, STRING_CPU);
    Protobuf_add(out, PROFILE_PERIOD,
                 profile->samples ? all_ns / profile->samples : 1);
    Protobuf_add(out, PROFILE_COMMENT, STRING_COMMAND);
}
