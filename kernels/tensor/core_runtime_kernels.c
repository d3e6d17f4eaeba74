// SPDX-License-Identifier: Apache-2.0
//
// Handles of tensors and names of op handlers, as programs for TFRT's core runtime make them. That
// runtime uses them to run an op by its name; here eager/eager_op.h does so.

#include <string.h>

#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/host_context.h"
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/tensor/kernel_groups.h"
#include "kernels/tensor/kernel_parts/compute.h"
#include "kernels/tensor/kernel_parts/printing.h"
#include "kernels/tensor/kernel_parts/tensor_making.h"
#include "kernels/tensor/ops/ops.h"

// --- Types ---------------------------------------------------------------------

static tfrt_type_id_t handler_type;
static tfrt_type_id_t handle_type;

// The payload of a handle: a tensor, +1.
static void destroy_handle(void* payload) {
  tfrt_async_value_release(*(tfrt_async_value_t**)payload);
}

tfrt_status_t tfrt_core_runtime_types_register(void) {
  static const tfrt_type_t handler = {.name = "!corert.ophandler"};
  static const tfrt_type_t handle = {.name = "!corert.tensorhandle",
                                     .size = sizeof(tfrt_async_value_t*),
                                     .destroy = destroy_handle};
  TFRT_RETURN_IF_ERROR(tfrt_type_register(&handler, &handler_type));
  return tfrt_type_register(&handle, &handle_type);
}

// --- Handlers -------------------------------------------------------------------

static void create_handler(tfrt_kernel_frame_t* frame) {
  tfrt_async_value_t* handler = tfrt_async_value_create_available(handler_type);
  tfrt_kernel_frame_set(frame, 0, handler ? handler : tfrt_async_value_out_of_memory());
}

// That there is a handler of a name. It keeps no value: all handlers are alike, and a value that
// outlives the function that made it would look like a leak.
typedef struct registered_handler_s {
  tfrt_resource_t base;
  size_t size;  // of the whole
  char name[];  // of the resource
} registered_handler_t;

// Prefix of the names of handlers among the host's objects.
#define HANDLER_PREFIX "corert.op_handler "

static void destroy_handler(tfrt_resource_t* resource) {
  registered_handler_t* kept = TFRT_CONTAINER_OF(resource, registered_handler_t, base);
  tfrt_allocator_free(tfrt_allocator_system(), kept, kept->size);
}

// A new registration under the name that |attribute| is; NULL when memory is out.
static registered_handler_t* new_registration(const void* attribute) {
  tfrt_string_view_t name = tfrt_bef_attribute_string(attribute);
  size_t size = sizeof(registered_handler_t) + sizeof(HANDLER_PREFIX) + name.size;
  registered_handler_t* kept = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), size);
  if (!kept) return NULL;
  memcpy(kept->name, HANDLER_PREFIX, sizeof(HANDLER_PREFIX));
  if (name.size > 0) memcpy(kept->name + sizeof(HANDLER_PREFIX) - 1, name.data, name.size);
  kept->base = (tfrt_resource_t){.name = kept->name, .destroy = destroy_handler};
  kept->size = size;
  return kept;
}

static void register_handler(tfrt_kernel_frame_t* frame) {
  registered_handler_t* kept = new_registration(frame->attributes[0]);
  if (!kept) {
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_out_of_memory());
    return;
  }
  // The name of the first one wins; what comes second is destroyed there.
  tfrt_resource_t* first = tfrt_resource_context_add(&frame->context->host->shared, &kept->base);
  if (first == &kept->base) {
    tfrt_kernel_frame_set_ready_chain(frame, 0);
  } else {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_ALREADY_EXISTS,
                           "op_handler '%s' is registered already",
                           first->name + sizeof(HANDLER_PREFIX) - 1);
  }
}

