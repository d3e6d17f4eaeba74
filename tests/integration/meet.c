// SPDX-License-Identifier: Apache-2.0
//
// A kernel library for the test of costs: kernels that wait until MEETING of them run at once,
// which happens only on as many threads. From then on they wait no more. After 30 s they are
// errors.
//
// meet.known says in the op table that it is worth a thread, meet.unknown says that it is not,
// meet.silent says nothing.
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "embedding/kernel_library.h"

#define MEETING 3
#define PATIENCE_S 30

static atomic_int running;
static atomic_bool have_met;

static bool meet(void) {
  const time_t deadline = time(NULL) + PATIENCE_S;
  if (atomic_fetch_add_explicit(&running, 1, memory_order_relaxed) + 1 == MEETING) {
    atomic_store_explicit(&have_met, true, memory_order_relaxed);
  }
  bool is_over = false;
  while (!is_over && time(NULL) <= deadline) {
    is_over = atomic_load_explicit(&have_met, memory_order_relaxed);
  }
  atomic_fetch_sub_explicit(&running, 1, memory_order_relaxed);
  return is_over;
}

static void meet_kernel(tfrt_kernel_frame_t* frame) {
  if (meet()) {
    tfrt_kernel_frame_set_i32(frame, 0, 1);
  } else {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_DEADLINE_EXCEEDED, "the kernels run one by one");
  }
}

static const tfrt_operand_descriptor_t number[] = {{"number", "i32", TFRT_OPERAND_DEMANDED}};
static const tfrt_result_descriptor_t one[] = {{"one", "i32"}};

static const tfrt_kernel_descriptor_t ops[] = {
    {.name = "meet.known",
     .summary = "The number 1, when others have come.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(number),
     TFRT_RESULTS(one),
     .flags = TFRT_KERNEL_PURE,
     .cost = 100000},
    {.name = "meet.unknown",
     .summary = "The number 1, when others have come.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(number),
     TFRT_RESULTS(one),
     .flags = TFRT_KERNEL_PURE,
     .cost = 10},
    {.name = "meet.silent",
     .summary = "The number 1, when others have come.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(number),
     TFRT_RESULTS(one),
     .effects = TFRT_EFFECT_NONE},
};

static const tfrt_kernel_registration_t kernels[] = {
    {"meet.known", meet_kernel},
    {"meet.unknown", meet_kernel},
    {"meet.silent", meet_kernel},
};

const tfrt_kernel_library_t tfrt_kernel_library = {
    TFRT_KERNEL_LIBRARY_HEADER("meet"),
    TFRT_KERNEL_LIBRARY_OPS(ops),
    TFRT_KERNEL_LIBRARY_KERNELS(kernels),
};
