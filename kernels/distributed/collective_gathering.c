// SPDX-License-Identifier: Apache-2.0
//
// Brings each member's record to all members of a large group, along a tree (collective_tree.h):
//
//   message 0   child -> parent   the records of the child's part
//   message 1   parent -> child   all others
//
// Where many processes share few processors, a message costs processor time rather than delay, so
// fewer messages are what counts. And each answer goes to where the next message goes, in one
// packet.
//
// All children are waited for at once. So a parent knows of each loss among them without delay.
#include "kernels/distributed/collective_impl.h"

#define NUMBER_UP 0
#define NUMBER_DOWN 1

static void finish(tfrt_collective_t* collective) {
  tfrt_collective_agreement_t* agreement = &collective->agreement;
  const tfrt_collective_tree_t* tree = &agreement->tree;
  uint32_t count = collective->group->count;
  for (uint32_t i = 0; i < tree->child_count; ++i) {
    uint32_t child = tfrt_collective_tree_child(tree, i);
    uint32_t end = tfrt_collective_tree_child(tree, i + 1);
    tfrt_collective_post_records(collective, child, NUMBER_DOWN, end, count - (end - child));
  }
  agreement->finish(collective);
}

// The parent's message is here.
static void take_others(tfrt_collective_t* collective) {
  tfrt_collective_agreement_t* agreement = &collective->agreement;
  const tfrt_collective_tree_t* tree = &agreement->tree;
  tfrt_async_value_t* arrival = agreement->awaited;
  agreement->awaited = NULL;
  tfrt_collective_take_records(collective, arrival, tree->position + tree->size,
                               collective->group->count - tree->size);
  agreement->arrivals[agreement->arrival_count++] = arrival;
  finish(collective);
}

static void run_parent(tfrt_task_t* task) {
  take_others(TFRT_CONTAINER_OF(task, tfrt_collective_t, task));
}

// The records of this member's part are here.
static void ask_parent(tfrt_collective_t* collective) {
  tfrt_collective_agreement_t* agreement = &collective->agreement;
  const tfrt_collective_tree_t* tree = &agreement->tree;
  if (tree->parent == tree->position) {
    finish(collective);
    return;
  }
  tfrt_collective_post_records(collective, tree->parent, NUMBER_UP, tree->position, tree->size);
  agreement->awaited =
      tfrt_collective_receive(collective, tree->parent, agreement->phase, NUMBER_DOWN);
  if (tfrt_async_value_is_available(agreement->awaited)) {
    take_others(collective);
  } else {
    tfrt_task_initialize(&collective->task, run_parent);
    tfrt_async_value_and_then(agreement->awaited, &collective->task);
  }
}

// One of the values that are waited for is here.
static void note(tfrt_collective_t* collective) {
  // Releases the records of this child; the last caller acquires those of all children here.
  if (atomic_fetch_sub_explicit(&collective->agreement.missing, 1, memory_order_acq_rel) == 1) {
    ask_parent(collective);
  }
}

static void run_child(tfrt_task_t* task) {
  tfrt_collective_child_t* self = TFRT_CONTAINER_OF(task, tfrt_collective_child_t, task);
  tfrt_collective_t* collective = self->collective;
  tfrt_collective_agreement_t* agreement = &collective->agreement;
  uint32_t begin = tfrt_collective_tree_child(&agreement->tree, self->index);
  uint32_t end = tfrt_collective_tree_child(&agreement->tree, self->index + 1);
  tfrt_collective_take_records(collective, agreement->arrivals[self->index], begin, end - begin);
  note(collective);
}

void tfrt_collective_gather_take(tfrt_collective_t* collective) {
  tfrt_collective_agreement_t* agreement = &collective->agreement;
  uint32_t child_count = agreement->tree.child_count;
  for (uint32_t i = 0; i < child_count; ++i) {
    uint32_t child = tfrt_collective_tree_child(&agreement->tree, i);
    agreement->children[i] = (tfrt_collective_child_t){.collective = collective, .index = i};
    agreement->arrivals[i] =
        tfrt_collective_receive(collective, child, agreement->phase, NUMBER_UP);
  }
  agreement->arrival_count = child_count;
  atomic_init(&agreement->missing, child_count + 1);
  for (uint32_t i = 0; i < child_count; ++i) {
    tfrt_task_initialize(&agreement->children[i].task, run_child);
    tfrt_async_value_and_then(agreement->arrivals[i], &agreement->children[i].task);
  }
  note(collective);
}
