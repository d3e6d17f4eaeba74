// SPDX-License-Identifier: Apache-2.0
#include "devices/device_dnn_plan.h"

#include <inttypes.h>

void tfrt_device_dnn_plan_initialize(tfrt_device_dnn_plan_t* plan,
                                     const tfrt_device_dnn_plan_vtable_t* vtable,
                                     tfrt_device_t* device, const tfrt_dnn_plan_form_t* form) {
  plan->vtable = vtable;
  tfrt_ref_count_initialize(&plan->ref_count);
  plan->device = tfrt_device_retain(device);
  plan->form = *form;
}

tfrt_device_dnn_plan_t* tfrt_device_dnn_plan_retain(tfrt_device_dnn_plan_t* plan) {
  tfrt_ref_count_increment(&plan->ref_count);
  return plan;
}

void tfrt_device_dnn_plan_release(tfrt_device_dnn_plan_t* plan) {
  if (!plan || !tfrt_ref_count_decrement(&plan->ref_count)) return;
  tfrt_device_t* device = plan->device;
  plan->vtable->destroy(plan);
  tfrt_device_release(device);
}

// --- Checks of forms ---------------------------------------------------------------------

// Checks that the |count| |numbers|, which messages call |name|, lie from |least| to INT32_MAX.
static tfrt_status_t dnn_plan_check_numbers(const char* name, const int64_t* numbers,
                                            uint32_t count, int64_t least) {
  for (uint32_t i = 0; i < count; ++i) {
    if (numbers[i] >= least && numbers[i] <= INT32_MAX) continue;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s[%u] is %" PRId64 "; give a number from %" PRId64 " to %d", name,
                              i, numbers[i], least, INT32_MAX);
  }
  return NULL;
}

// A layout, and what messages call its parts.
typedef struct tfrt_dnn_named_layout_s {
  const char* type;
  const char* sizes;
  const char* steps;
  const tfrt_dnn_layout_t* layout;
} tfrt_dnn_named_layout_t;

static bool dnn_plan_is_dtype(tfrt_dtype_t dtype) {
  switch (dtype) {
    case TFRT_DTYPE_F32:
    case TFRT_DTYPE_F64:
    case TFRT_DTYPE_F16:
    case TFRT_DTYPE_BF16:
    case TFRT_DTYPE_I8:
      return true;
    default:
      return false;
  }
}

static tfrt_status_t dnn_plan_check_layout(const tfrt_dnn_named_layout_t* named, uint32_t rank) {
  const tfrt_dnn_layout_t* layout = named->layout;
  if (!dnn_plan_is_dtype(layout->dtype)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s is %s; plans take f32, f64, f16, bf16 and i8", named->type,
                              tfrt_dtype_name(layout->dtype));
  }
  if (layout->rank != rank) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s has %u numbers; with a conv_dim of %u give %u", named->sizes,
                              layout->rank, rank - 2, rank);
  }
  TFRT_RETURN_IF_ERROR(dnn_plan_check_numbers(named->sizes, layout->sizes, rank, 1));
  return dnn_plan_check_numbers(named->steps, layout->steps, rank, 1);
}

static tfrt_status_t dnn_plan_check_layouts(const tfrt_dnn_plan_form_t* form) {
  const tfrt_dnn_named_layout_t layouts[] = {
      {"input_type", "input_dims", "input_strides", &form->x},
      {"input_type", "filter_dims", "filter_strides", &form->w},
      {"output_type", "output_dims", "output_strides", &form->y},
      {"bias_type", "bias_dims", "bias_strides", &form->bias},
  };
  size_t count = TFRT_ARRAY_SIZE(layouts) - (form->is_fused ? 0 : 1);
  for (size_t i = 0; i < count; ++i) {
    TFRT_RETURN_IF_ERROR(dnn_plan_check_layout(&layouts[i], form->space + 2));
  }
  if (form->w.dtype == form->x.dtype) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "a filter of %s for an input of %s; give it the input's type",
                            tfrt_dtype_name(form->w.dtype), tfrt_dtype_name(form->x.dtype));
}

static tfrt_status_t dnn_plan_check_window(const tfrt_dnn_plan_form_t* form) {
  TFRT_RETURN_IF_ERROR(dnn_plan_check_numbers("conv_padding", form->padding, form->space, 0));
  TFRT_RETURN_IF_ERROR(dnn_plan_check_numbers("conv_strides", form->steps, form->space, 1));
  return dnn_plan_check_numbers("conv_dilations", form->dilation, form->space, 1);
}

