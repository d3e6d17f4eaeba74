// SPDX-License-Identifier: Apache-2.0
//
// Plans of convolutions by cuDNN's backend. A plan keeps every descriptor that it is made of, in
// their order, and gives them back from the last to the first: what refers goes before what it
// refers to.
//
//   alone    (x, w) --convolution--> y                       any one of the three is made
//   fused    (x, w) --convolution--> C
//            alpha * C + alpha2 * z --add--> A
//            A + b --add--> B --relu--> y                    without a relu the last add makes y
//
// C, A and B are virtual: the library decides whether they are ever in memory.
#include <inttypes.h>
#include <stdio.h>

#include "devices/cuda/cuda_dnn.h"

// The descriptors of a plan at most, without those of knobs: 8 tensors; a window and its operation;
// 3 pointwise operations with their modes; a graph, an engine, its configuration and a plan.
#define MAX_DESCRIPTORS 20

// Tensors are known by these numbers in the library, and so is their memory.
enum tfrt_cuda_dnn_id_e { ID_X = 'x', ID_Y = 'y', ID_W = 'w', ID_Z = 'z', ID_BIAS = 'b' };
enum tfrt_cuda_dnn_virtual_id_e { ID_CONVOLVED = 'C', ID_ADDED = 'A', ID_BIASED = 'B' };

typedef struct tfrt_cuda_dnn_plan_s {
  tfrt_device_dnn_plan_t base;
  const tfrt_cudnn_api_t* api;
  const tfrt_cudnn_backend_api_t* backend;
  int64_t engine;
  int64_t workspace_size;
  tfrt_cudnn_backend_t plan;  // the last of |descriptors|
  size_t size;                // of all this
  uint32_t count;
  tfrt_cudnn_backend_t descriptors[];
} tfrt_cuda_dnn_plan_t;

// --- The library -------------------------------------------------------------------------

