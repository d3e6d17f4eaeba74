// SPDX-License-Identifier: Apache-2.0
//
// The values that this host owns and others know by name. *Slots* are results of calls that it runs
// for others; the caller named them before the call ran. *Exports* are local values lent to others,
// named here. Guarded by the node's lock.
//
//   name (namer, number, index) --> object --> AsyncValue (+1)
//                                     |------> holders: incarnations; loans: our own calls
//
// Life of an object:
//  1. Made for an Invoke (holder: the caller) or for a loan (one loan).
//  2. Served to hosts that want it: an export in any state, a slot once its call has told what it
//     is.
//  3. Freed when it has neither holder nor loan: its name means nothing any more. If it is a list
//     that others were given, the names of its elements are freed then, too.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: creation gives NULL when memory is out.
#ifndef TFRT_DISTRIBUTED_VALUE_OBJECT_TABLE_H_
#define TFRT_DISTRIBUTED_VALUE_OBJECT_TABLE_H_

#include "distributed/domain/domain.h"
#include "distributed/domain/node_part.h"
#include "distributed/wire/value.h"
#include "host_runtime/base/hash_table.h"
#include "host_runtime/base/list.h"

typedef struct tfrt_job_s tfrt_job_t;

// The remote values to which this host has sent askers on from one of its objects. An asker hears
// what is known at that time: first the host of the call that has the value. After that call has
// told, askers hear where the call got the value from. Our own handles keep those values for the
// askers. Each handle must live as long as the object, even if a copy is here by now.
//
// A set, empty when all zero; nearly always of one, which needs no memory.
typedef struct tfrt_kept_values_s {
  tfrt_async_value_t* value;          // +1, or NULL
  struct tfrt_kept_values_s* others;  // NULL while |value| is
} tfrt_kept_values_t;

// A process that holds an object, and how often: once for the call whose result it is, once for
// each Retain. A set per object; nearly always of one.
typedef struct tfrt_object_holder_s {
  struct tfrt_object_holder_s* next;
  uint64_t incarnation;
  uint32_t count;
} tfrt_object_holder_t;

// The answers that other hosts got about an element of a list. Both live as long as the list's
// object does.
typedef struct tfrt_object_element_s {
  tfrt_wire_object_id_t exported;  // our name for it, one loan; number 0: none
  tfrt_kept_values_t kept;         // another host's value, or what that turned out to be
} tfrt_object_element_t;

typedef struct tfrt_object_elements_s {
  struct tfrt_object_elements_s* next;  // of those whose object is gone
  uint32_t count;
  tfrt_object_element_t items[];
} tfrt_object_elements_t;

// Ties a slot to what will give it its value. Neither owns the other; both may go first.
typedef struct tfrt_object_promise_s {
  struct tfrt_object_s* object;        // NULL: it is gone, or has its value
  tfrt_indirect_value_t* placeholder;  // +1; made when the value is first needed; or NULL
} tfrt_object_promise_t;

typedef struct tfrt_object_s {
  tfrt_hash_node_t by_id;
  tfrt_wire_object_id_t id;
  tfrt_job_t* job;  // +0: the job frees its objects when it closes
  tfrt_list_link_t in_job;
  tfrt_async_value_t* value;         // +1; NULL: promised, and nobody has needed it so far
  tfrt_object_promise_t* promise;    // +0; of a slot that has no value of its own yet; or NULL
  tfrt_kept_values_t kept;           // another host's value that we said this is
  tfrt_object_elements_t* elements;  // of a list that others were given; else NULL
  tfrt_object_holder_t* holders;
  tfrt_object_holder_t first_holder;  // the storage of one of them; its count is 0 while unused
  uint32_t loans;
  // Wants that are served when the call says what the slot is, Pushes first.
  tfrt_list_link_t waiting;
  bool is_told;  // it has, or there is no call
  // Its caller knows that it is an argument: its value here, which was lent for the call, is kept
  // by nobody.
  bool is_alias;
  int64_t since_ns;  // when it was made, by the node's tick
  // The maker of the object, for people: |function| of |program| (+1), or the caller's |name|,
  // which lives as long as the job. NULL: not known. See tfrt_object_set_maker().
  struct tfrt_cached_program_s* program;
  uint32_t function;
  const char* name;
} tfrt_object_t;

// Takes all |waiting| wants out of the list of |object|, which is about to be freed.
typedef void (*tfrt_object_abandon_fn_t)(tfrt_object_t* object);

typedef struct tfrt_object_table_s {
  tfrt_allocator_t allocator;
  tfrt_action_queue_t* actions;  // releases values once the lock is open
  tfrt_hash_table_t by_id;
  uint64_t incarnation;  // ours
  uint64_t next_number;  // of exports; from 1
  tfrt_object_abandon_fn_t abandon;
  tfrt_object_elements_t* ended;  // whose loans are to be ended; NULL outside of a function below
  int64_t tick_ns;                // the time, as exact as the node's heartbeats
} tfrt_object_table_t;

