// SPDX-License-Identifier: Apache-2.0

#include "tests/compiler/passes/count_machine.h"

#include <stdlib.h>
#include <string.h>

#include "host_runtime/base/allocator.h"

#define MAX_OBJECTS 65536
#define MAX_TASKS 4096
// Blocks that a run enters before it looks for the way out, and before it gives up.
#define PATIENCE 40
#define MAX_STEPS 400
#define MAX_PASSED 8
#define FAR UINT32_MAX

typedef struct task_s {
  tfrt_ir_operation_t* op;
  uint32_t* objects;  // of each value, when the task was started
} task_t;

typedef struct machine_s {
  test_random_t* random;
  uint32_t value_count;
  int64_t counts[MAX_OBJECTS];
  uint32_t object_count;
  task_t tasks[MAX_TASKS];
  uint32_t task_count;
  uint32_t steps;
  bool gave_up;
  const char* mistake;
} machine_t;

// The objects that the end of a region hands on.
typedef struct passed_s {
  uint32_t objects[MAX_PASSED];
  uint32_t count;
} passed_t;

static bool is_token(const tfrt_ir_value_t* value) {
  return tfrt_ir_type_is(value->type, "!async.token");
}

static void fail(machine_t* machine, const char* mistake) {
  if (!machine->mistake) machine->mistake = mistake;
}

static uint32_t create(machine_t* machine) {
  if (machine->object_count == MAX_OBJECTS) {
    machine->gave_up = true;
    return 0;
  }
  machine->counts[machine->object_count] = 1;
  return machine->object_count++;
}

static void check_alive(machine_t* machine, uint32_t object) {
  if (machine->counts[object] < 1) fail(machine, "a dead object is used");
}

static void give(machine_t* machine, uint32_t object, int64_t amount) {
  if (machine->counts[object] < amount) fail(machine, "a reference is given back that isn't there");
  machine->counts[object] -= amount;
}

static void run_region(machine_t* machine, tfrt_ir_region_t* region, uint32_t* objects,
                       passed_t* out_passed);

// --- Tasks ------------------------------------------------------------------------------------

// The bytes that an object for each value takes.
static size_t size_of_objects(const machine_t* machine) {
  return ((size_t)machine->value_count + 1) * sizeof(uint32_t);
}

static void start_task(machine_t* machine, tfrt_ir_operation_t* op, const uint32_t* objects) {
  size_t size = size_of_objects(machine);
  if (machine->task_count == MAX_TASKS) {
    machine->gave_up = true;
    return;
  }
  uint32_t* copy = tfrt_allocator_allocate(tfrt_allocator_system(), size);
  if (!copy) abort();
  memcpy(copy, objects, size);
  machine->tasks[machine->task_count++] = (task_t){op, copy};
}

static void run_task(machine_t* machine) {
  uint32_t index = test_random_below(machine->random, machine->task_count);
  task_t task = machine->tasks[index];
  passed_t passed;
  machine->tasks[index] = machine->tasks[--machine->task_count];
  run_region(machine, &task.op->regions[0], task.objects, &passed);
  tfrt_allocator_free(tfrt_allocator_system(), task.objects, size_of_objects(machine));
}

// --- Ops --------------------------------------------------------------------------------------

static int64_t amount_of(const tfrt_ir_operation_t* op) {
  return tfrt_ir_attribute_integer_value(tfrt_ir_operation_attribute(op, "count"));
}

static void run_structure(machine_t* machine, tfrt_ir_operation_t* op, uint32_t* objects) {
  passed_t passed = {.count = 0};
  if (tfrt_ir_operation_is(op, "scf.if")) {
    uint32_t way = test_random_below(machine->random, 2);
    if (way < op->region_count && op->regions[way].first_block) {
      run_region(machine, &op->regions[way], objects, &passed);
    }
  } else {
    // The body's argument begins as the operand, whose reference goes over to it.
    passed = (passed_t){{objects[op->operands[3].value->scratch]}, 1};
    const tfrt_ir_block_t* body = op->regions[0].first_block;
    for (uint32_t turns = test_random_below(machine->random, 3); turns > 0; --turns) {
      objects[body->arguments[1]->scratch] = passed.objects[0];
      run_region(machine, &op->regions[0], objects, &passed);
    }
  }
  for (uint32_t i = 0; i < op->result_count && i < passed.count; ++i) {
    objects[op->results[i].scratch] = passed.objects[i];
  }
}

static void run_op(machine_t* machine, tfrt_ir_operation_t* op, uint32_t* objects) {
  bool is_call = tfrt_ir_operation_is(op, "func.call");
  bool is_add = tfrt_ir_operation_is(op, "async.runtime.add_ref");
  bool is_drop = tfrt_ir_operation_is(op, "async.runtime.drop_ref");
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const tfrt_ir_value_t* value = op->operands[i].value;
    if (!is_token(value)) continue;
    uint32_t object = objects[value->scratch];
    check_alive(machine, object);
    if (is_call) give(machine, object, 1);
    if (is_drop) give(machine, object, amount_of(op));
    if (is_add) machine->counts[object] += amount_of(op);
  }
  if (tfrt_ir_operation_is(op, "scf.if") || tfrt_ir_operation_is(op, "scf.for")) {
    run_structure(machine, op, objects);
    return;
  }
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (is_token(&op->results[i])) objects[op->results[i].scratch] = create(machine);
  }
  if (tfrt_ir_operation_is(op, "async.execute")) start_task(machine, op, objects);
  if (machine->task_count && test_random_below(machine->random, 4) == 0) run_task(machine);
}

