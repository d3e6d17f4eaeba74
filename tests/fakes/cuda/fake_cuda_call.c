// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/cuda/fake_cuda_call.h"

#include <string.h>

// A library that is opened at run time has its threads' variables in the room that the dynamic
// linker keeps free beside those of the program, and not in blocks from malloc: LeakSanitizer of
// clang 14 takes such a block for one of an old C library when it lies 16 bytes into a page.
#define THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))

// The context that each thread has made current, innermost last.
static THREAD_LOCAL tfrt_fake_context_t* current_contexts[8];
static THREAD_LOCAL int current_count;

static tfrt_once_t once = TFRT_ONCE_INITIALIZER;

int tfrt_fake_begin(const char* name) {
  tfrt_once_run(&once, tfrt_fake_initialize);
  tfrt_mutex_lock(&tfrt_fake.mutex);
  tfrt_fake_t* fake = &tfrt_fake;
  if (fake->failing_countdown == 0 || strcmp(fake->failing_name, name) != 0) return 0;
  return --fake->failing_countdown == 0 ? fake->failing_result : 0;
}

int tfrt_fake_end(int result) {
  tfrt_mutex_unlock(&tfrt_fake.mutex);
  return result;
}

int tfrt_fake_check_context(const char* name, const tfrt_fake_context_t* context) {
  tfrt_fake_context_t* current = current_count > 0 ? current_contexts[current_count - 1] : NULL;
  if (!current || current->retain_count == 0 || (context && context != current)) {
    tfrt_fake_defect("%s in %s context", name, current ? "the wrong" : "no");
    return TFRT_CUDA_ERROR_INVALID_CONTEXT;
  }
  return current->error;
}

int tfrt_fake_begin_in_context(const char* name, const tfrt_fake_context_t* context) {
  int error = tfrt_fake_begin(name);
  return error ? error : tfrt_fake_check_context(name, context);
}

tfrt_fake_context_t* tfrt_fake_current(void) { return current_contexts[current_count - 1]; }

void tfrt_fake_push_current(tfrt_fake_context_t* context) {
  current_contexts[current_count++] = context;
}

tfrt_fake_context_t* tfrt_fake_pop_current(void) {
  return current_count > 0 ? current_contexts[--current_count] : NULL;
}

bool tfrt_fake_is_handle(const tfrt_list_link_t* head, const tfrt_list_link_t* link,
                         const char* what) {
  for (const tfrt_list_link_t* l = head->next; l != head; l = l->next) {
    if (l == link) return true;
  }
  tfrt_fake_defect("a handle that is no %s", what);
  return false;
}

int tfrt_fake_begin_in_stream(const char* name, tfrt_fake_stream_t* stream) {
  int error = tfrt_fake_begin_in_context(name, NULL);
  if (error) return error;
  if (!tfrt_fake_is_handle(&tfrt_fake.streams, &stream->link, "stream")) {
    return TFRT_CUDA_ERROR_INVALID_HANDLE;
  }
  if (stream->context == tfrt_fake_current()) return 0;
  tfrt_fake_defect("%s: a stream of another context", name);
  return TFRT_CUDA_ERROR_INVALID_HANDLE;
}

bool tfrt_fake_is_event(tfrt_fake_event_t* event) {
  return tfrt_fake_is_handle(&tfrt_fake.events, &event->link, "event") && !event->is_destroyed;
}

int tfrt_fake_count_in(const tfrt_list_link_t* head, const tfrt_fake_context_t* context) {
  // All these objects begin alike: the link, then the context.
  int count = 0;
  for (const tfrt_list_link_t* l = head->next; l != head; l = l->next) {
    count += !context || TFRT_CONTAINER_OF(l, tfrt_fake_event_t, link)->context == context;
  }
  return count;
}
