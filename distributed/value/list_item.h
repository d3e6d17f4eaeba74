// SPDX-License-Identifier: Apache-2.0
//
// Lists, and other aggregates, as items of messages, and back. The message has one item for each
// element: a small value, an error, or a reference to its place. So a payload goes directly from
// its owner to its user.
//
//   owner      object of the list --> its elements: exports of ours, handles on those of others
//   borrower   list's value --> list --> elements, by way of the list's hold or loan
//
// A list within a list is a reference, whatever its state.
//
// Thread rule: everything here needs the node's lock, but what says otherwise.
// Failure rule: see each function; what comes from the wire is never trusted.
#ifndef TFRT_DISTRIBUTED_VALUE_LIST_ITEM_H_
#define TFRT_DISTRIBUTED_VALUE_LIST_ITEM_H_

#include "distributed/domain/job.h"
#include "distributed/value/object_table.h"
#include "distributed/value/remote_value.h"

// Sets |*out_item| to the LIST that the available |value| (+0), an aggregate, is for |peer|. The
// values that it refers to live as long as |object|, under which |value| is wanted (NULL: nobody
// holds that any more). Memory comes from |arena|; inline bodies are borrowed from |value|.
// FAILED_PRECONDITION for a peer of a version that knows no lists, or too many elements; NOT_FOUND;
// RESOURCE_EXHAUSTED.
tfrt_status_t tfrt_list_item_encode(tfrt_async_value_t* value, const tfrt_peer_t* peer,
                                    tfrt_job_t* job, tfrt_object_t* object, tfrt_arena_t* arena,
                                    tfrt_wire_item_t* out_item) TFRT_MUST_USE;

// Returns the list (+1) that |wire|, which came for the unresolved |value|, describes: available,
// or the error that says what is wrong with it. Never NULL.
tfrt_async_value_t* tfrt_list_item_decode(tfrt_remote_value_t* value, const tfrt_wire_list_t* wire)
    TFRT_MUST_USE;

// Returns a value (+1) that will be |value| (taken) as soon as that is here with all of its parts;
// it is asked for. Every element of a list is here then, at any depth, or an error in its place.
// None is a placeholder for another host's value, as placeholders belong to the job. So the value
// may be kept longer than its job.
//
//   list --> element: placeholder --> i32      whole: list --> element: i32
//        `-> element: placeholder --> error               `-> element: error
//
// |allocator| outlives it. Never NULL. Thread-safe; takes the node's lock, by asking for payloads.
tfrt_async_value_t* tfrt_list_item_whole_take(tfrt_async_value_t* value, tfrt_allocator_t allocator)
    TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_VALUE_LIST_ITEM_H_