static const tfrt_vendor_entry_t entries[] = {
#define TFRT_CUDNN_ENTRY(name, type, parameters) \
  {"cudnn" #name, offsetof(tfrt_cudnn_backend_api_t, name)},
    TFRT_CUDNN_BACKEND_ENTRIES(TFRT_CUDNN_ENTRY)
#undef TFRT_CUDNN_ENTRY
};

// Sets |*out_api| to the backend's entry points, which live as long as the platform. They are
// opened when they are needed first: a library without them does all the rest.
static tfrt_status_t cuda_dnn_open_backend(tfrt_cuda_platform_t* platform,
                                           const tfrt_cudnn_backend_api_t** out_api) {
  tfrt_vendor_library_t library = {
      .title = "backend of cuDNN",
      .names = tfrt_cuda_dnn_names,
      .name_count = tfrt_cuda_dnn_name_count,
      .fix = "install cuDNN 8.0.2 or later, or convolve without a plan",
      .entries = entries,
      .entry_count = TFRT_ARRAY_SIZE(entries),
  };
  *out_api = &platform->cudnn_backend;
  return tfrt_cuda_platform_open(platform, &library, TFRT_CUDA_CUDNN_BACKEND,
                                 &platform->cudnn_backend);
}

// --- Descriptors -------------------------------------------------------------------------

// A descriptor on its way.
typedef struct tfrt_cuda_dnn_part_s {
  const char* what;  // "a tensor", for messages
  tfrt_cudnn_backend_t descriptor;
} tfrt_cuda_dnn_part_t;

// A plan on its way, or a run of one.
typedef struct tfrt_cuda_dnn_builder_s {
  tfrt_cuda_dnn_plan_t* plan;
  tfrt_status_t status;  // +1, of what failed first
} tfrt_cuda_dnn_builder_t;

static void cuda_dnn_plan_note(tfrt_cuda_dnn_builder_t* b, tfrt_cudnn_status_t result,
                               const char* call, const char* what) {
  if (b->status || result == TFRT_CUDNN_SUCCESS) return;
  char text[96];
  snprintf(text, sizeof(text), "%s of %s", call, what);
  b->status = tfrt_cuda_dnn_status(b->plan->api, b->plan->base.device, result, text);
}

// Begins a descriptor of |type|, which is the caller's to destroy unless it is NULL.
static tfrt_cuda_dnn_part_t cuda_dnn_begin_part(tfrt_cuda_dnn_builder_t* b, int type,
                                                const char* what) {
  tfrt_cuda_dnn_part_t part = {.what = what};
  if (b->status) return part;
  tfrt_cudnn_status_t result = b->plan->backend->BackendCreateDescriptor(type, &part.descriptor);
  if (result != TFRT_CUDNN_SUCCESS) part.descriptor = NULL;
  cuda_dnn_plan_note(b, result, "cudnnBackendCreateDescriptor", what);
  return part;
}

// The same for one that the plan keeps.
static tfrt_cuda_dnn_part_t cuda_dnn_keep_part(tfrt_cuda_dnn_builder_t* b, int type,
                                               const char* what) {
  tfrt_cuda_dnn_part_t part = cuda_dnn_begin_part(b, type, what);
  if (part.descriptor) b->plan->descriptors[b->plan->count++] = part.descriptor;
  return part;
}

static void cuda_dnn_set(tfrt_cuda_dnn_builder_t* b, const tfrt_cuda_dnn_part_t* part, int name,
                         int type, int64_t count, const void* elements) {
  if (b->status) return;
  cuda_dnn_plan_note(
      b, b->plan->backend->BackendSetAttribute(part->descriptor, name, type, count, elements),
      "cudnnBackendSetAttribute", part->what);
}

static void cuda_dnn_set_int(tfrt_cuda_dnn_builder_t* b, const tfrt_cuda_dnn_part_t* part, int name,
                             int type, int number) {
  cuda_dnn_set(b, part, name, type, 1, &number);
}

static void cuda_dnn_set_long(tfrt_cuda_dnn_builder_t* b, const tfrt_cuda_dnn_part_t* part,
                              int name, int64_t number) {
  cuda_dnn_set(b, part, name, TFRT_CUDNN_TYPE_INT64, 1, &number);
}

static void cuda_dnn_set_part(tfrt_cuda_dnn_builder_t* b, const tfrt_cuda_dnn_part_t* part,
                              int name, tfrt_cudnn_backend_t other) {
  cuda_dnn_set(b, part, name, TFRT_CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other);
}

// Scale factors are f64 for f64 tensors, else f32.
static void cuda_dnn_set_scale(tfrt_cuda_dnn_builder_t* b, const tfrt_cuda_dnn_part_t* part,
                               int name, double number) {
  float narrow = (float)number;
  if (b->plan->base.form.x.dtype == TFRT_DTYPE_F64) {
    cuda_dnn_set(b, part, name, TFRT_CUDNN_TYPE_DOUBLE, 1, &number);
  } else {
    cuda_dnn_set(b, part, name, TFRT_CUDNN_TYPE_FLOAT, 1, &narrow);
  }
}

// Ends |part| and returns its descriptor.
static tfrt_cudnn_backend_t cuda_dnn_end_part(tfrt_cuda_dnn_builder_t* b,
                                              const tfrt_cuda_dnn_part_t* part) {
  if (b->status) return part->descriptor;
  cuda_dnn_plan_note(b, b->plan->backend->BackendFinalize(part->descriptor), "cudnnBackendFinalize",
                     part->what);
  return part->descriptor;
}

// --- Parts of a plan ---------------------------------------------------------------------

static tfrt_cudnn_backend_t cuda_dnn_add_layout(tfrt_cuda_dnn_builder_t* b, char id,
                                                const tfrt_dnn_layout_t* layout, int type,
                                                bool is_virtual) {
  tfrt_cuda_dnn_part_t part = cuda_dnn_keep_part(b, TFRT_CUDNN_BACKEND_TENSOR, "a tensor");
  cuda_dnn_set_long(b, &part, TFRT_CUDNN_TENSOR_UNIQUE_ID, id);
  cuda_dnn_set_int(b, &part, TFRT_CUDNN_TENSOR_DATA_TYPE, TFRT_CUDNN_TYPE_DATA_TYPE, type);
  cuda_dnn_set_long(b, &part, TFRT_CUDNN_TENSOR_BYTE_ALIGNMENT, TFRT_DNN_PLAN_ALIGNMENT);
  cuda_dnn_set(b, &part, TFRT_CUDNN_TENSOR_DIMENSIONS, TFRT_CUDNN_TYPE_INT64, layout->rank,
               layout->sizes);
  cuda_dnn_set(b, &part, TFRT_CUDNN_TENSOR_STRIDES, TFRT_CUDNN_TYPE_INT64, layout->rank,
               layout->steps);
  cuda_dnn_set(b, &part, TFRT_CUDNN_TENSOR_IS_VIRTUAL, TFRT_CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
  return cuda_dnn_end_part(b, &part);
}

// A tensor in memory.
static tfrt_cudnn_backend_t cuda_dnn_add_real(tfrt_cuda_dnn_builder_t* b, char id,
                                              const tfrt_dnn_layout_t* layout) {
  return cuda_dnn_add_layout(b, id, layout, tfrt_cuda_dnn_type(layout->dtype), false);
}

// The types of sums, and of what follows them.
static int cuda_dnn_sum_type(const tfrt_dnn_plan_form_t* form) {
  if (form->x.dtype == TFRT_DTYPE_F64) return TFRT_CUDNN_DATA_DOUBLE;
  return form->x.dtype == TFRT_DTYPE_I8 ? TFRT_CUDNN_DATA_INT32 : TFRT_CUDNN_DATA_FLOAT;
}
static int cuda_dnn_math_type(const tfrt_dnn_plan_form_t* form) {
  return form->x.dtype == TFRT_DTYPE_F64 ? TFRT_CUDNN_DATA_DOUBLE : TFRT_CUDNN_DATA_FLOAT;
}

static tfrt_cudnn_backend_t cuda_dnn_add_window(tfrt_cuda_dnn_builder_t* b) {
  const tfrt_dnn_plan_form_t* form = &b->plan->base.form;
  tfrt_cuda_dnn_part_t part =
      cuda_dnn_keep_part(b, TFRT_CUDNN_BACKEND_CONVOLUTION, "a convolution");
  int mode = form->is_cross_correlation ? TFRT_CUDNN_CROSS_CORRELATION : TFRT_CUDNN_CONVOLUTION;
  const struct {
    int name;
    const int64_t* numbers;
  } arrays[] = {{TFRT_CUDNN_CONVOLUTION_DILATIONS, form->dilation},
                {TFRT_CUDNN_CONVOLUTION_FILTER_STRIDES, form->steps},
                {TFRT_CUDNN_CONVOLUTION_PRE_PADDINGS, form->padding},
                {TFRT_CUDNN_CONVOLUTION_POST_PADDINGS, form->padding}};
  cuda_dnn_set_int(b, &part, TFRT_CUDNN_CONVOLUTION_COMP_TYPE, TFRT_CUDNN_TYPE_DATA_TYPE,
                   cuda_dnn_sum_type(form));
  cuda_dnn_set_int(b, &part, TFRT_CUDNN_CONVOLUTION_CONV_MODE, TFRT_CUDNN_TYPE_CONVOLUTION_MODE,
                   mode);
  cuda_dnn_set_long(b, &part, TFRT_CUDNN_CONVOLUTION_SPATIAL_DIMS, form->space);
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(arrays); ++i) {
    cuda_dnn_set(b, &part, arrays[i].name, TFRT_CUDNN_TYPE_INT64, form->space, arrays[i].numbers);
  }
  return cuda_dnn_end_part(b, &part);
}

// The names of a convolution's attributes, by direction.
typedef struct tfrt_cuda_dnn_operation_s {
  int type;
  int alpha;
  int beta;
  int window;
  int x;
  int w;
  int y;
} tfrt_cuda_dnn_operation_t;

static const tfrt_cuda_dnn_operation_t operations[] = {
    [TFRT_DNN_FORWARD] = {TFRT_CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD,
                          TFRT_CUDNN_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                          TFRT_CUDNN_OPERATION_CONVOLUTION_FORWARD_BETA,
                          TFRT_CUDNN_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                          TFRT_CUDNN_OPERATION_CONVOLUTION_FORWARD_X,
                          TFRT_CUDNN_OPERATION_CONVOLUTION_FORWARD_W,
                          TFRT_CUDNN_OPERATION_CONVOLUTION_FORWARD_Y},
    [TFRT_DNN_BACKWARD_DATA] = {TFRT_CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA,
                                TFRT_CUDNN_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                                TFRT_CUDNN_OPERATION_CONVOLUTION_BWD_DATA_BETA,
                                TFRT_CUDNN_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                                TFRT_CUDNN_OPERATION_CONVOLUTION_BWD_DATA_DX,
                                TFRT_CUDNN_OPERATION_CONVOLUTION_BWD_DATA_W,
                                TFRT_CUDNN_OPERATION_CONVOLUTION_BWD_DATA_DY},
    [TFRT_DNN_BACKWARD_FILTER] = {TFRT_CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER,
                                  TFRT_CUDNN_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                                  TFRT_CUDNN_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
                                  TFRT_CUDNN_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                                  TFRT_CUDNN_OPERATION_CONVOLUTION_BWD_FILTER_X,
                                  TFRT_CUDNN_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                                  TFRT_CUDNN_OPERATION_CONVOLUTION_BWD_FILTER_DY},
};

// The convolution of the plan's x and w, or a gradient of it, with |y| as its third tensor.
static tfrt_cudnn_backend_t cuda_dnn_add_convolution(tfrt_cuda_dnn_builder_t* b,
                                                     tfrt_cudnn_backend_t y) {
  const tfrt_dnn_plan_form_t* form = &b->plan->base.form;
  const tfrt_cuda_dnn_operation_t* operation = &operations[form->direction];
  tfrt_cudnn_backend_t x = cuda_dnn_add_real(b, ID_X, &form->x);
  tfrt_cudnn_backend_t w = cuda_dnn_add_real(b, ID_W, &form->w);
  tfrt_cudnn_backend_t window = cuda_dnn_add_window(b);
  tfrt_cuda_dnn_part_t part =
      cuda_dnn_keep_part(b, operation->type, "the operation of a convolution");
  cuda_dnn_set_part(b, &part, operation->x, x);
  cuda_dnn_set_part(b, &part, operation->w, w);
  cuda_dnn_set_part(b, &part, operation->y, y);
  cuda_dnn_set_part(b, &part, operation->window, window);
  cuda_dnn_set_scale(b, &part, operation->alpha, 1);
  cuda_dnn_set_scale(b, &part, operation->beta, 0);
  return cuda_dnn_end_part(b, &part);
}

// An operation on each element: |to| = alpha * |from| |mode| alpha2 * |other|, which is NULL for a
// mode of one operand.
typedef struct tfrt_cuda_dnn_pointwise_s {
  int mode;
  tfrt_cudnn_backend_t from;
  double alpha;
  tfrt_cudnn_backend_t other;
  double alpha2;
  tfrt_cudnn_backend_t to;
} tfrt_cuda_dnn_pointwise_t;

static tfrt_cudnn_backend_t cuda_dnn_add_pointwise(tfrt_cuda_dnn_builder_t* b,
                                                   const tfrt_cuda_dnn_pointwise_t* p) {
  tfrt_cuda_dnn_part_t mode =
      cuda_dnn_keep_part(b, TFRT_CUDNN_BACKEND_POINTWISE, "a pointwise mode");
  cuda_dnn_set_int(b, &mode, TFRT_CUDNN_POINTWISE_MODE, TFRT_CUDNN_TYPE_POINTWISE_MODE, p->mode);
  cuda_dnn_set_int(b, &mode, TFRT_CUDNN_POINTWISE_MATH_PREC, TFRT_CUDNN_TYPE_DATA_TYPE,
                   cuda_dnn_math_type(&b->plan->base.form));
  tfrt_cudnn_backend_t described = cuda_dnn_end_part(b, &mode);
  tfrt_cuda_dnn_part_t part =
      cuda_dnn_keep_part(b, TFRT_CUDNN_BACKEND_OPERATION_POINTWISE, "a pointwise operation");
  cuda_dnn_set_part(b, &part, TFRT_CUDNN_OPERATION_POINTWISE_PW_DESCRIPTOR, described);
  cuda_dnn_set_part(b, &part, TFRT_CUDNN_OPERATION_POINTWISE_XDESC, p->from);
  cuda_dnn_set_part(b, &part, TFRT_CUDNN_OPERATION_POINTWISE_YDESC, p->to);
  cuda_dnn_set_scale(b, &part, TFRT_CUDNN_OPERATION_POINTWISE_ALPHA1, p->alpha);
  if (p->other) {
    cuda_dnn_set_part(b, &part, TFRT_CUDNN_OPERATION_POINTWISE_BDESC, p->other);
    cuda_dnn_set_scale(b, &part, TFRT_CUDNN_OPERATION_POINTWISE_ALPHA2, p->alpha2);
  }
  return cuda_dnn_end_part(b, &part);
}

// Adds what a fused plan does; returns how many |operations| that are.
static int64_t cuda_dnn_add_fused(tfrt_cuda_dnn_builder_t* b,
                                  tfrt_cudnn_backend_t* out_operations) {
  const tfrt_dnn_plan_form_t* form = &b->plan->base.form;
  int type = cuda_dnn_math_type(form);
  bool has_relu = form->activation == TFRT_DNN_RELU;
  tfrt_cudnn_backend_t y = cuda_dnn_add_real(b, ID_Y, &form->y);
  tfrt_cudnn_backend_t z = cuda_dnn_add_real(b, ID_Z, &form->y);
  tfrt_cudnn_backend_t bias = cuda_dnn_add_real(b, ID_BIAS, &form->bias);
  tfrt_cudnn_backend_t convolved =
      cuda_dnn_add_layout(b, ID_CONVOLVED, &form->y, cuda_dnn_sum_type(form), true);
  tfrt_cudnn_backend_t added = cuda_dnn_add_layout(b, ID_ADDED, &form->y, type, true);
  tfrt_cudnn_backend_t biased =
      has_relu ? cuda_dnn_add_layout(b, ID_BIASED, &form->y, type, true) : y;
  out_operations[0] = cuda_dnn_add_convolution(b, convolved);
  out_operations[1] =
      cuda_dnn_add_pointwise(b, &(tfrt_cuda_dnn_pointwise_t){TFRT_CUDNN_POINTWISE_ADD, convolved,
                                                             form->alpha, z, form->alpha2, added});
  out_operations[2] = cuda_dnn_add_pointwise(
      b, &(tfrt_cuda_dnn_pointwise_t){TFRT_CUDNN_POINTWISE_ADD, added, 1, bias, 1, biased});
  if (!has_relu) return 3;
  out_operations[3] = cuda_dnn_add_pointwise(
      b, &(tfrt_cuda_dnn_pointwise_t){TFRT_CUDNN_POINTWISE_RELU_FWD, biased, 1, NULL, 0, y});
  return 4;
}

static tfrt_cudnn_backend_t cuda_dnn_add_graph(tfrt_cuda_dnn_builder_t* b,
                                               tfrt_cudnn_handle_t handle) {
  const tfrt_dnn_plan_form_t* form = &b->plan->base.form;
  tfrt_cudnn_backend_t nodes[4];
  int64_t count = 1;
  if (form->is_fused) {
    count = cuda_dnn_add_fused(b, nodes);
  } else {
    nodes[0] = cuda_dnn_add_convolution(b, cuda_dnn_add_real(b, ID_Y, &form->y));
  }
  tfrt_cuda_dnn_part_t part =
      cuda_dnn_keep_part(b, TFRT_CUDNN_BACKEND_OPERATIONGRAPH, "a graph of operations");
  cuda_dnn_set(b, &part, TFRT_CUDNN_OPERATIONGRAPH_HANDLE, TFRT_CUDNN_TYPE_HANDLE, 1, &handle);
  cuda_dnn_set(b, &part, TFRT_CUDNN_OPERATIONGRAPH_OPS, TFRT_CUDNN_TYPE_BACKEND_DESCRIPTOR, count,
               nodes);
  return cuda_dnn_end_part(b, &part);
}

// --- Engines -----------------------------------------------------------------------------

// Whether the type of knob |i| comes again behind it.
static bool cuda_dnn_comes_again(const tfrt_dnn_engine_t* engine, uint32_t i) {
  for (uint32_t k = i + 1; k < engine->knob_count; ++k) {
    if (engine->knob_types[k] == engine->knob_types[i]) return true;
  }
  return false;
}

// Adds the choices of |engine|, as the plan's last descriptors.
static void cuda_dnn_add_knobs(tfrt_cuda_dnn_builder_t* b, const tfrt_dnn_engine_t* engine) {
  for (uint32_t i = 0; i < engine->knob_count; ++i) {
    if (cuda_dnn_comes_again(engine, i)) continue;
    tfrt_cuda_dnn_part_t part =
        cuda_dnn_keep_part(b, TFRT_CUDNN_BACKEND_KNOB_CHOICE, "a knob's choice");
    cuda_dnn_set_int(b, &part, TFRT_CUDNN_KNOB_CHOICE_KNOB_TYPE, TFRT_CUDNN_TYPE_KNOB_TYPE,
                     (int)engine->knob_types[i]);
    cuda_dnn_set_long(b, &part, TFRT_CUDNN_KNOB_CHOICE_KNOB_VALUE, engine->knob_values[i]);
    cuda_dnn_end_part(b, &part);
  }
}

static tfrt_cudnn_backend_t cuda_dnn_add_config(tfrt_cuda_dnn_builder_t* b,
                                                const tfrt_dnn_engine_t* given,
                                                tfrt_cudnn_backend_t graph) {
  tfrt_cuda_dnn_part_t engine =
      cuda_dnn_keep_part(b, TFRT_CUDNN_BACKEND_ENGINE, "the engine of engine_id");
  cuda_dnn_set_part(b, &engine, TFRT_CUDNN_ENGINE_OPERATION_GRAPH, graph);
  cuda_dnn_set_long(b, &engine, TFRT_CUDNN_ENGINE_GLOBAL_INDEX, given->index);
  tfrt_cudnn_backend_t chosen = cuda_dnn_end_part(b, &engine);
  const tfrt_cudnn_backend_t* knobs = b->plan->descriptors + b->plan->count;
  cuda_dnn_add_knobs(b, given);
  int64_t knob_count = b->plan->descriptors + b->plan->count - knobs;
  tfrt_cuda_dnn_part_t part = cuda_dnn_keep_part(b, TFRT_CUDNN_BACKEND_ENGINECFG,
                                                 "an engine with the choices of tuning_knob_ids");
  cuda_dnn_set_part(b, &part, TFRT_CUDNN_ENGINECFG_ENGINE, chosen);
  if (knob_count > 0) {
    cuda_dnn_set(b, &part, TFRT_CUDNN_ENGINECFG_KNOB_CHOICES, TFRT_CUDNN_TYPE_BACKEND_DESCRIPTOR,
                 knob_count, knobs);
  }
  return cuda_dnn_end_part(b, &part);
}

static void cuda_dnn_add_plan(tfrt_cuda_dnn_builder_t* b, const tfrt_dnn_engine_t* engine,
                              tfrt_cudnn_handle_t handle) {
  tfrt_cuda_dnn_plan_t* plan = b->plan;
  tfrt_cudnn_backend_t graph = cuda_dnn_add_graph(b, handle);
  tfrt_cudnn_backend_t config = cuda_dnn_add_config(b, engine, graph);
  tfrt_cuda_dnn_part_t part = cuda_dnn_keep_part(b, TFRT_CUDNN_BACKEND_EXECUTION_PLAN, "a plan");
  cuda_dnn_set(b, &part, TFRT_CUDNN_EXECUTION_PLAN_HANDLE, TFRT_CUDNN_TYPE_HANDLE, 1, &handle);
  cuda_dnn_set_part(b, &part, TFRT_CUDNN_EXECUTION_PLAN_ENGINE_CONFIG, config);
  plan->plan = cuda_dnn_end_part(b, &part);
  if (b->status) return;
  int64_t count = 0;
  cuda_dnn_plan_note(
      b,
      plan->backend->BackendGetAttribute(plan->plan, TFRT_CUDNN_EXECUTION_PLAN_WORKSPACE_SIZE,
                                         TFRT_CUDNN_TYPE_INT64, 1, &count, &plan->workspace_size),
      "cudnnBackendGetAttribute", part.what);
}

// --- Runs --------------------------------------------------------------------------------

// Fills the pack |part| with |memory|.
static void cuda_dnn_fill_pack(tfrt_cuda_dnn_builder_t* b, const tfrt_cuda_dnn_part_t* part,
                               const tfrt_dnn_plan_memory_t* memory) {
  static const int64_t ids[] = {ID_X, ID_Y, ID_W, ID_Z, ID_BIAS};
  const tfrt_dnn_memory_t* memories[] = {&memory->x, &memory->y, &memory->w, &memory->z,
                                         &memory->bias};
  void* pointers[TFRT_ARRAY_SIZE(ids)];
  void* workspace = (void*)(uintptr_t)memory->workspace.address;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(ids); ++i) {
    pointers[i] = (void*)(uintptr_t)memories[i]->address;
  }
  int64_t count = b->plan->base.form.is_fused ? 5 : 3;
  cuda_dnn_set(b, part, TFRT_CUDNN_VARIANT_PACK_UNIQUE_IDS, TFRT_CUDNN_TYPE_INT64, count, ids);
  cuda_dnn_set(b, part, TFRT_CUDNN_VARIANT_PACK_DATA_POINTERS, TFRT_CUDNN_TYPE_VOID_PTR, count,
               pointers);
  cuda_dnn_set(b, part, TFRT_CUDNN_VARIANT_PACK_WORKSPACE, TFRT_CUDNN_TYPE_VOID_PTR, 1, &workspace);
}

