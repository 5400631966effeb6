// SPDX-License-Identifier: MIT
// Tests ipc/snapshot: it compares the schema with the JSON format, and checks
// the arena.
#include "ipc/snapshot.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit.h"

// Writes the names of a table in the form "a,group{b,c},list[d,e]".
static void describe(const struct Record *record, char *out, size_t size)
{
    const char *group = NULL;
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < record->field_count; i++) {
        const struct Field *field = &record->fields[i];
        bool same = group == field->group ||
                    (group && field->group && !strcmp(group, field->group));

        used = strlen(out);
        snprintf(out + used, size - used, "%s%s%s%s%s",
                 !same && group ? "}" : "", i ? "," : "",
                 !same && field->group ? field->group : "",
                 !same && field->group ? "{" : "", field->name);
        group = field->group;
        if (field->type == FIELD_LIST) {
            used = strlen(out);
            snprintf(out + used, size - used, "[");
            describe(field->record, out + used + 1, size - used - 1);
            used = strlen(out);
            snprintf(out + used, size - used, "]");
        }
    }
    used = strlen(out);
    snprintf(out + used, size - used, "%s", group ? "}" : "");
}

// Fields of a group of tasks, at the end of an object.
#define GROUPS                                                                 \
    "[coroutine,file,line,count,growth_per_min,oldest_s,id,waits_in,"          \
    "wait_file,wait_line,wait_count,growing_s,task,chain[id,name,file,line],"  \
    "oldest_is_least,tasks[name,state,age_s,age_is_least,waits_for,"           \
    "awaited_by,chain[id,name,file,line],steps,cpu_share],cpu_share,"          \
    "steps_per_s,count_is_least]},"

TEST(test_names_and_groups_are_the_contract)
{
    char text[8192];

    describe(&SNAPSHOT_RECORD, text, sizeof(text));
    assert_string_equal(
        text,
        "schema,version,pid,command,python,mode,threshold,uptime_s,tsc_hz,"
        "events,lost,memory_bytes,"
        "overhead{measured,budget,hooks,rearm,threads},sites{armed,dark},"
        "sampler{hz,samples,unknown,elsewhere},"
        "threads[tid,name,cpu_share,wait_share,samples,cpu_s,ended,"
        "functions[id,share],"
        "gil_held_share,gil_wait_share,gil_held_s,gil_wait_s],"
        "functions_total,"
        "functions[id,name,file,line,calls,calls_exact,calls_estimated,"
        "calls_per_s,share,cpu_share,wait_share,c_share,total_share,"
        "run_share,samples,self_cycles,total_cycles,avg_cycles,min_cycles,"
        "p50_cycles,p99_cycles,waited_cycles,state,age_s,sites,dark_sites,"
        "specialized_sites,specializable_sites,callers[id,share],"
        "avg_estimated,rate_estimated,run_samples,calls_error,"
        "calls_per_s_error,resumptions,missed_per_s,"
        "wall_p50_s,wall_p99_s,wall_max_s,in_flight,oldest_s,await_s,"
        "gil_blocked_share,gil_blocked_s,"
        "raised,raised_estimated,in_flight_is_least,"
        "waits[socket,file,lock,sleep,gil,cpu,idle,other],"
        "total_parts[c,gc,socket,file,lock,sleep,gil,cpu,idle,other],"
        "latencies[sum_s,missed,buckets{0.001,0.0025,0.005,0.01,0.025,0.05,"
        "0.1,0.25,0.5,1.0,2.5,5.0,10.0,30.0,60.0,+Inf}]],"
        "transitions[seen_at_s,function,file,line,offset,from,to,storm,id,"
        "deopt],"
        "transition_pairs[from,to,count,deopt],"
        "retired[name,file,line,objects,calls,calls_exact,self_cycles,"
        "total_cycles,waited_cycles,run_share,samples,run_samples,"
        "resumptions],"
        "threads_dropped,"
        "overhead{allowed,mean},sampler{truncated,trouble},"
        "states{armed,partial,dark},"
        "sampler{window_s,window_samples,signal,lost,in_hooks,untimed},"
        "overhead{cores,cores_allowed},"
        "gc{share,generations[collections,total_s,longest_s]},"
        "filter{exclude[text],include_only[text]},"
        "gil{held,waited,longest_s,longest[id,name,file,line],"
        "held_s,waited_s},"
        "loops[thread,lag_s,steps_per_s,tid,steps,timers,late_s],"
        "stalls[at_s,seconds,thread,task,function,file,line,stack,tid,id,"
        "has_gil],stalls_total,stall_limit_s,"
        "tasks{total,groups" GROUPS
        "exceptions[type,function,file,line,id,raised,passed,error,"
        "raised_per_s,passed_per_s,age_s,first_s],"
        "exception_totals{raised,passed,control,exact},cpu{waited},"
        "tasks{awaits[id,name,file,line,sleep,queue,lock,socket,thread,task,"
        "future,loop,other],"
        "places" GROUPS
        "objects{trouble,part,types[type,function,file,line,id,born_per_s,"
        "died_per_s,net_per_s,born_error,net_error,grows,born,died]},"
        "chosen,lines[file,line,function,id,share,samples,hits,hits_exact,"
        "hits_per_s],totals_s");
}

