// SPDX-License-Identifier: Apache-2.0
#include "distributed/domain/domain.h"

tfrt_node_t* tfrt_node_retain(tfrt_node_t* node) {
  tfrt_ref_count_increment(&node->ref_count);
  return node;
}

void tfrt_node_release(tfrt_node_t* node) {
  if (node && tfrt_ref_count_decrement(&node->ref_count)) node->free(node);
}

uint64_t tfrt_node_incarnation(const tfrt_node_t* node) { return node->incarnation; }

void tfrt_node_look_at_threads(tfrt_node_t* node, int64_t now_ns) {
  tfrt_running_kernel_thread_t threads[TFRT_PROGRESS_MAX_THREADS];
  size_t count = tfrt_running_kernel_list(threads, TFRT_PROGRESS_MAX_THREADS);
  tfrt_progress_look(&node->progress, threads, count, now_ns);
}