// Puts the plan of |b| in |stream|, with the handle's mutex held and its context current.
static void cuda_dnn_execute(tfrt_cuda_dnn_builder_t* b, tfrt_cuda_dnn_t* dnn,
                             tfrt_device_stream_t* stream, const tfrt_dnn_plan_memory_t* memory) {
  const tfrt_cudnn_backend_api_t* backend = b->plan->backend;
  tfrt_cudnn_status_t result =
      dnn->api->SetStream(dnn->handle, tfrt_cuda_stream_of(stream)->handle);
  b->status = tfrt_cuda_dnn_status(dnn->api, dnn->base.device, result, "cudnnSetStream");
  tfrt_cuda_dnn_part_t pack =
      cuda_dnn_begin_part(b, TFRT_CUDNN_BACKEND_VARIANT_PACK, "the memory of a plan");
  cuda_dnn_fill_pack(b, &pack, memory);
  cuda_dnn_end_part(b, &pack);
  if (!b->status) {
    cuda_dnn_plan_note(b, backend->BackendExecute(dnn->handle, b->plan->plan, pack.descriptor),
                       "cudnnBackendExecute", "a plan");
  }
  // Only memory of the host goes here: nobody could do anything about an error.
  if (pack.descriptor) backend->BackendDestroyDescriptor(pack.descriptor);
}

