// SPDX-License-Identifier: Apache-2.0
//
// One lock for all groups of the process: they are there to be right and not to be quick.
#include "devices/cpu/cpu_ccl_group.h"

#include <string.h>

#include "devices/cpu/cpu_ccl_math.h"
#include "host_runtime/base/list.h"
#include "host_runtime/base/random.h"
#include "host_runtime/base/sync.h"

// Where one member stands in a meeting.
typedef struct tfrt_cpu_ccl_place_s {
  tfrt_cpu_ccl_round_t* round;  // NULL: it isn't known yet
  const tfrt_ccl_call_t* call;  // of that round
  void* input;                  // owned; a copy, when the round has arrived
  size_t input_size;
} tfrt_cpu_ccl_place_t;

// Which calls go together: of all members, or of a sender and a receiver.
typedef struct tfrt_cpu_ccl_key_s {
  bool is_of_all;
  int32_t sender;
  int32_t receiver;
  uint64_t number;  // of those like it
} tfrt_cpu_ccl_key_t;

// Where they do: places are by rank, or the sender's (0) and the receiver's (1).
typedef struct tfrt_cpu_ccl_meeting_s {
  tfrt_list_link_t link;  // of the group's
  tfrt_cpu_ccl_key_t key;
  uint32_t known;  // places with a round
  uint32_t arrived;
  uint32_t finished;
  bool is_over;  // its rounds don't wait for it any more
  uint32_t place_count;
  tfrt_cpu_ccl_place_t places[];
} tfrt_cpu_ccl_meeting_t;

typedef struct tfrt_cpu_ccl_group_s {
  tfrt_list_link_t link;  // of all groups
  tfrt_ccl_id_t id;
  int32_t size;
  int32_t joined;  // ever
  int32_t left;
  tfrt_status_t broken;              // +1; NULL: it isn't
  tfrt_list_link_t meetings;         // that are not finished
  tfrt_cpu_ccl_member_t* members[];  // NULL: not there yet
} tfrt_cpu_ccl_group_t;

struct tfrt_cpu_ccl_member_s {
  tfrt_cpu_ccl_group_t* group;
  int32_t rank;
  bool has_left;        // and stays until the group goes
  uint64_t of_all;      // calls so far
  uint64_t* counts[2];  // the same by peer: sends, receives
};

struct tfrt_cpu_ccl_round_s {
  tfrt_cpu_ccl_member_t* member;
  tfrt_cpu_ccl_met_fn_t met;
  void* argument;
  uint32_t pending;                // meetings, and 1 until it arrives or breaks
  tfrt_cpu_ccl_round_t* next_met;  // in a list of those whose |met| is to be called
  size_t count;
  const tfrt_ccl_call_t* calls;
  tfrt_cpu_ccl_meeting_t* meetings[];  // of each call; NULL: it never came to that
};

// Rounds whose |met| is to be called when the lock is gone.
typedef struct tfrt_cpu_ccl_met_s {
  tfrt_cpu_ccl_round_t* first;
} tfrt_cpu_ccl_met_t;

static tfrt_once_t once = TFRT_ONCE_INITIALIZER;
static tfrt_mutex_t mutex;  // guards all below, and all groups
static tfrt_list_link_t groups;
static uint64_t process;  // a random number that names this process
static uint64_t last_number;

static void cpu_ccl_initialize(void) {
  tfrt_mutex_initialize(&mutex);
  tfrt_list_initialize(&groups);
  tfrt_random_entropy(&process, sizeof(process));
}

static void cpu_ccl_lock(void) {
  tfrt_once_run(&once, cpu_ccl_initialize);
  tfrt_mutex_lock(&mutex);
}

// Ends a call that may have let rounds meet.
static void cpu_ccl_unlock(tfrt_cpu_ccl_met_t* met) {
  tfrt_mutex_unlock(&mutex);
  // A round may be gone when its |met| returns.
  for (tfrt_cpu_ccl_round_t* round = met->first; round;) {
    tfrt_cpu_ccl_round_t* next = round->next_met;
    round->met(round, round->argument);
    round = next;
  }
}