static void get_handler(tfrt_kernel_frame_t* frame) {
  tfrt_string_builder_t name;
  tfrt_string_builder_initialize(&name, tfrt_kernel_frame_allocator(frame));
  tfrt_string_builder_append_text(&name, HANDLER_PREFIX);
  tfrt_string_builder_append_view(&name, tfrt_bef_attribute_string(frame->attributes[0]));
  tfrt_resource_t* found =
      tfrt_resource_context_find(&frame->context->host->shared, tfrt_string_builder_text(&name));
  if (found) {
    create_handler(frame);
  } else {
    tfrt_kernel_frame_fail(
        frame, TFRT_STATUS_NOT_FOUND, "op_handler not found: '%.*s'",
        TFRT_STRING_VIEW_ARGUMENTS(tfrt_bef_attribute_string(frame->attributes[0])));
  }
  tfrt_string_builder_deinitialize(&name);
}

// --- Handles --------------------------------------------------------------------

static tfrt_async_value_t* tensor_of(const tfrt_kernel_frame_t* frame) {
  return *(tfrt_async_value_t**)tfrt_kernel_frame_payload(frame, 0);
}

// Makes result 0 of |frame| a handle of |tensor| (consumed), or the error that it is.
static void set_handle_take(tfrt_kernel_frame_t* frame, tfrt_async_value_t* tensor) {
  bool failed = tfrt_async_value_is_error(tensor);
  tfrt_async_value_t* handle = failed ? NULL : tfrt_async_value_create_available(handle_type);
  if (handle) {
    *(tfrt_async_value_t**)tfrt_async_value_payload(handle) = tensor;
    tfrt_kernel_frame_set(frame, 0, handle);
    return;
  }
  tfrt_kernel_frame_set(frame, 0, failed ? tensor : tfrt_async_value_out_of_memory());
  if (!failed) tfrt_async_value_release(tensor);
}

static void constant(tfrt_kernel_frame_t* frame) {
  tfrt_dense_host_tensor_t tensor;
  tfrt_status_t status =
      tfrt_make_constant(frame->attributes[0], tfrt_kernel_frame_allocator(frame), &tensor);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
  } else {
    set_handle_take(frame, tfrt_async_value_create_tensor_take(&tensor));
  }
}

static void string_constant(tfrt_kernel_frame_t* frame) {
  tfrt_string_host_tensor_t tensor;
  tfrt_status_t status = tfrt_make_strings(frame->attributes[0], frame->attributes[1],
                                           tfrt_kernel_frame_allocator(frame), &tensor);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
  } else {
    set_handle_take(frame, tfrt_async_value_create_string_tensor_take(&tensor));
  }
}

static void to_handle(tfrt_kernel_frame_t* frame) {
  set_handle_take(frame, tfrt_async_value_retain(frame->arguments[0]));
}

static void to_tensor(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(tensor_of(frame)));
}

static void to_shape(tfrt_kernel_frame_t* frame) {
  const tfrt_host_tensor_t* tensor = tfrt_async_value_payload(tensor_of(frame));
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_shape(tfrt_host_tensor_shape(tensor)));
}

static void print(tfrt_kernel_frame_t* frame) {
  tfrt_string_builder_t line;
  tfrt_string_builder_initialize(&line, tfrt_kernel_frame_allocator(frame));
  tfrt_host_tensor_print(tfrt_async_value_payload(tensor_of(frame)), &line);
  tfrt_print_line_take(frame, &line);
}

static const tfrt_kernel_registration_t registrations[] = {
    {"corert.create_null_op_handler", create_handler},
    {"corert.create_cpu_op_handler", create_handler},
    {"corert.register_op_handler", register_handler},
    {"corert.get_op_handler", get_handler},
    {"corert.const_dense_tensor", constant},
    {"corert.const_string_tensor", string_constant},
    {"corert.ht_to_tensorhandle", to_handle},
    {"corert.tensorhandle_to_ht", to_tensor},
    {"corert.tensorhandle_to_shape", to_shape},
    {"corert.print_tensorhandle", print},
};

const tfrt_kernel_group_t tfrt_core_runtime_kernels = {&tfrt_core_runtime_ops, registrations,
                                                       TFRT_ARRAY_SIZE(registrations)};