static tfrt_status_t cuda_dnn_plan_run(tfrt_device_dnn_plan_t* base, tfrt_device_dnn_t* base_dnn,
                                       tfrt_device_stream_t* stream,
                                       const tfrt_dnn_plan_memory_t* memory) {
  tfrt_cuda_dnn_plan_t* plan = TFRT_CONTAINER_OF(base, tfrt_cuda_dnn_plan_t, base);
  tfrt_cuda_dnn_t* dnn = TFRT_CONTAINER_OF(base_dnn, tfrt_cuda_dnn_t, base);
  tfrt_cuda_dnn_builder_t run = {.plan = plan};
  size_t size = memory->workspace.buffer->size;
  if (plan->workspace_size > 0 && (uint64_t)plan->workspace_size > size) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s: a plan of engine %" PRId64 " needs a workspace of %" PRId64
                              " bytes and gets %zu; give it a larger one",
                              base->device->name, plan->engine, plan->workspace_size, size);
  }
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(base->device));
  tfrt_mutex_lock(&dnn->mutex);
  cuda_dnn_execute(&run, dnn, stream, memory);
  tfrt_mutex_unlock(&dnn->mutex);
  tfrt_status_release(tfrt_cuda_leave(base->device, TFRT_CUDA_SUCCESS, ""));
  return run.status;
}