static void* cpu_ccl_allocate(size_t size) {
  return tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), size);
}

// --- Meetings, with the lock ---------------------------------------------------------------

static void cpu_ccl_round_count_down(tfrt_cpu_ccl_round_t* round, tfrt_cpu_ccl_met_t* met) {
  if (--round->pending > 0) return;
  round->next_met = met->first;
  met->first = round;
}

static void cpu_ccl_meeting_end(tfrt_cpu_ccl_meeting_t* meeting, tfrt_cpu_ccl_met_t* met) {
  if (meeting->is_over) return;
  meeting->is_over = true;
  for (uint32_t i = 0; i < meeting->place_count; ++i) {
    if (meeting->places[i].round) cpu_ccl_round_count_down(meeting->places[i].round, met);
  }
}

static void cpu_ccl_group_break(tfrt_cpu_ccl_group_t* group, tfrt_status_t reason,
                                tfrt_cpu_ccl_met_t* met) {
  if (group->broken) return;
  group->broken = tfrt_status_retain(reason);
  for (tfrt_list_link_t* l = group->meetings.next; l != &group->meetings; l = l->next) {
    cpu_ccl_meeting_end(TFRT_CONTAINER_OF(l, tfrt_cpu_ccl_meeting_t, link), met);
  }
}

// The same with an error of our own, about member |rank|.
static void cpu_ccl_group_fail(tfrt_cpu_ccl_group_t* group, tfrt_status_code_t code, int32_t rank,
                               const char* what, tfrt_cpu_ccl_met_t* met) {
  tfrt_status_t reason = tfrt_status_create(code, "a group of %d devices is broken: member %d %s",
                                            group->size, rank, what);
  cpu_ccl_group_break(group, reason, met);
  tfrt_status_release(reason);
}

static void cpu_ccl_meeting_free(tfrt_cpu_ccl_meeting_t* meeting) {
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_list_remove(&meeting->link);
  for (uint32_t i = 0; i < meeting->place_count; ++i) {
    tfrt_allocator_free(allocator, meeting->places[i].input, meeting->places[i].input_size);
  }
  tfrt_allocator_free(allocator, meeting,
                      sizeof(*meeting) + meeting->place_count * sizeof(*meeting->places));
}

// The rank of the member at |place|.
static int32_t cpu_ccl_meeting_rank(const tfrt_cpu_ccl_meeting_t* meeting, uint32_t place) {
  if (meeting->key.is_of_all) return (int32_t)place;
  return place == 0 ? meeting->key.sender : meeting->key.receiver;
}

static bool cpu_ccl_key_equal(const tfrt_cpu_ccl_key_t* a, const tfrt_cpu_ccl_key_t* b) {
  return a->is_of_all == b->is_of_all && a->sender == b->sender && a->receiver == b->receiver &&
         a->number == b->number;
}

// The meeting |key|, which is made if nobody has yet; NULL when memory is out.
static tfrt_cpu_ccl_meeting_t* cpu_ccl_meeting_get(tfrt_cpu_ccl_group_t* group,
                                                   const tfrt_cpu_ccl_key_t* key) {
  for (tfrt_list_link_t* l = group->meetings.next; l != &group->meetings; l = l->next) {
    tfrt_cpu_ccl_meeting_t* meeting = TFRT_CONTAINER_OF(l, tfrt_cpu_ccl_meeting_t, link);
    if (cpu_ccl_key_equal(&meeting->key, key)) return meeting;
  }
  uint32_t count = key->is_of_all ? (uint32_t)group->size : 2;
  tfrt_cpu_ccl_meeting_t* meeting =
      cpu_ccl_allocate(sizeof(*meeting) + count * sizeof(*meeting->places));
  if (!meeting) return NULL;
  meeting->key = *key;
  meeting->place_count = count;
  tfrt_list_push_back(&group->meetings, &meeting->link);
  return meeting;
}

