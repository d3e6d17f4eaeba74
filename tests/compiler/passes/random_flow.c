// SPDX-License-Identifier: Apache-2.0

#include "tests/compiler/passes/random_flow.h"

#include <inttypes.h>
#include <stdio.h>

#define MAX_BLOCKS 12
#define MAX_SUCCESSORS 3
#define MAX_VALUES 96
#define MAX_DEPTH 3

typedef struct name_s {
  char text[24];
} name_t;

// The values that may be used at a place.
typedef struct values_s {
  name_t names[MAX_VALUES];
  uint32_t count;
} values_t;

typedef struct block_s {
  uint32_t successors[MAX_SUCCESSORS];
  uint32_t successor_count;  // 0: it returns
  uint32_t argument_count;
  uint32_t definition_count;
  uint32_t dominators;  // a bit for each, itself too
  bool is_reachable;
} block_t;

typedef struct flow_s {
  test_random_t random;
  tfrt_string_builder_t* text;
  block_t blocks[MAX_BLOCKS];
  uint32_t block_count;
  uint32_t result_count;
  uint32_t local_count;
} flow_t;

uint32_t test_random_below(test_random_t* random, uint32_t limit) {
  random->state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = random->state;
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return (uint32_t)((z ^ z >> 31) % limit);
}

static uint32_t below(flow_t* flow, uint32_t limit) {
  return test_random_below(&flow->random, limit);
}

// --- The graph --------------------------------------------------------------------------------

static void mark_reachable(flow_t* flow) {
  bool changed = true;
  for (uint32_t i = 0; i < flow->block_count; ++i) flow->blocks[i].is_reachable = i == 0;
  while (changed) {
    changed = false;
    for (uint32_t i = 0; i < flow->block_count; ++i) {
      const block_t* block = &flow->blocks[i];
      for (uint32_t k = 0; block->is_reachable && k < block->successor_count; ++k) {
        block_t* next = &flow->blocks[block->successors[k]];
        changed |= !next->is_reachable;
        next->is_reachable = true;
      }
    }
  }
}

// Lets blocks from which no path leads to a return, return.
static void end_all(flow_t* flow) {
  bool ends[MAX_BLOCKS] = {false};
  bool changed = true;
  while (changed) {
    changed = false;
    for (uint32_t i = 0; i < flow->block_count; ++i) {
      const block_t* block = &flow->blocks[i];
      bool does = block->successor_count == 0;
      for (uint32_t k = 0; k < block->successor_count; ++k) does |= ends[block->successors[k]];
      changed |= does && !ends[i];
      ends[i] |= does;
    }
  }
  for (uint32_t i = 0; i < flow->block_count; ++i) {
    if (!ends[i]) flow->blocks[i].successor_count = 0;
  }
}

static void find_dominators(flow_t* flow) {
  uint32_t all = (UINT32_C(1) << flow->block_count) - 1;
  bool changed = true;
  for (uint32_t i = 0; i < flow->block_count; ++i) flow->blocks[i].dominators = i ? all : 1;
  while (changed) {
    uint32_t next[MAX_BLOCKS];
    changed = false;
    for (uint32_t i = 0; i < flow->block_count; ++i) next[i] = all;
    for (uint32_t i = 0; i < flow->block_count; ++i) {
      const block_t* block = &flow->blocks[i];
      for (uint32_t k = 0; block->is_reachable && k < block->successor_count; ++k) {
        next[block->successors[k]] &= block->dominators;
      }
    }
    for (uint32_t i = 1; i < flow->block_count; ++i) {
      uint32_t dominators = next[i] | UINT32_C(1) << i;
      changed |= dominators != flow->blocks[i].dominators;
      flow->blocks[i].dominators = dominators;
    }
  }
  for (uint32_t i = 0; i < flow->block_count; ++i) {
    if (!flow->blocks[i].is_reachable) flow->blocks[i].dominators = UINT32_C(1) << i;
  }
}

