// SPDX-License-Identifier: Apache-2.0
//
// Allocators by name, for the flag that chooses what programs' memory comes from (choice.h has
// the form of the text):
//
//   malloc                 the system's
//   profiled_allocator     the same, counted; tells the counts at the end
//   leak_check_allocator   the same; tells them, and fails, only if something is left
//
// Life:
//  1. A type is registered once per process, by a main or by the `set_up` of a kernel library.
//  2. An allocator is made of it, used, and finished when nobody allocates any more.
//
// Thread rule: everything is thread-safe, but for finishing: once per allocator.
// Failure rule: as choice.h; what the type itself refuses is its own error.
#ifndef TFRT_HOST_RUNTIME_BASE_ALLOCATOR_TYPE_H_
#define TFRT_HOST_RUNTIME_BASE_ALLOCATOR_TYPE_H_

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/choice.h"
#include "host_runtime/base/counting_allocator.h"

TFRT_API_BEGIN

typedef struct tfrt_allocator_type_s {
  tfrt_choice_t choice;
  const char* announcement;  // the line that bef_executor prints; NULL: "Choosing NAME."
  // Sets |*out_allocator|; |arguments| as choice.h says.
  tfrt_status_t (*create)(const char* arguments, tfrt_allocator_t* out_allocator);
  // Appends what there is to say of |allocator| to |report|, in whole lines, and gives it back.
  // Blocks that are still alive are leaks, which nobody will free any more. Returns false if the
  // process is to fail for them.
  bool (*finish)(tfrt_allocator_t allocator, tfrt_string_builder_t* report);
} tfrt_allocator_type_t;

// Registers |type|, which must be static. Errors as tfrt_choice_add(). Thread-safe.
tfrt_status_t tfrt_allocator_type_register(const tfrt_allocator_type_t* type) TFRT_MUST_USE;

// Sets |*out_allocator| to a new allocator that |text| names, and |*out_type| to its type, which
// finishes it. Errors: see above. Thread-safe.
tfrt_status_t tfrt_allocator_create_by_name(const char* text, tfrt_allocator_t* out_allocator,
                                            const tfrt_allocator_type_t** out_type) TFRT_MUST_USE;

// Appends what |counts| say as TFRT's profile does: a heading and five lines. For types of
// others that count, too. Thread-safe, as |out| is.
void tfrt_allocation_counts_append(const tfrt_allocation_counts_t* counts,
                                   tfrt_string_builder_t* out);

// The same under the heading "|name| profile:". Thread-safe, as |out| is.
void tfrt_allocation_counts_append_as(const char* name, const tfrt_allocation_counts_t* counts,
                                      tfrt_string_builder_t* out);

// The type `profiled_allocator`, for mains that count more for it. Thread-safe.
const tfrt_allocator_type_t* tfrt_profiled_allocator_type(void);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_BASE_ALLOCATOR_TYPE_H_