// Makes |table| an empty one of the process |incarnation|. |abandon| takes all wants out of the
// list of an object that goes.
void tfrt_object_table_initialize(tfrt_object_table_t* table, uint64_t incarnation,
                                  tfrt_object_abandon_fn_t abandon, tfrt_action_queue_t* actions,
                                  tfrt_allocator_t allocator);

// Frees everything in |table|.
void tfrt_object_table_deinitialize(tfrt_object_table_t* table);

// The object |id| of |job|, or NULL.
tfrt_object_t* tfrt_object_table_find(tfrt_object_table_t* table, tfrt_wire_object_id_t id,
                                      const tfrt_job_t* job);

// Adds a slot for |value| (consumed; NULL: it is promised next) under the name |id| with the
// holder |holder|. NULL, with |value| released, when memory is out or the name is in use.
tfrt_object_t* tfrt_object_table_add_slot(tfrt_object_table_t* table, tfrt_wire_object_id_t id,
                                          tfrt_job_t* job, tfrt_async_value_t* value,
                                          uint64_t holder);

// Says that |function| of |program| (retained, may be NULL) has made |object|.
void tfrt_object_set_maker(tfrt_object_t* object, struct tfrt_cached_program_s* program,
                           uint32_t function);

// Ties |object|, a slot without a value, to |promise|, all zero, which must be fulfilled or broken
// before its memory goes.
static inline void tfrt_object_table_promise(tfrt_object_t* object,
                                             tfrt_object_promise_t* promise) {
  object->promise = promise;
  promise->object = object;
}

// Makes |value| (+0) the value that |promise| was for: that of the slot, if the slot is still
// there, and that of its placeholder, if there is one. The placeholder stays until the promise is
// broken.
void tfrt_object_table_fulfil(tfrt_object_table_t* table, tfrt_object_promise_t* promise,
                              tfrt_async_value_t* value);

// Unties |promise|, which was fulfilled, or never will be.
void tfrt_object_table_break(tfrt_object_table_t* table, tfrt_object_promise_t* promise);

// The value (+0, as long as |object|) of |object|, or a placeholder for what it was promised. An
// error when memory is out.
tfrt_async_value_t* tfrt_object_table_value(tfrt_object_t* object);

// Adds an export of |value| (+0) with one loan, under a name of ours. NULL when memory is
// out.
tfrt_object_t* tfrt_object_table_export(tfrt_object_table_t* table, tfrt_job_t* job,
                                        tfrt_async_value_t* value);

// Says that the slot |object| of a call is |value| (+0), which is here, or known to be elsewhere;
// its wants are the caller's to serve. NULL is allowed for |object|.
void tfrt_object_table_tell(tfrt_object_table_t* table, tfrt_object_t* object,
                            tfrt_async_value_t* value);

// In the place of the index of an element.
#define TFRT_OBJECT_WHOLE UINT32_MAX

// Notes that others hear that the element |element| of |object|, or TFRT_OBJECT_WHOLE, is |remote|
// (+0): see |kept|. NULL is allowed for |object|. False when memory is out: then others must not
// hear that.
bool tfrt_object_table_keep(tfrt_object_table_t* table, tfrt_object_t* object, uint32_t element,
                            tfrt_async_value_t* remote);

// Makes room in |object|, a list that others are about to be given, for |count| elements, unless
// there is. False when memory is out.
bool tfrt_object_table_add_elements(tfrt_object_table_t* table, tfrt_object_t* object,
                                    uint32_t count);

// The export of |value| (+0), the element |index| of |object|, with a loan that ends with |object|:
// the one that there is, or a new one. NULL when memory is out.
tfrt_object_t* tfrt_object_table_lend_element(tfrt_object_table_t* table, tfrt_object_t* object,
                                              uint32_t index, tfrt_async_value_t* value);

// True if others have heard that an object, or an element of one, is |remote|: see |kept|.
bool tfrt_object_table_keeps(const tfrt_object_table_t* table, const tfrt_async_value_t* remote);

// Ends one loan of |object|, or one hold of |holder| on it; frees it if that was the last.
// The latter returns false if |holder| did not hold it.
void tfrt_object_table_end_loan(tfrt_object_table_t* table, tfrt_object_t* object);
bool tfrt_object_table_end_hold(tfrt_object_table_t* table, tfrt_object_t* object, uint64_t holder);

// Adds a hold of |holder|, which may have some already. False when memory is out.
bool tfrt_object_table_hold(tfrt_object_table_t* table, tfrt_object_t* object, uint64_t holder);

// Ends every hold of |holder| on objects of |job|, or frees every object of |job|.
void tfrt_object_table_drop_holder(tfrt_object_table_t* table, uint64_t holder, tfrt_job_t* job);
void tfrt_object_table_drop_job(tfrt_object_table_t* table, tfrt_job_t* job);

// The number of objects.
static inline size_t tfrt_object_table_count(const tfrt_object_table_t* table) {
  return tfrt_hash_table_count(&table->by_id);
}

// Has objects, and holds on them, end with their owners.
extern const tfrt_node_part_t tfrt_object_table_part;

#endif  // TFRT_DISTRIBUTED_VALUE_OBJECT_TABLE_H_
