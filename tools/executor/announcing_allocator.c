// SPDX-License-Identifier: Apache-2.0
#include "tools/executor/announcing_allocator.h"

#include <stdio.h>

// Blocks up to this size are nobody's business.
#define TFRT_ANNOUNCING_ALLOCATOR_EXEMPT 32

static tfrt_allocator_t announcing_allocator_of(void* self, size_t size) {
  if (size <= TFRT_ANNOUNCING_ALLOCATOR_EXEMPT) return tfrt_allocator_system();
  return ((tfrt_announcing_allocator_t*)self)->base;
}

static void* announcing_allocator_allocate(void* self, size_t size, size_t alignment) {
  void* block =
      tfrt_allocator_allocate_aligned(announcing_allocator_of(self, size), size, alignment);
  if (size > TFRT_ANNOUNCING_ALLOCATOR_EXEMPT) {
    printf(block ? "Allocating %zu bytes.\n" : "Attempted to allocate %zu bytes.\n", size);
  }
  return block;
}

static void announcing_allocator_deallocate(void* self, void* pointer, size_t size,
                                            size_t alignment) {
  if (size > TFRT_ANNOUNCING_ALLOCATOR_EXEMPT) printf("Deallocating %zu bytes.\n", size);
  tfrt_allocator_free_aligned(announcing_allocator_of(self, size), pointer, size, alignment);
}

void tfrt_announcing_allocator_initialize(tfrt_announcing_allocator_t* allocator,
                                          tfrt_allocator_t base) {
  allocator->base = base;
}

tfrt_allocator_t tfrt_announcing_allocator_interface(tfrt_announcing_allocator_t* allocator) {
  static const tfrt_allocator_vtable_t vtable = {
      .allocate = announcing_allocator_allocate,
      .deallocate = announcing_allocator_deallocate,
  };
  return (tfrt_allocator_t){&vtable, allocator};
}

// --- By name -------------------------------------------------------------------------

typedef struct tfrt_fixed_size_allocator_s {
  tfrt_counting_allocator_t budget;
  tfrt_announcing_allocator_t announcer;  // around |budget|
} tfrt_fixed_size_allocator_t;

static tfrt_status_t fixed_size_allocator_create(const char* arguments,
                                                 tfrt_allocator_t* out_allocator) {
  (void)arguments;
  tfrt_fixed_size_allocator_t* fixed =
      tfrt_allocator_allocate(tfrt_allocator_system(), sizeof(*fixed));
  if (!fixed) return tfrt_status_out_of_memory();
  tfrt_counting_allocator_initialize(&fixed->budget, tfrt_allocator_system(), 1024);
  tfrt_announcing_allocator_initialize(&fixed->announcer,
                                       tfrt_counting_allocator_interface(&fixed->budget));
  *out_allocator = tfrt_announcing_allocator_interface(&fixed->announcer);
  return NULL;
}

static bool fixed_size_allocator_finish(tfrt_allocator_t allocator, tfrt_string_builder_t* report) {
  (void)report;
  tfrt_announcing_allocator_t* announcer = (tfrt_announcing_allocator_t*)allocator.self;
  tfrt_fixed_size_allocator_t* fixed =
      TFRT_CONTAINER_OF(announcer, tfrt_fixed_size_allocator_t, announcer);
  tfrt_allocator_free(tfrt_allocator_system(), fixed, sizeof(*fixed));
  return true;
}

const tfrt_allocator_type_t* tfrt_announcing_allocator_type(void) {
  static const tfrt_allocator_type_t type = {{"test_fixed_size_1k", ""},
                                             "Choosing fixed size malloc.",
                                             fixed_size_allocator_create,
                                             fixed_size_allocator_finish};
  return &type;
}