// Whether |a| and |b|, which meet, are of a kind.
static bool cpu_ccl_agree(const tfrt_ccl_call_t* a, const tfrt_ccl_call_t* b) {
  if (a->dtype != b->dtype || a->count != b->count) return false;
  if (a->kind == TFRT_CCL_SEND || b->kind == TFRT_CCL_SEND) return true;
  bool reduces = a->kind != TFRT_CCL_ALL_GATHER && a->kind != TFRT_CCL_BROADCAST;
  return a->kind == b->kind && a->peer == b->peer && (!reduces || a->reduction == b->reduction);
}

// Puts call |index| of |round| in its place; breaks the group if it doesn't belong there, or if
// somebody who has left would have to come.
static void cpu_ccl_meeting_enter(tfrt_cpu_ccl_round_t* round, size_t index,
                                  tfrt_cpu_ccl_meeting_t* meeting, uint32_t place,
                                  tfrt_cpu_ccl_met_t* met) {
  tfrt_cpu_ccl_group_t* group = round->member->group;
  const tfrt_ccl_call_t* call = &round->calls[index];
  round->meetings[index] = meeting;
  meeting->places[place].round = round;
  meeting->places[place].call = call;
  ++meeting->known;
  ++round->pending;
  for (uint32_t i = 0; i < meeting->place_count; ++i) {
    const tfrt_cpu_ccl_place_t* other = &meeting->places[i];
    int32_t rank = cpu_ccl_meeting_rank(meeting, i);
    if (other->round && !cpu_ccl_agree(other->call, call)) {
      cpu_ccl_group_fail(group, TFRT_STATUS_INVALID_ARGUMENT, rank,
                         "gives a call of another kind, type or size than its partner", met);
    } else if (!other->round && group->members[rank] && group->members[rank]->has_left) {
      cpu_ccl_group_fail(group, TFRT_STATUS_UNAVAILABLE, rank, "is needed and has left", met);
    }
  }
}

// --- Groups ----------------------------------------------------------------------------------

void tfrt_cpu_ccl_id_create(tfrt_ccl_id_t* out_id) {
  cpu_ccl_lock();
  uint64_t numbers[2] = {process, ++last_number};
  tfrt_mutex_unlock(&mutex);
  *out_id = (tfrt_ccl_id_t){{0}};
  memcpy(out_id->bytes, numbers, sizeof(numbers));
}

uint64_t tfrt_cpu_ccl_process(void) {
  tfrt_once_run(&once, cpu_ccl_initialize);
  return process;
}

static tfrt_cpu_ccl_group_t* cpu_ccl_group_find(const tfrt_ccl_id_t* id) {
  for (tfrt_list_link_t* l = groups.next; l != &groups; l = l->next) {
    tfrt_cpu_ccl_group_t* group = TFRT_CONTAINER_OF(l, tfrt_cpu_ccl_group_t, link);
    if (memcmp(&group->id, id, sizeof(*id)) == 0) return group;
  }
  return NULL;
}

static size_t cpu_ccl_group_size(int32_t size) {
  return sizeof(tfrt_cpu_ccl_group_t) + (size_t)size * sizeof(tfrt_cpu_ccl_member_t*);
}

// The bytes of a member with its counts behind it.
static size_t cpu_ccl_member_size(int32_t size) {
  return sizeof(tfrt_cpu_ccl_member_t) + 2 * (size_t)size * sizeof(uint64_t);
}