// --- Blocks -----------------------------------------------------------------------------------

// Lets the scratch word of each block be its distance from an end.
static void find_distances(tfrt_ir_region_t* region) {
  bool changed = true;
  for (tfrt_ir_block_t* block = region->first_block; block; block = block->next) {
    block->scratch = block->last->successor_count ? FAR : 0;
  }
  while (changed) {
    changed = false;
    for (tfrt_ir_block_t* block = region->first_block; block; block = block->next) {
      for (uint32_t i = 0; i < block->last->successor_count; ++i) {
        uint32_t distance = tfrt_ir_operation_successors(block->last)[i]->scratch;
        if (distance == FAR || distance + 1 >= block->scratch) continue;
        block->scratch = distance + 1;
        changed = true;
      }
    }
  }
}

static tfrt_ir_block_t* follow(machine_t* machine, tfrt_ir_operation_t* end, uint32_t* objects) {
  uint32_t way = test_random_below(machine->random, end->successor_count);
  tfrt_ir_block_t** successors = tfrt_ir_operation_successors(end);
  for (uint32_t i = 0; machine->steps > PATIENCE && i < end->successor_count; ++i) {
    if (successors[i]->scratch < successors[way]->scratch) way = i;
  }
  passed_t passed = {.count = 0};
  uint32_t first = 0;
  tfrt_ir_operation_successor_operands(end, way, &first, &passed.count);
  for (uint32_t i = 0; i < passed.count; ++i) {
    passed.objects[i] = objects[end->operands[first + i].value->scratch];
    check_alive(machine, passed.objects[i]);
  }
  for (uint32_t i = 0; i < passed.count; ++i) {
    objects[successors[way]->arguments[i]->scratch] = passed.objects[i];
  }
  return successors[way];
}

static void run_region(machine_t* machine, tfrt_ir_region_t* region, uint32_t* objects,
                       passed_t* out_passed) {
  tfrt_ir_block_t* block = region->first_block;
  out_passed->count = 0;
  find_distances(region);
  while (block && !machine->mistake && !machine->gave_up) {
    if (++machine->steps > MAX_STEPS) machine->gave_up = true;
    for (tfrt_ir_operation_t* op = block->first; op != block->last; op = op->next) {
      run_op(machine, op, objects);
      if (machine->mistake || machine->gave_up) return;
    }
    if (block->last->successor_count) {
      block = follow(machine, block->last, objects);
      continue;
    }
    for (uint32_t i = 0; i < block->last->operand_count; ++i) {
      const tfrt_ir_value_t* value = block->last->operands[i].value;
      if (!is_token(value)) continue;
      check_alive(machine, objects[value->scratch]);
      out_passed->objects[out_passed->count++] = objects[value->scratch];
    }
    return;
  }
}

// --- The function -----------------------------------------------------------------------------

static void number_values(machine_t* machine, tfrt_ir_operation_t* op) {
  for (uint32_t i = 0; i < op->result_count; ++i) op->results[i].scratch = machine->value_count++;
  for (uint32_t i = 0; i < op->region_count; ++i) {
    for (tfrt_ir_block_t* block = op->regions[i].first_block; block; block = block->next) {
      for (uint32_t k = 0; k < block->argument_count; ++k) {
        block->arguments[k]->scratch = machine->value_count++;
      }
      for (tfrt_ir_operation_t* inner = block->first; inner; inner = inner->next) {
        number_values(machine, inner);
      }
    }
  }
}

const char* test_count_machine_run(tfrt_ir_operation_t* function, test_random_t* random) {
  tfrt_allocator_t system = tfrt_allocator_system();
  machine_t* machine = tfrt_allocator_allocate_zeroed(system, sizeof(*machine));
  if (!machine) abort();
  machine->random = random;
  number_values(machine, function);
  uint32_t* objects = tfrt_allocator_allocate_zeroed(system, size_of_objects(machine));
  if (!objects) abort();
  const tfrt_ir_block_t* entry = function->regions[0].first_block;
  for (uint32_t i = 0; i < entry->argument_count; ++i) {
    if (is_token(entry->arguments[i])) {
      objects[entry->arguments[i]->scratch] = create(machine);
    }
  }
  passed_t results;
  run_region(machine, &function->regions[0], objects, &results);
  for (uint32_t i = 0; i < results.count; ++i) give(machine, results.objects[i], 1);
  while (machine->task_count && !machine->mistake && !machine->gave_up) run_task(machine);
  for (uint32_t i = 0; i < machine->object_count && !machine->gave_up; ++i) {
    if (machine->counts[i]) fail(machine, "an object is left");
  }
  const char* mistake = machine->mistake;
  while (machine->task_count) {
    tfrt_allocator_free(system, machine->tasks[--machine->task_count].objects,
                        size_of_objects(machine));
  }
  tfrt_allocator_free(system, objects, size_of_objects(machine));
  tfrt_allocator_free(system, machine, sizeof(*machine));
  return mistake;
}
