// SPDX-License-Identifier: MIT
#include "tracer/sample/flame_names.h"
#include "tracer/base/rcu.h"
#include "tracer/sample/flame.h"

static bool name_one(struct FlameTable *table, struct FlameFunction *function,
                     struct Registry *registry)
{
    const struct Code *code;
    bool whole = true;

    Rcu_read_lock();
    code = Registry_by_id(registry, (uint32_t)function->id);
    if (code) {
        function->name = Arena_text(&table->arena, code->who.name);
        function->file = Arena_text(&table->arena, code->who.file);
        function->line = code->who.line;
        whole = function->name && function->file;
    }
    Rcu_read_unlock();
    return whole;
}

bool FlameNames_set(struct FlameTable *table, struct Registry *registry,
                    struct Native *native)
{
    struct FlameFunction *functions = Flame_list(table);
    bool whole = functions;

    for (size_t i = 0; whole && i < table->function_count; i++)
        whole = FlameNative_is(functions[i].id)
                    ? Native_describe(native, &functions[i], &table->arena)
                    : name_one(table, &functions[i], registry);
    return whole;
}