// Sets |*out_group| to the group |id|, which is made if nobody has yet. With the lock.
static tfrt_status_t cpu_ccl_group_get(const tfrt_ccl_id_t* id, int32_t rank, int32_t size,
                                       tfrt_cpu_ccl_group_t** out_group) {
  if (memcmp(id, &process, sizeof(process)) != 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a group of CPU devices has all its members in the process that made "
                              "its id: between hosts use tfrt_dist.all_reduce and the like");
  }
  tfrt_cpu_ccl_group_t* group = cpu_ccl_group_find(id);
  *out_group = group;
  if (group && group->size != size) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a member says that its group has %d members, another one %d", size,
                              group->size);
  }
  if (group && group->members[rank]) {
    return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS, "a group of %d has a member %d already",
                              size, rank);
  }
  if (group) return NULL;
  group = cpu_ccl_allocate(cpu_ccl_group_size(size));
  if (!group) return tfrt_status_out_of_memory();
  group->id = *id;
  group->size = size;
  tfrt_list_initialize(&group->meetings);
  tfrt_list_push_back(&groups, &group->link);
  *out_group = group;
  return NULL;
}

tfrt_status_t tfrt_cpu_ccl_join(const tfrt_ccl_id_t* id, int32_t rank, int32_t size,
                                tfrt_cpu_ccl_member_t** out_member) {
  *out_member = NULL;
  tfrt_cpu_ccl_member_t* member = cpu_ccl_allocate(cpu_ccl_member_size(size));
  if (!member) return tfrt_status_out_of_memory();
  member->rank = rank;
  member->counts[0] = (uint64_t*)(void*)(member + 1);
  member->counts[1] = member->counts[0] + size;
  cpu_ccl_lock();
  tfrt_status_t status = cpu_ccl_group_get(id, rank, size, &member->group);
  if (!status) {
    member->group->members[rank] = member;
    ++member->group->joined;
  }
  tfrt_mutex_unlock(&mutex);
  if (status) {
    tfrt_allocator_free(tfrt_allocator_system(), member, cpu_ccl_member_size(size));
    return status;
  }
  *out_member = member;
  return NULL;
}

bool tfrt_cpu_ccl_is_complete(tfrt_cpu_ccl_member_t* member) {
  cpu_ccl_lock();
  bool is_complete = member->group->joined == member->group->size;
  tfrt_mutex_unlock(&mutex);
  return is_complete;
}

bool tfrt_cpu_ccl_is_broken(tfrt_cpu_ccl_member_t* member) {
  cpu_ccl_lock();
  bool is_broken = member->group->broken != NULL;
  tfrt_mutex_unlock(&mutex);
  return is_broken;
}

static void cpu_ccl_group_free(tfrt_cpu_ccl_group_t* group) {
  tfrt_list_remove(&group->link);
  for (int32_t i = 0; i < group->size; ++i) {
    tfrt_allocator_free(tfrt_allocator_system(), group->members[i],
                        cpu_ccl_member_size(group->size));
  }
  while (!tfrt_list_is_empty(&group->meetings)) {
    cpu_ccl_meeting_free(TFRT_CONTAINER_OF(group->meetings.next, tfrt_cpu_ccl_meeting_t, link));
  }
  tfrt_status_release(group->broken);
  tfrt_allocator_free(tfrt_allocator_system(), group, cpu_ccl_group_size(group->size));
}

// Whether a meeting of |group| can't happen without |member|, who isn't in it.
static bool cpu_ccl_is_awaited(const tfrt_cpu_ccl_member_t* member) {
  const tfrt_list_link_t* head = &member->group->meetings;
  for (const tfrt_list_link_t* l = head->next; l != head; l = l->next) {
    const tfrt_cpu_ccl_meeting_t* meeting = TFRT_CONTAINER_OF(l, tfrt_cpu_ccl_meeting_t, link);
    for (uint32_t i = 0; i < meeting->place_count && !meeting->is_over; ++i) {
      if (meeting->places[i].round) continue;
      if (cpu_ccl_meeting_rank(meeting, i) == member->rank) return true;
    }
  }
  return false;
}