static void make_graph(flow_t* flow, bool always_ends) {
  flow->block_count = 1 + below(flow, MAX_BLOCKS - 1);
  flow->result_count = below(flow, 3);
  for (uint32_t i = 0; i < flow->block_count; ++i) {
    block_t* block = &flow->blocks[i];
    block->argument_count = i ? below(flow, 3) : 1 + below(flow, 3);
    block->definition_count = below(flow, 3);
    bool returns = i + 1 == flow->block_count || below(flow, 8) == 0;
    block->successor_count = returns ? 0 : 1 + below(flow, MAX_SUCCESSORS);
    for (uint32_t k = 0; k < block->successor_count; ++k) {
      // Mostly on, at times back.
      uint32_t first = below(flow, 3) ? i + 1 : 1;
      block->successors[k] = first + below(flow, flow->block_count - first);
    }
  }
  if (always_ends) end_all(flow);
  mark_reachable(flow);
  find_dominators(flow);
}

// --- Ops --------------------------------------------------------------------------------------

static void add_name(values_t* values, const char* name) {
  if (values->count == MAX_VALUES) return;
  snprintf(values->names[values->count++].text, sizeof(name_t), "%s", name);
}

static const char* pick(flow_t* flow, const values_t* values) {
  return values->names[below(flow, values->count)].text;
}

#define EMIT(...) tfrt_string_builder_append_format(flow->text, __VA_ARGS__)

static void emit_uses(flow_t* flow, const values_t* values, uint32_t depth);

// Ops of a region of its own, which sees |values|.
static void emit_region(flow_t* flow, const values_t* values, uint32_t depth) {
  emit_uses(flow, values, depth + 1);
}

// The definition of |name|.
static void emit_definition(flow_t* flow, const values_t* values, const char* name,
                            uint32_t depth) {
  uint32_t kinds = depth < MAX_DEPTH ? 6 : 2;
  switch (values->count ? below(flow, kinds) : 0) {
    case 1:
      EMIT("%s = func.call @turn(%s) : (!async.token) -> !async.token\n", name, pick(flow, values));
      break;
    case 2:
    case 3:
      EMIT("%s = async.execute [%s] {\n", name, pick(flow, values));
      emit_region(flow, values, depth);
      EMIT("async.yield\n}\n");
      break;
    case 4:
      EMIT("%s = scf.if %%c -> (!async.token) {\n", name);
      emit_region(flow, values, depth);
      EMIT("scf.yield %s : !async.token\n} else {\n", pick(flow, values));
      emit_region(flow, values, depth);
      EMIT("scf.yield %s : !async.token\n}\n", pick(flow, values));
      break;
    case 5: {
      values_t inner = *values;
      char argument[24];
      snprintf(argument, sizeof(argument), "%%l%" PRIu32, flow->local_count++);
      EMIT("%s = scf.for %%i%" PRIu32
           " = %%n to %%n step %%n iter_args(%s = %s) -> "
           "(!async.token) {\n",
           name, flow->local_count++, argument, pick(flow, values));
      add_name(&inner, argument);
      emit_region(flow, &inner, depth);
      EMIT("scf.yield %s : !async.token\n}\n", pick(flow, &inner));
      break;
    }
    default:
      EMIT("%s = func.call @source() : () -> !async.token\n", name);
  }
}

// A few ops that use |values| and what they define themselves.
static void emit_uses(flow_t* flow, const values_t* values, uint32_t depth) {
  values_t seen = *values;
  for (uint32_t count = below(flow, 4); count > 0; --count) {
    const char* value = seen.count ? pick(flow, &seen) : NULL;
    uint32_t kind = value ? below(flow, 6) : 5;
    char name[24];
    switch (kind) {
      case 0:
        EMIT("func.call @sink(%s) : (!async.token) -> ()\n", value);
        break;
      case 1:
        EMIT("func.call @sinks(%s, %s) : (!async.token, !async.token) -> ()\n", value,
             pick(flow, &seen));
        break;
      case 2:
      case 3:
        EMIT("async.await %s : !async.token\n", value);
        break;
      case 4:
        if (depth == MAX_DEPTH) break;
        EMIT("scf.if %%c {\n");
        emit_region(flow, &seen, depth);
        EMIT("}\n");
        break;
      default:
        snprintf(name, sizeof(name), "%%l%" PRIu32, flow->local_count++);
        emit_definition(flow, &seen, name, depth);
        add_name(&seen, name);
    }
  }
}

// --- Blocks -----------------------------------------------------------------------------------