// Checks that the sizes in space follow from each other.
static tfrt_status_t dnn_plan_check_space(const tfrt_dnn_plan_form_t* form) {
  for (uint32_t i = 0; i < form->space; ++i) {
    // All of 31 bits.
    int64_t reach = 1 + (form->w.sizes[2 + i] - 1) * form->dilation[i];
    int64_t room = form->x.sizes[2 + i] + 2 * form->padding[i] - reach;
    if (room < 0) {
      return tfrt_status_create(
          TFRT_STATUS_INVALID_ARGUMENT,
          "filter_dims[%u] reaches over %" PRId64 " places and input_dims[%u] has %" PRId64
          " with its padding; give a smaller filter or dilation, or more padding",
          2 + i, reach, 2 + i, room + reach);
    }
    int64_t expected = 1 + room / form->steps[i];
    if (form->y.sizes[2 + i] == expected) continue;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "output_dims[%u] is %" PRId64 " where %" PRId64
                              " follows from input_dims, filter_dims, conv_padding, conv_strides "
                              "and conv_dilations",
                              2 + i, form->y.sizes[2 + i], expected);
  }
  return NULL;
}

// Checks that batches and channels do.
static tfrt_status_t dnn_plan_check_channels(const tfrt_dnn_plan_form_t* form) {
  const int64_t* x = form->x.sizes;
  const int64_t* w = form->w.sizes;
  const int64_t* y = form->y.sizes;
  if (y[0] != x[0]) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "output_dims[0] is %" PRId64
                              " where input_dims[0], the batch, is "
                              "%" PRId64 "; give the same",
                              y[0], x[0]);
  }
  if (y[1] != w[0]) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "output_dims[1] is %" PRId64
                              " where filter_dims[0], the outputs, is "
                              "%" PRId64 "; give the same",
                              y[1], w[0]);
  }
  if (x[1] % w[1] == 0 && w[0] % (x[1] / w[1]) == 0) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "filter_dims[1] is %" PRId64
                            " where input_dims[1], the channels, is "
                            "%" PRId64
                            "; give the same, or a part of it that makes groups of all "
                            "%" PRId64 " outputs, too",
                            w[1], x[1], w[0]);
}

// Checks that the elements of |layout| lie without gaps, the axes in any order; messages call its
// steps |name|.
static tfrt_status_t dnn_plan_check_packed(const char* name, const tfrt_dnn_layout_t* layout) {
  bool is_seen[TFRT_DNN_MAX_RANK] = {false};
  int64_t expected = 1;
  for (;;) {
    // The innermost axis that wasn't seen; the step over a single element is none.
    uint32_t inner = layout->rank;
    for (uint32_t i = 0; i < layout->rank; ++i) {
      if (is_seen[i] || layout->sizes[i] == 1) continue;
      if (inner == layout->rank || layout->steps[i] < layout->steps[inner]) inner = i;
    }
    if (inner == layout->rank) return NULL;
    if (layout->steps[inner] != expected) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "%s[%u] is %" PRId64 " where %" PRId64
                                " leaves no gap; pack it, as libraries do not take gaps here",
                                name, inner, layout->steps[inner], expected);
    }
    is_seen[inner] = true;
    if (__builtin_mul_overflow(expected, layout->sizes[inner], &expected)) expected = INT64_MAX;
  }
}

// Checks what follows the convolution.
static tfrt_status_t dnn_plan_check_fused(const tfrt_dnn_plan_form_t* form) {
  if (form->direction != TFRT_DNN_FORWARD) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a fused convolution goes forward; give a backend_type of 10");
  }
  if (form->activation != TFRT_DNN_RELU && form->activation != TFRT_DNN_IDENTITY) {
    return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED,
                              "activation_mode %d is not implemented; give %d (relu) or %d "
                              "(identity)",
                              (int)form->activation, TFRT_DNN_RELU, TFRT_DNN_IDENTITY);
  }
  for (uint32_t i = 0; i < form->bias.rank; ++i) {
    int64_t size = form->bias.sizes[i];
    if (size == 1 || size == form->y.sizes[i]) continue;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "bias_dims[%u] is %" PRId64 " where output_dims[%u] is %" PRId64
                              "; give the same, or 1",
                              i, size, i, form->y.sizes[i]);
  }
  return dnn_plan_check_packed("bias_strides", &form->bias);
}

static tfrt_status_t dnn_plan_check_engine(const tfrt_dnn_engine_t* engine) {
  TFRT_RETURN_IF_ERROR(
      dnn_plan_check_numbers("tuning_knob_ids", engine->knob_types, engine->knob_count, 0));
  if (engine->index >= 0) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "engine_id is %" PRId64
                            "; give the library's number of an engine, "
                            "from 0",
                            engine->index);
}

