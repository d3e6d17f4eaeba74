// SPDX-License-Identifier: Apache-2.0
#include "distributed/threads/progress.h"

// The record of the thread in |in|, if that is still in the kernel of the last look; else NULL.
static const tfrt_progress_thread_t* progress_find(const tfrt_progress_t* progress,
                                                   const tfrt_running_kernel_thread_t* in) {
  for (size_t i = 0; i < progress->count; ++i) {
    const tfrt_running_kernel_thread_t* seen = &progress->threads[i].in;
    if (seen->thread != in->thread) continue;
    return seen->site == in->site && seen->calls == in->calls ? &progress->threads[i] : NULL;
  }
  return NULL;
}

void tfrt_progress_note(tfrt_progress_t* progress, const tfrt_running_kernel_thread_t* threads,
                        size_t count, int64_t now_ns) {
  tfrt_progress_thread_t now[TFRT_PROGRESS_MAX_THREADS];
  if (count > TFRT_PROGRESS_MAX_THREADS) count = TFRT_PROGRESS_MAX_THREADS;
  for (size_t i = 0; i < count; ++i) {
    const tfrt_progress_thread_t* before = progress_find(progress, &threads[i]);
    now[i] = before ? *before : (tfrt_progress_thread_t){.since_ns = now_ns};
    now[i].in = threads[i];
  }
  for (size_t i = 0; i < count; ++i) progress->threads[i] = now[i];
  progress->count = count;
}

void tfrt_progress_look(tfrt_progress_t* progress, int64_t now_ns) {
  tfrt_running_kernel_thread_t threads[TFRT_PROGRESS_MAX_THREADS];
  size_t count = tfrt_running_kernel_list(threads, TFRT_PROGRESS_MAX_THREADS);
  tfrt_progress_note(progress, threads, count, now_ns);
}

const tfrt_progress_thread_t* tfrt_progress_tell(tfrt_progress_t* progress, int64_t before_ns) {
  for (size_t i = 0; i < progress->count; ++i) {
    tfrt_progress_thread_t* thread = &progress->threads[i];
    if (thread->is_told || thread->since_ns > before_ns) continue;
    thread->is_told = true;
    return thread;
  }
  return NULL;
}
