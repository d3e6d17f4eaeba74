// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/call/running_kernel.h"

#include <stdio.h>

#include "host_runtime/async/async_value_misuse.h"
#include "host_runtime/executor/program/program_impl.h"

_Thread_local tfrt_running_kernel_t tfrt_running_kernel;

// All threads that have run kernels and have not ended. Guarded by the mutex.
static tfrt_mutex_t tfrt_running_kernel_mutex = TFRT_MUTEX_INITIALIZER;
static tfrt_list_link_t tfrt_running_kernel_threads = {&tfrt_running_kernel_threads,
                                                       &tfrt_running_kernel_threads};

// Runs when the thread ends.
static void running_kernel_unlist(tfrt_thread_exit_hook_t* hook) {
  tfrt_running_kernel_t* thread = TFRT_CONTAINER_OF(hook, tfrt_running_kernel_t, hook);
  tfrt_mutex_lock(&tfrt_running_kernel_mutex);
  tfrt_list_remove(&thread->link);
  tfrt_mutex_unlock(&tfrt_running_kernel_mutex);
  thread->is_listed = false;
}

// Says where the calling thread is, for the message about a mistake with a value.
static void running_kernel_describe(char* buffer, size_t size) {
  // The thread's own mark: the call that it is in keeps the program.
  const tfrt_kernel_site_t* site =
      atomic_load_explicit(&tfrt_running_kernel.site, memory_order_relaxed);
  if (!site) return;
  tfrt_status_origin_t origin;
  tfrt_kernel_site_origin(site, &origin);
  (void)snprintf(buffer, size, "kernel '%s' of function '%s' at %s:%u:%u",
                 origin.kernel ? origin.kernel : "(unknown)",
                 origin.function ? origin.function : "(unknown)",
                 origin.file ? origin.file : "(unknown)", origin.line, origin.column);
}

void tfrt_running_kernel_list_thread(void) {
  tfrt_async_value_misuse_set_place(running_kernel_describe);
  tfrt_running_kernel_t* thread = &tfrt_running_kernel;
  thread->hook.run = running_kernel_unlist;
  if (!tfrt_thread_at_exit(&thread->hook)) return;
  thread->is_listed = true;
  tfrt_mutex_lock(&tfrt_running_kernel_mutex);
  tfrt_list_push_back(&tfrt_running_kernel_threads, &thread->link);
  tfrt_mutex_unlock(&tfrt_running_kernel_mutex);
}

size_t tfrt_running_kernel_list(tfrt_running_kernel_thread_t* out_threads, size_t capacity) {
  size_t count = 0;
  tfrt_list_link_t* head = &tfrt_running_kernel_threads;
  tfrt_mutex_lock(&tfrt_running_kernel_mutex);
  for (tfrt_list_link_t* link = head->next; link != head && count < capacity; link = link->next) {
    tfrt_running_kernel_t* thread = TFRT_CONTAINER_OF(link, tfrt_running_kernel_t, link);
    const void* site = atomic_load_explicit(&thread->site, memory_order_relaxed);
    if (!site) continue;
    uint64_t calls = atomic_load_explicit(&thread->calls, memory_order_relaxed);
    const void* request = atomic_load_explicit(&thread->request, memory_order_relaxed);
    out_threads[count++] = (tfrt_running_kernel_thread_t){
        .thread = thread, .site = site, .request = request, .calls = calls};
  }
  tfrt_mutex_unlock(&tfrt_running_kernel_mutex);
  return count;
}

const tfrt_kernel_site_t* tfrt_program_find_site(const tfrt_program_t* program, const void* site) {
  uintptr_t address = (uintptr_t)site;
  for (uint32_t i = 0; i < program->function_count; ++i) {
    const tfrt_bef_callable_t* callable = &program->functions[i];
    uintptr_t first = (uintptr_t)callable->sites;
    size_t count = callable->bef ? callable->bef->kernel_count : 1;
    if (first == 0 || address < first) continue;
    uintptr_t index = (address - first) / sizeof(*callable->sites);
    if (index < count) return &callable->sites[index];
  }
  return NULL;
}
