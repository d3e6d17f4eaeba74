// SPDX-License-Identifier: Apache-2.0
#include "distributed/bulk/lane_room.h"

#include "distributed/bulk/prefault.h"

static uint64_t ahead(const tfrt_lane_incoming_t* incoming) {
  return TFRT_LANE_ROOM_WINDOWS * incoming->manager->options.window_size;
}

// The bytes that are to be made ready next; 0: none, or not yet.
static uint64_t next_step(const tfrt_lane_incoming_t* incoming) {
  if (incoming->state != TFRT_LANE_INCOMING_RECEIVING ||
      incoming->interruption != TFRT_LANE_NOT_INTERRUPTED) {
    return 0;
  }
  if (incoming->ready >= incoming->received + ahead(incoming)) return 0;
  uint64_t left = incoming->total_size - incoming->ready;
  uint64_t step = (incoming->manager->options.window_size + 1) / 2;
  return left < step ? left : step;
}

// Makes room, step by step. Takes the lock.
static void run_room(tfrt_task_t* task) {
  tfrt_lane_incoming_t* incoming = TFRT_CONTAINER_OF(task, tfrt_lane_incoming_t, room_task);
  tfrt_lane_manager_t* manager = incoming->manager;
  tfrt_node_lock_t* lock = manager->lock;
  tfrt_node_lock_lock(lock);
  for (uint64_t step; (step = next_step(incoming)) > 0;) {
    uint64_t begin = incoming->ready;
    tfrt_node_lock_unlock_and_run(lock);
    tfrt_prefault((char*)incoming->sink.body + begin, step);
    tfrt_node_lock_lock(lock);
    // A resumed transfer may have been granted more meanwhile.
    if (incoming->ready < begin + step) incoming->ready = begin + step;
    tfrt_lane_incoming_on_room(incoming);
  }
  incoming->is_making_room = false;
  bool is_complete = tfrt_lane_incoming_leave_room(incoming);
  tfrt_lane_manager_forget_one(manager);
  tfrt_node_lock_unlock_and_run(lock);
  if (is_complete) tfrt_lane_incoming_complete(incoming);
}

static void start(tfrt_lane_incoming_t* incoming) {
  tfrt_lane_manager_t* manager = incoming->manager;
  incoming->is_making_room = true;
  ++manager->live;
  tfrt_task_initialize(&incoming->room_task, run_room);
  if (tfrt_work_queue_add_blocking_task(manager->options.work_queue, &incoming->room_task, false)) {
    return;
  }
  incoming->is_making_room = false;
  --manager->live;  // not the last one: that is |incoming|'s own
  incoming->ready = incoming->total_size;
}

uint64_t tfrt_lane_room_reserve(tfrt_lane_incoming_t* incoming, uint64_t stored) {
  const tfrt_lane_options_t* options = &incoming->manager->options;
  if (!options->work_queue || !incoming->sink.body || incoming->total_size < options->room_size) {
    return UINT64_MAX;
  }
  if (incoming->ready < incoming->granted) incoming->ready = incoming->granted;
  bool is_low = incoming->ready < stored + ahead(incoming) / 2;
  if (is_low && !incoming->is_making_room && incoming->ready < incoming->total_size) {
    start(incoming);
  }
  return incoming->ready < incoming->total_size ? incoming->ready : UINT64_MAX;
}