tfrt_status_t tfrt_dnn_plan_check(const tfrt_dnn_plan_form_t* form,
                                  const tfrt_dnn_engine_t* engine) {
  if (form->space != 2 && form->space != 3) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "conv_dim is %u; give 2 or 3",
                              form->space);
  }
  TFRT_RETURN_IF_ERROR(dnn_plan_check_layouts(form));
  TFRT_RETURN_IF_ERROR(dnn_plan_check_window(form));
  TFRT_RETURN_IF_ERROR(dnn_plan_check_space(form));
  TFRT_RETURN_IF_ERROR(dnn_plan_check_channels(form));
  TFRT_RETURN_IF_ERROR(dnn_plan_check_packed("filter_strides", &form->w));
  if (form->is_fused) TFRT_RETURN_IF_ERROR(dnn_plan_check_fused(form));
  return dnn_plan_check_engine(engine);
}

tfrt_status_t tfrt_device_dnn_build(tfrt_device_dnn_t* dnn, const tfrt_dnn_plan_form_t* form,
                                    const tfrt_dnn_engine_t* engine,
                                    tfrt_device_dnn_plan_t** out_plan) {
  *out_plan = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_dnn_plan_check(form, engine));
  TFRT_RETURN_IF_ERROR(tfrt_device_check(dnn->device));
  return dnn->vtable->build(dnn, form, engine, out_plan);
}

// --- Runs --------------------------------------------------------------------------------

// Checks that |memory| has what |layout| says, and fills it in.
static tfrt_status_t device_dnn_plan_check_memory(tfrt_device_dnn_t* dnn,
                                                  const tfrt_dnn_layout_t* layout,
                                                  tfrt_dnn_memory_t* memory, const char* name) {
  // At most 5 products of 62 bits each: more than a word holds is saturated.
  uint64_t count = 1;
  for (uint32_t i = 0; i < layout->rank; ++i) {
    uint64_t part = ((uint64_t)layout->sizes[i] - 1) * (uint64_t)layout->steps[i];
    if (__builtin_add_overflow(count, part, &count)) count = UINT64_MAX;
  }
  tfrt_status_t status = tfrt_device_dnn_check_memory(dnn, memory, count, layout->dtype);
  if (!status && memory->address % TFRT_DNN_PLAN_ALIGNMENT != 0) {
    status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "its memory is not aligned; let it begin at a multiple of %d bytes",
                                TFRT_DNN_PLAN_ALIGNMENT);
  }
  return tfrt_status_take_annotate(status, "the %s of a plan", name);
}

// Checks all of |memory|, and fills it in.
static tfrt_status_t device_dnn_plan_check_memories(const tfrt_dnn_plan_form_t* form,
                                                    tfrt_device_dnn_t* dnn,
                                                    tfrt_dnn_plan_memory_t* memory) {
  TFRT_RETURN_IF_ERROR(device_dnn_plan_check_memory(dnn, &form->x, &memory->x, "input"));
  TFRT_RETURN_IF_ERROR(device_dnn_plan_check_memory(dnn, &form->y, &memory->y, "output"));
  TFRT_RETURN_IF_ERROR(device_dnn_plan_check_memory(dnn, &form->w, &memory->w, "filter"));
  TFRT_RETURN_IF_ERROR(tfrt_device_dnn_check_memory(dnn, &memory->workspace, 0, TFRT_DTYPE_UI8));
  if (!form->is_fused) return NULL;
  TFRT_RETURN_IF_ERROR(device_dnn_plan_check_memory(dnn, &form->y, &memory->z, "side_input"));
  return device_dnn_plan_check_memory(dnn, &form->bias, &memory->bias, "bias");
}

tfrt_status_t tfrt_device_dnn_plan_run(tfrt_device_dnn_plan_t* plan, tfrt_device_dnn_t* dnn,
                                       tfrt_device_stream_t* stream,
                                       const tfrt_dnn_plan_memory_t* given) {
  tfrt_dnn_plan_memory_t memory = *given;
  TFRT_RETURN_IF_ERROR(tfrt_device_dnn_check_stream(dnn, stream));
  if (plan->device != dnn->device) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a plan of %s is run by a handle of %s; build it with that handle",
                              plan->device->name, dnn->device->name);
  }
  if (plan->form.is_fused != (memory.bias.buffer != NULL)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a plan of a convolution %s is run %s; use tfrt_gpu.dnn.%s",
                              plan->form.is_fused ? "with a bias" : "alone",
                              plan->form.is_fused ? "alone" : "with a bias",
                              plan->form.is_fused ? "run_fused_convolution" : "run_convolution");
  }
  TFRT_RETURN_IF_ERROR(device_dnn_plan_check_memories(&plan->form, dnn, &memory));
  tfrt_dnn_memory_t memories[] = {memory.x,         memory.y, memory.w,
                                  memory.workspace, memory.z, memory.bias};
  size_t count = TFRT_ARRAY_SIZE(memories) - (plan->form.is_fused ? 0 : 2);
  TFRT_RETURN_IF_ERROR(tfrt_device_dnn_use(stream, memories, count));
  return plan->vtable->run(plan, dnn, stream, &memory);
}