static size_t member_size(const struct Field *field)
{
    return field->type == FIELD_LIST ? sizeof(void *) + sizeof(size_t) : 8;
}

// Checks that every byte of a struct, except its arena, belongs to exactly one
// row of the table. This check finds a member of the struct without a row, a
// row that occurs twice, and a wrong offset.
static void check_cover(const struct Record *record, size_t rest)
{
    unsigned char *seen = calloc(1, record->size);
    size_t covered = 0;

    for (size_t i = 0; i < record->field_count; i++) {
        const struct Field *field = &record->fields[i];

        covered += member_size(field);
        for (size_t b = 0; b < 8; b++)
            assert_int_equal(seen[field->offset + b]++, 0);
        if (field->type != FIELD_LIST)
            continue;
        for (size_t b = 0; b < sizeof(size_t); b++)
            assert_int_equal(seen[field->count_offset + b]++, 0);
        check_cover(field->record, 0);
    }
    assert_int_equal(covered, record->size - rest);
    free(seen);
}

TEST(test_every_member_has_one_row)
{
    // The remaining members of the struct are not sent.
    check_cover(&SNAPSHOT_RECORD,
                sizeof(struct Snapshot) - offsetof(struct Snapshot, shared));
}

// A snapshot that is renewed is like a new one. A renewed snapshot uses its old
// memory again if this memory is a single chunk.
TEST(test_a_snapshot_is_built_in_the_same_memory)
{
    struct Snapshot *snapshot = Snapshot_new();
    unsigned char *first = NULL;
    size_t bytes = 0;

    for (int round = 0; round < 4; round++) {
        assert_null(snapshot->functions);
        assert_int_equal(snapshot->function_count, 0);
        assert_int_equal(snapshot->pid, NULL_U64);
        assert_null(snapshot->command);
        for (size_t i = 0; i < 300; i++) {
            unsigned char *block = Snapshot_alloc(snapshot, 1000);

            for (size_t b = 0; b < 1000; b++)
                assert_int_equal(block[b], 0);
            memset(block, 0xee, 1000);
            if (i == 0 && round == 1)
                first = block;
            if (i == 0 && round > 1)
                assert_ptr_equal(block, first);
        }
        snapshot->pid = snapshot->function_count = 7;
        snapshot->functions = (struct Function *)first;
        snapshot->command = Snapshot_text(snapshot, "python");
        if (round > 1)
            assert_int_equal(Snapshot_bytes(snapshot), bytes);
        bytes = Snapshot_bytes(snapshot);
        assert_true(bytes >= 300000 && bytes < 1000000);
        Snapshot_renew(snapshot);
    }
    // If a snapshot has become small, it returns the memory that it no longer
    // needs.
    assert_non_null(Snapshot_alloc(snapshot, 10000));
    Snapshot_renew(snapshot);
    assert_true(Snapshot_bytes(snapshot) < 20000);
    Snapshot_renew(snapshot); // this snapshot is empty
    assert_true(Snapshot_bytes(snapshot) < 20000);
    assert_false(snapshot->arena.failed);
    assert_null(Snapshot_alloc(snapshot, SIZE_MAX / 2));
    assert_true(snapshot->arena.failed);
    Snapshot_renew(snapshot);
    assert_false(snapshot->arena.failed);
    Snapshot_free(snapshot);
}

TEST(test_too_much_is_refused)
{
    struct Snapshot *snapshot = Snapshot_new();

    assert_null(Snapshot_alloc(snapshot, SIZE_MAX));
    assert_null(Snapshot_alloc(snapshot, SIZE_MAX - 64));
    assert_non_null(Snapshot_alloc(snapshot, 1));
    Snapshot_free(snapshot);
}
