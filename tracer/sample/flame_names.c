// SPDX-License-Identifier: MIT
#include "tracer/sample/flame_names.h"
#include "tracer/base/rcu.h"
#include "tracer/sample/flame.h"

static void name_one(struct FlameTable *table, struct FlameFunction *function,
                     struct Registry *registry)
{
    const struct Code *code;

    Rcu_read_lock();
    code = Registry_by_id(registry, (uint32_t)function->id);
    if (code) {
        function->name = Arena_text(&table->arena, code->who.name);
        function->file = Arena_text(&table->arena, code->who.file);
        function->line = code->who.line;
    }
    Rcu_read_unlock();
}

void FlameNames_set(struct FlameTable *table, struct Registry *registry,
                    struct Native *native)
{
    struct FlameFunction *functions = Flame_list(table);

    for (size_t i = 0; functions && i < table->function_count; i++)
        if (FlameNative_is(functions[i].id))
            Native_describe(native, &functions[i], &table->arena);
        else
            name_one(table, &functions[i], registry);
}