// --- Life --------------------------------------------------------------------------------

static void cuda_dnn_plan_destroy(tfrt_device_dnn_plan_t* base) {
  tfrt_cuda_dnn_plan_t* plan = TFRT_CONTAINER_OF(base, tfrt_cuda_dnn_plan_t, base);
  tfrt_device_t* device = base->device;
  tfrt_status_t status = tfrt_cuda_enter(device);
  if (!status) {
    // Descriptors that the library can't free end with the context.
    while (plan->count > 0) {
      plan->backend->BackendDestroyDescriptor(plan->descriptors[--plan->count]);
    }
    status = tfrt_cuda_leave(device, TFRT_CUDA_SUCCESS, "");
  }
  tfrt_status_release(status);
  tfrt_allocator_free(device->platform->allocator, plan, plan->size);
}

static const tfrt_device_dnn_plan_vtable_t plan_vtable = {
    .destroy = cuda_dnn_plan_destroy,
    .run = cuda_dnn_plan_run,
};

tfrt_status_t tfrt_cuda_dnn_build(tfrt_device_dnn_t* base, const tfrt_dnn_plan_form_t* form,
                                  const tfrt_dnn_engine_t* engine,
                                  tfrt_device_dnn_plan_t** out_plan) {
  tfrt_cuda_dnn_t* dnn = TFRT_CONTAINER_OF(base, tfrt_cuda_dnn_t, base);
  tfrt_device_t* device = base->device;
  const tfrt_cudnn_backend_api_t* backend;
  TFRT_RETURN_IF_ERROR(cuda_dnn_open_backend(tfrt_cuda_platform_of(device), &backend));
  size_t size = sizeof(tfrt_cuda_dnn_plan_t) +
                (MAX_DESCRIPTORS + (size_t)engine->knob_count) * sizeof(tfrt_cudnn_backend_t);
  tfrt_cuda_dnn_plan_t* plan = tfrt_allocator_allocate_zeroed(device->platform->allocator, size);
  if (!plan) return tfrt_status_out_of_memory();
  plan->api = dnn->api;
  plan->backend = backend;
  plan->engine = engine->index;
  plan->size = size;
  tfrt_device_dnn_plan_initialize(&plan->base, &plan_vtable, device, form);
  tfrt_cuda_dnn_builder_t builder = {.plan = plan};
  builder.status = tfrt_cuda_enter(device);
  if (!builder.status) {
    tfrt_mutex_lock(&dnn->mutex);
    cuda_dnn_add_plan(&builder, engine, dnn->handle);
    tfrt_mutex_unlock(&dnn->mutex);
    tfrt_status_release(tfrt_cuda_leave(device, TFRT_CUDA_SUCCESS, ""));
  }
  if (builder.status) {
    tfrt_device_dnn_plan_release(&plan->base);
    return builder.status;
  }
  *out_plan = &plan->base;
  return NULL;
}
