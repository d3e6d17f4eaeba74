// SPDX-License-Identifier: Apache-2.0
//
// Shared by the fake driver's entry points: the begin and end of a call, the current context, the
// check of handles; and their declarations, in the types of our own table. Private to the fake.
//
//   begin (locks; the failure that a test wants; context, stream) --> checks --> end (unlocks)
//
// Thread rule: a call holds tfrt_fake.mutex from its begin, whatever that returns, to its end.
// Failure rule: results are the driver's numbers; a misuse by the caller is a defect.
#ifndef TFRT_TESTS_FAKES_CUDA_FAKE_CUDA_CALL_H_
#define TFRT_TESTS_FAKES_CUDA_FAKE_CUDA_CALL_H_

#include "tests/fakes/cuda/fake_cuda_state.h"

// --- Calls -----------------------------------------------------------------------------

// Begins a call of |name|: takes the mutex, and returns what the call is to fail with, or 0.
int tfrt_fake_begin(const char* name);

// OK (0) if this thread has a current context, which is |context| unless that is NULL, and it is
// alive; else the driver's error, and a defect if it is the caller's. With the mutex held.
int tfrt_fake_check_context(const char* name, const tfrt_fake_context_t* context);

// The same for a call that needs a current context; |context|, unless NULL, is the one that it
// must be.
int tfrt_fake_begin_in_context(const char* name, const tfrt_fake_context_t* context);

// The same for a call about |stream|, which is of the current context.
int tfrt_fake_begin_in_stream(const char* name, tfrt_fake_stream_t* stream);

// Lets the mutex go and returns |result|.
int tfrt_fake_end(int result);

// --- With the mutex held ---------------------------------------------------------------

// The context that this thread has made current last; there is one.
tfrt_fake_context_t* tfrt_fake_current(void);

// Makes |context| current in this thread, and undoes that; NULL if there is nothing to undo.
void tfrt_fake_push_current(tfrt_fake_context_t* context);
tfrt_fake_context_t* tfrt_fake_pop_current(void);

// Whether |link| is in the list |head|; else the handle is wrong, which is a defect.
bool tfrt_fake_is_handle(const tfrt_list_link_t* head, const tfrt_list_link_t* link,
                         const char* what);

// Whether |event| is an event that was not destroyed.
bool tfrt_fake_is_event(tfrt_fake_event_t* event);

// Whether work of |context| may use |size| bytes at |address|; |is_peer_copy| allows the memory of
// a peer that is within reach. A defect if not.
bool tfrt_fake_can_use(const tfrt_fake_context_t* context, tfrt_cuda_address_t address, size_t size,
                       bool is_peer_copy);

// Whether |pool| is the default pool of a device.
bool tfrt_fake_pool_is_default(const tfrt_fake_pool_t* pool);

// The living block of a pool that begins at |address|, or NULL.
const tfrt_fake_block_t* tfrt_fake_pool_find(const void* address);

// Whether an op that was given and is not done touches |block|.
bool tfrt_fake_is_in_use(const tfrt_fake_block_t* block);

// How many of the streams, events, modules and so on in the list |head| are of |context|; of any:
// NULL.
int tfrt_fake_count_in(const tfrt_list_link_t* head, const tfrt_fake_context_t* context);

// Ends the capture of |stream|, if there is one, and forgets what it has captured.
void tfrt_fake_capture_drop(tfrt_fake_stream_t* stream);

// --- Entry points ----------------------------------------------------------------------

// tfrt_fake_MemAlloc() is cuMemAlloc, and so on.
#define TFRT_FAKE_ENTRY(name, version, is_required, parameters) \
  tfrt_cuda_result_t tfrt_fake_##name parameters;
TFRT_CUDA_ENTRIES(TFRT_FAKE_ENTRY)
#undef TFRT_FAKE_ENTRY

#endif  // TFRT_TESTS_FAKES_CUDA_FAKE_CUDA_CALL_H_