void tfrt_cpu_ccl_leave(tfrt_cpu_ccl_member_t* member) {
  tfrt_cpu_ccl_met_t met = {0};
  cpu_ccl_lock();
  tfrt_cpu_ccl_group_t* group = member->group;
  member->has_left = true;
  if (cpu_ccl_is_awaited(member)) {
    cpu_ccl_group_fail(group, TFRT_STATUS_UNAVAILABLE, member->rank, "is needed and has left",
                       &met);
  }
  if (++group->left == group->joined) cpu_ccl_group_free(group);
  cpu_ccl_unlock(&met);
}

void tfrt_cpu_ccl_break(tfrt_cpu_ccl_member_t* member, tfrt_status_t reason) {
  tfrt_cpu_ccl_met_t met = {0};
  cpu_ccl_lock();
  cpu_ccl_group_break(member->group, reason, &met);
  cpu_ccl_unlock(&met);
}

// --- Rounds ----------------------------------------------------------------------------------

// The key of |call|, the next one of its kind of |member|; counts it.
static tfrt_cpu_ccl_key_t cpu_ccl_key_of(tfrt_cpu_ccl_member_t* member,
                                         const tfrt_ccl_call_t* call) {
  if (call->kind == TFRT_CCL_SEND) {
    return (tfrt_cpu_ccl_key_t){
        .sender = member->rank, .receiver = call->peer, .number = member->counts[0][call->peer]++};
  }
  if (call->kind == TFRT_CCL_RECEIVE) {
    return (tfrt_cpu_ccl_key_t){
        .sender = call->peer, .receiver = member->rank, .number = member->counts[1][call->peer]++};
  }
  return (tfrt_cpu_ccl_key_t){.is_of_all = true, .number = member->of_all++};
}

static uint32_t cpu_ccl_place_of(const tfrt_cpu_ccl_member_t* member, const tfrt_ccl_call_t* call) {
  if (call->kind == TFRT_CCL_SEND) return 0;
  return call->kind == TFRT_CCL_RECEIVE ? 1 : (uint32_t)member->rank;
}

// Enters call |index| of |round|, whose group is not broken.
static void cpu_ccl_round_enter(tfrt_cpu_ccl_round_t* round, size_t index,
                                tfrt_cpu_ccl_met_t* met) {
  tfrt_cpu_ccl_member_t* member = round->member;
  const tfrt_ccl_call_t* call = &round->calls[index];
  tfrt_cpu_ccl_key_t key = cpu_ccl_key_of(member, call);
  tfrt_cpu_ccl_meeting_t* meeting = cpu_ccl_meeting_get(member->group, &key);
  size_t size = tfrt_cpu_ccl_input_size(call, member->group->size);
  void* input = size > 0 ? cpu_ccl_allocate(size) : NULL;
  if (meeting && (input || size == 0)) {
    uint32_t place = cpu_ccl_place_of(member, call);
    meeting->places[place].input = input;
    meeting->places[place].input_size = size;
    cpu_ccl_meeting_enter(round, index, meeting, place, met);
    return;
  }
  tfrt_allocator_free(tfrt_allocator_system(), input, size);
  cpu_ccl_group_fail(member->group, TFRT_STATUS_RESOURCE_EXHAUSTED, member->rank, "gets no memory",
                     met);
}

tfrt_status_t tfrt_cpu_ccl_round_create(tfrt_cpu_ccl_member_t* member, const tfrt_ccl_call_t* calls,
                                        size_t count, tfrt_cpu_ccl_met_fn_t met_fn, void* argument,
                                        tfrt_cpu_ccl_round_t** out_round) {
  tfrt_cpu_ccl_round_t* round = cpu_ccl_allocate(sizeof(*round) + count * sizeof(*round->meetings));
  *out_round = round;
  if (!round) return tfrt_status_out_of_memory();
  round->member = member;
  round->met = met_fn;
  round->argument = argument;
  round->pending = 1;
  round->count = count;
  round->calls = calls;
  tfrt_cpu_ccl_met_t met = {0};
  cpu_ccl_lock();
  for (size_t i = 0; i < count && !member->group->broken; ++i) {
    cpu_ccl_round_enter(round, i, &met);
  }
  cpu_ccl_unlock(&met);
  return NULL;
}