static void add_block_values(const flow_t* flow, uint32_t number, bool with_definitions,
                             values_t* values) {
  const block_t* block = &flow->blocks[number];
  char name[24];
  for (uint32_t i = 0; i < block->argument_count; ++i) {
    snprintf(name, sizeof(name), "%%a%" PRIu32 "_%" PRIu32, number, i);
    add_name(values, name);
  }
  for (uint32_t i = 0; with_definitions && i < block->definition_count; ++i) {
    snprintf(name, sizeof(name), "%%d%" PRIu32 "_%" PRIu32, number, i);
    add_name(values, name);
  }
}

static void emit_successor(flow_t* flow, const values_t* values, uint32_t number) {
  uint32_t count = flow->blocks[number].argument_count;
  EMIT("^b%" PRIu32, number);
  for (uint32_t i = 0; i < count; ++i) {
    EMIT("%s%s", i ? ", " : "(", pick(flow, values));
  }
  for (uint32_t i = 0; i < count; ++i) EMIT("%s!async.token", i ? ", " : " : ");
  if (count) EMIT(")");
}

static void emit_terminator(flow_t* flow, const block_t* block, const values_t* values) {
  switch (block->successor_count) {
    case 0:
      EMIT("return");
      for (uint32_t i = 0; i < flow->result_count; ++i) {
        EMIT("%s %s", i ? "," : "", pick(flow, values));
      }
      for (uint32_t i = 0; i < flow->result_count; ++i) {
        EMIT("%s !async.token", i ? "," : " :");
      }
      break;
    case 1:
      EMIT("cf.br ");
      emit_successor(flow, values, block->successors[0]);
      break;
    case 2:
      EMIT("cf.cond_br %%c, ");
      emit_successor(flow, values, block->successors[0]);
      EMIT(", ");
      emit_successor(flow, values, block->successors[1]);
      break;
    default:
      EMIT("cf.switch %%x : i32, [ default: ");
      emit_successor(flow, values, block->successors[0]);
      EMIT(", 1: ");
      emit_successor(flow, values, block->successors[1]);
      EMIT(", 2: ");
      emit_successor(flow, values, block->successors[2]);
      EMIT(" ]");
  }
  EMIT("\n");
}

static void emit_block(flow_t* flow, uint32_t number) {
  const block_t* block = &flow->blocks[number];
  values_t values = {.count = 0};
  char name[24];
  for (uint32_t i = 0; i < flow->block_count; ++i) {
    if (i != number && block->dominators >> i & 1) add_block_values(flow, i, true, &values);
  }
  add_block_values(flow, number, false, &values);
  if (number) {
    EMIT("^b%" PRIu32, number);
    for (uint32_t i = 0; i < block->argument_count; ++i) {
      EMIT("%s%%a%" PRIu32 "_%" PRIu32 ": !async.token", i ? ", " : "(", number, i);
    }
    EMIT("%s:\n", block->argument_count ? ")" : "");
  }
  for (uint32_t i = 0; i < block->definition_count; ++i) {
    snprintf(name, sizeof(name), "%%d%" PRIu32 "_%" PRIu32, number, i);
    emit_uses(flow, &values, 0);
    emit_definition(flow, &values, name, 0);
    add_name(&values, name);
  }
  emit_uses(flow, &values, 0);
  if (!values.count) {
    snprintf(name, sizeof(name), "%%l%" PRIu32, flow->local_count++);
    emit_definition(flow, &values, name, 0);
    add_name(&values, name);
  }
  emit_terminator(flow, block, &values);
}

void test_random_flow(uint64_t seed, bool always_ends, tfrt_string_builder_t* text) {
  flow_t whole = {.random = {seed}, .text = text};
  flow_t* flow = &whole;
  make_graph(flow, always_ends);
  EMIT(
      "func.func private @source() -> !async.token\n"
      "func.func private @turn(!async.token) -> !async.token\n"
      "func.func private @sink(!async.token)\n"
      "func.func private @sinks(!async.token, !async.token)\n"
      "func.func @f(%%c: i1, %%x: i32, %%n: index");
  for (uint32_t i = 0; i < flow->blocks[0].argument_count; ++i) {
    EMIT(", %%a0_%" PRIu32 ": !async.token", i);
  }
  EMIT(")");
  for (uint32_t i = 0; i < flow->result_count; ++i) {
    EMIT("%s!async.token", i ? ", " : " -> (");
  }
  EMIT("%s {\n", flow->result_count ? ")" : "");
  for (uint32_t i = 0; i < flow->block_count; ++i) emit_block(flow, i);
  EMIT("}\n");
}
