// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/cuda_poll_set.h"

static tfrt_cuda_poll_t* cuda_poll_of(tfrt_list_link_t* link) {
  return TFRT_CONTAINER_OF(link, tfrt_cuda_poll_t, link);
}

void tfrt_cuda_poll_set_initialize(tfrt_cuda_poll_set_t* set) {
  tfrt_list_initialize(&set->firsts);
  tfrt_random_initialize(&set->random, 1);
}

// How long to wait before |poll| is asked again, which was not over at |now_ns|.
static int64_t cuda_poll_pause(tfrt_cuda_poll_set_t* set, const tfrt_cuda_poll_t* poll,
                               int64_t now_ns) {
  if (now_ns < poll->hurry_until_ns) return 0;
  int64_t pause_ns = (now_ns - poll->since_ns) / TFRT_CUDA_POLL_PART;
  if (pause_ns > TFRT_CUDA_POLL_MAX_PAUSE_NS) pause_ns = TFRT_CUDA_POLL_MAX_PAUSE_NS;
  pause_ns += (int64_t)tfrt_random_below(&set->random, (uint64_t)pause_ns / 2 + 1) - pause_ns / 4;
  return pause_ns > TFRT_CUDA_POLL_MIN_PAUSE_NS ? pause_ns : TFRT_CUDA_POLL_MIN_PAUSE_NS;
}

// Lets the wait for |poll| count from |now_ns|.
static void cuda_poll_begin(tfrt_cuda_poll_t* poll, int64_t now_ns) {
  poll->since_ns = now_ns;
  poll->next_ns = now_ns;
  poll->hurry_until_ns = poll->in_hurry ? now_ns + TFRT_CUDA_POLL_HURRY_NS : now_ns;
}

// Lets |first| hurry as |other| of its stream does: it is on the way there.
static void cuda_poll_hurry(tfrt_cuda_poll_t* first, const tfrt_cuda_poll_t* other) {
  if (first->hurry_until_ns >= other->hurry_until_ns) return;
  first->hurry_until_ns = other->hurry_until_ns;
  if (first->next_ns > other->since_ns) first->next_ns = other->since_ns;
}

// The first poll of the stream of |poll|, or NULL if there is none.
static tfrt_cuda_poll_t* cuda_poll_set_find(tfrt_cuda_poll_set_t* set,
                                            const tfrt_cuda_poll_t* poll) {
  if (poll->stream == 0) return NULL;
  for (tfrt_list_link_t* l = set->firsts.next; l != &set->firsts; l = l->next) {
    tfrt_cuda_poll_t* first = cuda_poll_of(l);
    if (first->stream == poll->stream) return first;
  }
  return NULL;
}

// Lets |next| be the first of its stream in the place of |first|, with what is behind that one.
static void cuda_poll_replace(tfrt_cuda_poll_t* first, tfrt_cuda_poll_t* next) {
  tfrt_list_initialize(&next->behind);
  tfrt_list_move_all(&next->behind, &first->behind);
  tfrt_list_insert_after(&first->link, &next->link);
  tfrt_list_remove(&first->link);
}

// Puts |poll| behind |first|, at its place.
static void cuda_poll_queue(tfrt_cuda_poll_t* first, tfrt_cuda_poll_t* poll) {
  tfrt_list_link_t* l = first->behind.previous;
  while (l != &first->behind && cuda_poll_of(l)->place > poll->place) l = l->previous;
  tfrt_list_insert_after(l, &poll->link);
  if (poll->in_hurry) cuda_poll_hurry(first, poll);
}

void tfrt_cuda_poll_set_add(tfrt_cuda_poll_set_t* set, tfrt_cuda_poll_t* poll, int64_t now_ns) {
  cuda_poll_begin(poll, now_ns);
  tfrt_cuda_poll_t* first = cuda_poll_set_find(set, poll);
  if (!first) {
    tfrt_list_initialize(&poll->behind);
    tfrt_list_push_back(&set->firsts, &poll->link);
  } else if (first->place <= poll->place) {
    cuda_poll_queue(first, poll);
  } else {
    cuda_poll_replace(first, poll);
    tfrt_list_push_front(&poll->behind, &first->link);
  }
}

int64_t tfrt_cuda_poll_set_next(const tfrt_cuda_poll_set_t* set) {
  int64_t next_ns = TFRT_TIME_INFINITE;
  for (tfrt_list_link_t* l = set->firsts.next; l != &set->firsts; l = l->next) {
    const tfrt_cuda_poll_t* first = cuda_poll_of(l);
    if (first->next_ns < next_ns) next_ns = first->next_ns;
  }
  return next_ns;
}

// Asks |poll|, the first of its stream, and those behind it, up to one that isn't over.
static void cuda_poll_ask(tfrt_cuda_poll_set_t* set, tfrt_cuda_poll_t* poll, int64_t now_ns,
                          tfrt_list_link_t* over) {
  while (poll->is_over(poll)) {
    tfrt_list_link_t* behind = tfrt_list_pop_front(&poll->behind);
    if (behind) {
      cuda_poll_replace(poll, cuda_poll_of(behind));
    } else {
      tfrt_list_remove(&poll->link);
    }
    tfrt_list_push_back(over, &poll->link);
    if (!behind) return;
    poll = cuda_poll_of(behind);
    cuda_poll_begin(poll, now_ns);
  }
  poll->next_ns = now_ns + cuda_poll_pause(set, poll, now_ns);
}

void tfrt_cuda_poll_set_look(tfrt_cuda_poll_set_t* set, int64_t now_ns, tfrt_list_link_t* over) {
  for (tfrt_list_link_t* l = set->firsts.next; l != &set->firsts;) {
    tfrt_cuda_poll_t* first = cuda_poll_of(l);
    l = l->next;
    if (first->next_ns <= now_ns) cuda_poll_ask(set, first, now_ns, over);
  }
}