// Copies the inputs of |round| to its places: they are its own until it arrives.
static void cpu_ccl_round_copy(const tfrt_cpu_ccl_round_t* round) {
  for (size_t i = 0; i < round->count; ++i) {
    const tfrt_ccl_call_t* call = &round->calls[i];
    if (!round->meetings[i]) continue;
    const tfrt_cpu_ccl_place_t* place =
        &round->meetings[i]->places[cpu_ccl_place_of(round->member, call)];
    if (place->input_size == 0) continue;
    memcpy(place->input, (const void*)(uintptr_t)call->source, place->input_size);
  }
}

void tfrt_cpu_ccl_round_arrive(tfrt_cpu_ccl_round_t* round) {
  cpu_ccl_round_copy(round);
  tfrt_cpu_ccl_met_t met = {0};
  cpu_ccl_lock();
  for (size_t i = 0; i < round->count; ++i) {
    tfrt_cpu_ccl_meeting_t* meeting = round->meetings[i];
    if (!meeting || ++meeting->arrived < meeting->place_count) continue;
    cpu_ccl_meeting_end(meeting, &met);
  }
  cpu_ccl_round_count_down(round, &met);
  cpu_ccl_unlock(&met);
}

void tfrt_cpu_ccl_round_break(tfrt_cpu_ccl_round_t* round, tfrt_status_t reason) {
  tfrt_cpu_ccl_met_t met = {0};
  cpu_ccl_lock();
  cpu_ccl_group_break(round->member->group, reason, &met);
  cpu_ccl_round_count_down(round, &met);
  cpu_ccl_unlock(&met);
}

// Writes what call |index| gets; nobody changes the inputs any more.
static tfrt_status_t cpu_ccl_round_write(const tfrt_cpu_ccl_round_t* round, size_t index) {
  const tfrt_cpu_ccl_meeting_t* meeting = round->meetings[index];
  const tfrt_ccl_call_t* call = &round->calls[index];
  const void** inputs =
      tfrt_allocator_allocate_array(tfrt_allocator_system(), meeting->place_count, sizeof(*inputs));
  if (!inputs) return tfrt_status_out_of_memory();
  for (uint32_t i = 0; i < meeting->place_count; ++i) inputs[i] = meeting->places[i].input;
  tfrt_cpu_ccl_compute(call, round->member->rank, round->member->group->size, inputs);
  tfrt_allocator_free(tfrt_allocator_system(), inputs, meeting->place_count * sizeof(*inputs));
  return NULL;
}

tfrt_status_t tfrt_cpu_ccl_round_finish(tfrt_cpu_ccl_round_t* round) {
  cpu_ccl_lock();
  tfrt_status_t broken = round->member->group->broken;
  tfrt_status_t status = broken ? tfrt_status_retain(broken) : NULL;
  tfrt_mutex_unlock(&mutex);
  for (size_t i = 0; i < round->count && !status; ++i) status = cpu_ccl_round_write(round, i);
  cpu_ccl_lock();
  for (size_t i = 0; i < round->count; ++i) {
    tfrt_cpu_ccl_meeting_t* meeting = round->meetings[i];
    // A member that has not entered a finished meeting never will: the group is broken then.
    if (meeting && ++meeting->finished == meeting->known) cpu_ccl_meeting_free(meeting);
  }
  tfrt_mutex_unlock(&mutex);
  tfrt_allocator_free(tfrt_allocator_system(), round,
                      sizeof(*round) + round->count * sizeof(*round->meetings));
  return status;
}
