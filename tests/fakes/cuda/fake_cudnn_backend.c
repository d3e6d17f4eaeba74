// SPDX-License-Identifier: Apache-2.0
//
// The backend of the fake driver's cuDNN. Every attribute is checked by a table: whether the
// descriptor has it, its type, and how many elements it may have. A misuse by the caller is a
// defect: to set a finalized descriptor, to refer to an unfinalized one, to finalize an incomplete
// one, and to destroy one that another descriptor refers to. Plans are those of convolutions, alone
// or followed by two additions and maybe a relu; a run is an op of the handle's stream, which
// computes on the host. As the real one, it refuses filters with gaps and reads a bias as if it had
// none. The real one computes sums of i8 in an output of i32 wrong; the fake refuses them.
#include <string.h>

#include "tests/fakes/cuda/fake_cudnn.h"

// The number of engines of this library, and of knobs of each engine.
#define FAKE_ENGINE_COUNT 32
#define FAKE_KNOB_COUNT 8

#define MAX_ELEMENTS 16
#define MAX_ATTRIBUTES 8

// --- The table ---------------------------------------------------------------------------

#define ANY_OPERATION (-1)
#define NOTHING (-2)

// An attribute that a descriptor has.
typedef struct fake_rule_s {
  int descriptor;  // its type
  int name;
  int type;
  int most;  // elements
  bool is_optional;
  int refers;  // the type of descriptors that it refers to; NOTHING
} fake_rule_t;

#define OF(descriptor) TFRT_CUDNN_BACKEND_##descriptor
#define AN(name) TFRT_CUDNN_##name
#define IS(type) TFRT_CUDNN_TYPE_##type
#define NUMBER(descriptor, name, type) \
  { OF(descriptor), AN(name), IS(type), 1, false, NOTHING }
#define SCALE(descriptor, name) \
  { OF(descriptor), AN(name), IS(FLOAT), 1, true, NOTHING }
#define NUMBERS(descriptor, name) \
  { OF(descriptor), AN(name), IS(INT64), TFRT_DNN_MAX_RANK, false, NOTHING }
#define REFERENCE(descriptor, name, refers) \
  { OF(descriptor), AN(name), IS(BACKEND_DESCRIPTOR), 1, false, OF(refers) }
#define CONVOLVING(descriptor, prefix, x, w, y)                                                 \
  REFERENCE(descriptor, prefix##_CONV_DESC, CONVOLUTION),                                       \
      REFERENCE(descriptor, prefix##_##x, TENSOR), REFERENCE(descriptor, prefix##_##w, TENSOR), \
      REFERENCE(descriptor, prefix##_##y, TENSOR), SCALE(descriptor, prefix##_ALPHA),           \
      SCALE(descriptor, prefix##_BETA)

static const fake_rule_t rules[] = {
    NUMBER(TENSOR, TENSOR_UNIQUE_ID, INT64),
    NUMBER(TENSOR, TENSOR_DATA_TYPE, DATA_TYPE),
    NUMBER(TENSOR, TENSOR_BYTE_ALIGNMENT, INT64),
    NUMBERS(TENSOR, TENSOR_DIMENSIONS),
    NUMBERS(TENSOR, TENSOR_STRIDES),
    NUMBER(TENSOR, TENSOR_IS_VIRTUAL, BOOLEAN),
    NUMBER(CONVOLUTION, CONVOLUTION_COMP_TYPE, DATA_TYPE),
    NUMBER(CONVOLUTION, CONVOLUTION_CONV_MODE, CONVOLUTION_MODE),
    NUMBER(CONVOLUTION, CONVOLUTION_SPATIAL_DIMS, INT64),
    NUMBERS(CONVOLUTION, CONVOLUTION_DILATIONS),
    NUMBERS(CONVOLUTION, CONVOLUTION_FILTER_STRIDES),
    NUMBERS(CONVOLUTION, CONVOLUTION_PRE_PADDINGS),
    NUMBERS(CONVOLUTION, CONVOLUTION_POST_PADDINGS),
    CONVOLVING(OPERATION_CONVOLUTION_FORWARD, OPERATION_CONVOLUTION_FORWARD, X, W, Y),
    CONVOLVING(OPERATION_CONVOLUTION_BACKWARD_DATA, OPERATION_CONVOLUTION_BWD_DATA, DX, W, DY),
    CONVOLVING(OPERATION_CONVOLUTION_BACKWARD_FILTER, OPERATION_CONVOLUTION_BWD_FILTER, X, DW, DY),
    NUMBER(POINTWISE, POINTWISE_MODE, POINTWISE_MODE),
    NUMBER(POINTWISE, POINTWISE_MATH_PREC, DATA_TYPE),
    REFERENCE(OPERATION_POINTWISE, OPERATION_POINTWISE_PW_DESCRIPTOR, POINTWISE),
    REFERENCE(OPERATION_POINTWISE, OPERATION_POINTWISE_XDESC, TENSOR),
    REFERENCE(OPERATION_POINTWISE, OPERATION_POINTWISE_YDESC, TENSOR),
    {OF(OPERATION_POINTWISE), AN(OPERATION_POINTWISE_BDESC), IS(BACKEND_DESCRIPTOR), 1, true,
     OF(TENSOR)},
    SCALE(OPERATION_POINTWISE, OPERATION_POINTWISE_ALPHA1),
    SCALE(OPERATION_POINTWISE, OPERATION_POINTWISE_ALPHA2),
    NUMBER(OPERATIONGRAPH, OPERATIONGRAPH_HANDLE, HANDLE),
    {OF(OPERATIONGRAPH), AN(OPERATIONGRAPH_OPS), IS(BACKEND_DESCRIPTOR), 4, false, ANY_OPERATION},
    REFERENCE(ENGINE, ENGINE_OPERATION_GRAPH, OPERATIONGRAPH),
    NUMBER(ENGINE, ENGINE_GLOBAL_INDEX, INT64),
    NUMBER(KNOB_CHOICE, KNOB_CHOICE_KNOB_TYPE, KNOB_TYPE),
    NUMBER(KNOB_CHOICE, KNOB_CHOICE_KNOB_VALUE, INT64),
    REFERENCE(ENGINECFG, ENGINECFG_ENGINE, ENGINE),
    {OF(ENGINECFG), AN(ENGINECFG_KNOB_CHOICES), IS(BACKEND_DESCRIPTOR), MAX_ELEMENTS, true,
     OF(KNOB_CHOICE)},
    NUMBER(EXECUTION_PLAN, EXECUTION_PLAN_HANDLE, HANDLE),
    REFERENCE(EXECUTION_PLAN, EXECUTION_PLAN_ENGINE_CONFIG, ENGINECFG),
    {OF(VARIANT_PACK), AN(VARIANT_PACK_UNIQUE_IDS), IS(INT64), MAX_ELEMENTS, false, NOTHING},
    {OF(VARIANT_PACK), AN(VARIANT_PACK_DATA_POINTERS), IS(VOID_PTR), MAX_ELEMENTS, false, NOTHING},
    NUMBER(VARIANT_PACK, VARIANT_PACK_WORKSPACE, VOID_PTR),
};

static const fake_rule_t* fake_rule(int descriptor, int name) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(rules); ++i) {
    if (rules[i].descriptor == descriptor && rules[i].name == name) return &rules[i];
  }
  return NULL;
}

// The bytes of an element.
static size_t fake_element_size(int type) {
  switch (type) {
    case IS(BOOLEAN):
      return sizeof(bool);
    case IS(DATA_TYPE):
    case IS(CONVOLUTION_MODE):
    case IS(KNOB_TYPE):
    case IS(POINTWISE_MODE):
    case IS(FLOAT):
      return 4;
    default:
      return 8;
  }
}

// --- Descriptors -------------------------------------------------------------------------

typedef struct fake_attribute_s {
  int name;
  int type;
  int64_t count;
  _Alignas(8) char elements[MAX_ELEMENTS * 8];
} fake_attribute_t;

struct tfrt_cudnn_backend_s {
  tfrt_fake_library_t base;
  int type;
  bool is_final;
  int user_count;  // descriptors that refer to this one
  uint32_t count;
  fake_attribute_t attributes[MAX_ATTRIBUTES];
};

// The library's symbols, as the real one has them.
#define FAKE_ENTRY(name, type, parameters) TFRT_EXPORT type cudnn##name parameters;
TFRT_CUDNN_BACKEND_ENTRIES(FAKE_ENTRY)
#undef FAKE_ENTRY

// Counts a defect about a descriptor of |type| and returns the error for it.
static int fake_refuse(const char* what, int type, int name) {
  tfrt_fake_defect("cuDNN's backend: %s: descriptor %d, attribute %d", what, type, name);
  return FAKE_BAD_PARAM;
}

static bool fake_is_backend(tfrt_cudnn_backend_t descriptor) {
  return tfrt_fake_is_handle(&tfrt_fake.libraries, &descriptor->base.link, "backend's descriptor");
}

static const fake_attribute_t* fake_find(tfrt_cudnn_backend_t descriptor, int name) {
  for (uint32_t i = 0; i < descriptor->count; ++i) {
    if (descriptor->attributes[i].name == name) return &descriptor->attributes[i];
  }
  return NULL;
}

// Element |i| of the attribute |name|, which is there.
static const void* fake_element(tfrt_cudnn_backend_t descriptor, int name, int64_t i) {
  const fake_attribute_t* attribute = fake_find(descriptor, name);
  return attribute->elements + (size_t)i * fake_element_size(attribute->type);
}
static int fake_int(tfrt_cudnn_backend_t descriptor, int name) {
  return *(const int*)fake_element(descriptor, name, 0);
}
static int64_t fake_long(tfrt_cudnn_backend_t descriptor, int name, int64_t i) {
  return *(const int64_t*)fake_element(descriptor, name, i);
}
static tfrt_cudnn_backend_t fake_part(tfrt_cudnn_backend_t descriptor, int name, int64_t i) {
  return *(const tfrt_cudnn_backend_t*)fake_element(descriptor, name, i);
}
// The scale factor; |rest| if it was not set.
static double fake_scale(tfrt_cudnn_backend_t descriptor, int name, double rest) {
  const fake_attribute_t* attribute = fake_find(descriptor, name);
  if (!attribute) return rest;
  const void* element = attribute->elements;
  return attribute->type == IS(DOUBLE) ? *(const double*)element : (double)*(const float*)element;
}

// Adds |step| to the users of all that |descriptor| refers to.
static void fake_count_users(tfrt_cudnn_backend_t descriptor, int step) {
  for (uint32_t i = 0; i < descriptor->count; ++i) {
    const fake_attribute_t* attribute = &descriptor->attributes[i];
    if (attribute->type != IS(BACKEND_DESCRIPTOR)) continue;
    for (int64_t k = 0; k < attribute->count; ++k) {
      fake_part(descriptor, attribute->name, k)->user_count += step;
    }
  }
}

tfrt_cudnn_status_t cudnnBackendCreateDescriptor(int type, tfrt_cudnn_backend_t* out_descriptor) {
  int error = tfrt_fake_begin("cudnnBackendCreateDescriptor");
  bool is_known = false;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(rules); ++i) is_known |= rules[i].descriptor == type;
  if (!error && !is_known) error = fake_refuse("no such type", type, -1);
  if (!error) {
    *out_descriptor = tfrt_fake_library_create(sizeof(**out_descriptor), false);
    (*out_descriptor)->type = type;
  }
  return tfrt_fake_end(error);
}

tfrt_cudnn_status_t cudnnBackendDestroyDescriptor(tfrt_cudnn_backend_t descriptor) {
  int error = tfrt_fake_begin("cudnnBackendDestroyDescriptor");
  if (!error && fake_is_backend(descriptor)) {
    if (descriptor->user_count > 0) fake_refuse("destroyed while in use", descriptor->type, -1);
    if (descriptor->is_final) fake_count_users(descriptor, -1);
    tfrt_fake_library_destroy(&descriptor->base, sizeof(*descriptor));
  }
  return tfrt_fake_end(error);
}

// Checks that the |count| descriptors at |elements| are what |rule| refers to.
static int fake_check_references(const fake_rule_t* rule, int64_t count, const void* elements) {
  for (int64_t i = 0; i < count; ++i) {
    tfrt_cudnn_backend_t other = ((const tfrt_cudnn_backend_t*)elements)[i];
    if (!fake_is_backend(other)) return FAKE_BAD_PARAM;
    bool is_operation =
        other->type >= OF(OPERATION_CONVOLUTION_FORWARD) && other->type <= OF(OPERATION_POINTWISE);
    bool fits = rule->refers == ANY_OPERATION ? is_operation : other->type == rule->refers;
    if (!fits || !other->is_final) {
      return fake_refuse("refers to what is not finalized, or of another type", rule->descriptor,
                         rule->name);
    }
  }
  return 0;
}

static int fake_check_set(tfrt_cudnn_backend_t descriptor, int name, int type, int64_t count,
                          const void* elements) {
  if (!fake_is_backend(descriptor)) return FAKE_BAD_PARAM;
  const fake_rule_t* rule = fake_rule(descriptor->type, name);
  if (!rule || descriptor->is_final || fake_find(descriptor, name)) {
    return fake_refuse("set twice, too late or unknown", descriptor->type, name);
  }
  bool is_scale = rule->type == IS(FLOAT) && (type == IS(FLOAT) || type == IS(DOUBLE));
  if ((type != rule->type && !is_scale) || count < 1 || count > rule->most) {
    return fake_refuse("of another type or count", descriptor->type, name);
  }
  return rule->refers == NOTHING ? 0 : fake_check_references(rule, count, elements);
}

tfrt_cudnn_status_t cudnnBackendSetAttribute(tfrt_cudnn_backend_t descriptor, int name, int type,
                                             int64_t count, const void* elements) {
  int error = tfrt_fake_begin("cudnnBackendSetAttribute");
  if (!error) error = fake_check_set(descriptor, name, type, count, elements);
  if (!error) {
    fake_attribute_t* attribute = &descriptor->attributes[descriptor->count++];
    *attribute = (fake_attribute_t){.name = name, .type = type, .count = count};
    memcpy(attribute->elements, elements, (size_t)count * fake_element_size(type));
  }
  return tfrt_fake_end(error);
}

// A kind of convolutions, with its attributes by their numbers, as the library has them: w comes
// before x.
typedef struct fake_convolution_s {
  int type;
  tfrt_dnn_direction_t direction;
  int alpha, beta, window, x, w, y;
} fake_convolution_t;

static const fake_convolution_t convolutions[] = {
    {OF(OPERATION_CONVOLUTION_FORWARD), TFRT_DNN_FORWARD, 700, 701, 702, 704, 703, 705},
    {OF(OPERATION_CONVOLUTION_BACKWARD_DATA), TFRT_DNN_BACKWARD_DATA, 706, 707, 708, 710, 709, 711},
    {OF(OPERATION_CONVOLUTION_BACKWARD_FILTER), TFRT_DNN_BACKWARD_FILTER, 712, 713, 714, 716, 715,
     717},
};

// --- Finalizing --------------------------------------------------------------------------

// The layout of a tensor of |descriptor|.
static tfrt_dnn_layout_t fake_layout(tfrt_cudnn_backend_t descriptor) {
  const fake_attribute_t* sizes = fake_find(descriptor, AN(TENSOR_DIMENSIONS));
  const fake_attribute_t* steps = fake_find(descriptor, AN(TENSOR_STRIDES));
  tfrt_dnn_layout_t layout = {
      .dtype = tfrt_fake_cudnn_dtype(fake_int(descriptor, AN(TENSOR_DATA_TYPE))),
      .rank = (uint32_t)sizes->count};
  memcpy(layout.sizes, sizes->elements, (size_t)sizes->count * sizeof(int64_t));
  memcpy(layout.steps, steps->elements, (size_t)steps->count * sizeof(int64_t));
  return layout;
}

static int fake_check_tensor(tfrt_cudnn_backend_t tensor) {
  const fake_attribute_t* sizes = fake_find(tensor, AN(TENSOR_DIMENSIONS));
  const fake_attribute_t* steps = fake_find(tensor, AN(TENSOR_STRIDES));
  if (sizes->count != steps->count) return fake_refuse("ranks differ", tensor->type, -1);
  for (int64_t i = 0; i < sizes->count; ++i) {
    if (fake_long(tensor, AN(TENSOR_DIMENSIONS), i) < 1 ||
        fake_long(tensor, AN(TENSOR_STRIDES), i) < 1) {
      return fake_refuse("no size or step", tensor->type, -1);
    }
  }
  return fake_layout(tensor).dtype == TFRT_DTYPE_INVALID
             ? fake_refuse("no such elements", tensor->type, -1)
             : 0;
}

// Makes the steps of |layout| those without gaps, in the order that they have; returns whether they
// were that.
static bool fake_pack(tfrt_dnn_layout_t* layout) {
  tfrt_dnn_layout_t packed = *layout;
  bool is_packed = true;
  for (uint32_t i = 0; i < layout->rank; ++i) {
    packed.steps[i] = 1;
    for (uint32_t k = 0; k < layout->rank; ++k) {
      bool is_inner =
          layout->steps[k] < layout->steps[i] || (layout->steps[k] == layout->steps[i] && k > i);
      if (is_inner) packed.steps[i] *= layout->sizes[k];
    }
    is_packed &= layout->sizes[i] == 1 || packed.steps[i] == layout->steps[i];
  }
  *layout = packed;
  return is_packed;
}

// Checks an operation of |descriptor| whose attributes of these names are the tensors.
static int fake_check_operation(tfrt_cudnn_backend_t descriptor, int x, int w, int y) {
  tfrt_dnn_layout_t filter = fake_layout(fake_part(descriptor, w, 0));
  if (!fake_pack(&filter)) return fake_refuse("a filter with gaps", descriptor->type, w);
  if (fake_layout(fake_part(descriptor, x, 0)).dtype == TFRT_DTYPE_I8 &&
      fake_layout(fake_part(descriptor, y, 0)).dtype == TFRT_DTYPE_I32 &&
      !*(const bool*)fake_element(fake_part(descriptor, y, 0), AN(TENSOR_IS_VIRTUAL), 0)) {
    return fake_refuse("sums of i8 that are made wrong", descriptor->type, y);
  }
  return 0;
}

static int fake_check_convolution(tfrt_cudnn_backend_t convolution) {
  static const int arrays[] = {AN(CONVOLUTION_DILATIONS), AN(CONVOLUTION_FILTER_STRIDES),
                               AN(CONVOLUTION_PRE_PADDINGS), AN(CONVOLUTION_POST_PADDINGS)};
  int64_t space = fake_long(convolution, AN(CONVOLUTION_SPATIAL_DIMS), 0);
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(arrays); ++i) {
    if (fake_find(convolution, arrays[i])->count == space) continue;
    return fake_refuse("not as many as axes", convolution->type, arrays[i]);
  }
  return 0;
}

// Engines and knobs that there aren't are nobody's defect: programs name them.
static int fake_check_config(tfrt_cudnn_backend_t config) {
  const fake_attribute_t* knobs = fake_find(config, AN(ENGINECFG_KNOB_CHOICES));
  uint32_t seen = 0;
  for (int64_t i = 0; knobs && i < knobs->count; ++i) {
    int type =
        fake_int(fake_part(config, AN(ENGINECFG_KNOB_CHOICES), i), AN(KNOB_CHOICE_KNOB_TYPE));
    if (type < 0 || type >= FAKE_KNOB_COUNT) return FAKE_NOT_SUPPORTED;
    if (seen >> type & 1) return fake_refuse("a knob twice", config->type, type);
    seen |= 1u << type;
  }
  return 0;
}

static int fake_check_final(tfrt_cudnn_backend_t descriptor) {
  if (!fake_is_backend(descriptor)) return FAKE_BAD_PARAM;
  if (descriptor->is_final) return fake_refuse("finalized twice", descriptor->type, -1);
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(rules); ++i) {
    if (rules[i].descriptor != descriptor->type || rules[i].is_optional) continue;
    if (fake_find(descriptor, rules[i].name)) continue;
    return fake_refuse("finalized without", descriptor->type, rules[i].name);
  }
  if (descriptor->type == OF(TENSOR)) return fake_check_tensor(descriptor);
  if (descriptor->type == OF(CONVOLUTION)) return fake_check_convolution(descriptor);
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(convolutions); ++i) {
    const fake_convolution_t* c = &convolutions[i];
    if (c->type == descriptor->type) return fake_check_operation(descriptor, c->x, c->w, c->y);
  }
  if (descriptor->type == OF(ENGINECFG)) return fake_check_config(descriptor);
  if (descriptor->type == OF(ENGINE) &&
      fake_long(descriptor, AN(ENGINE_GLOBAL_INDEX), 0) >= FAKE_ENGINE_COUNT) {
    return FAKE_NOT_SUPPORTED;
  }
  return 0;
}

// A plan may compile code, so it needs the context.
tfrt_cudnn_status_t cudnnBackendFinalize(tfrt_cudnn_backend_t descriptor) {
  int error = tfrt_fake_library_begin("cudnnBackendFinalize", &tfrt_fake_cudnn_errors, NULL);
  if (!error) error = fake_check_final(descriptor);
  if (!error) {
    descriptor->is_final = true;
    fake_count_users(descriptor, 1);
  }
  return tfrt_fake_end(error);
}

// --- Plans -------------------------------------------------------------------------------

// More for a greater engine, and for each knob its value.
static int64_t fake_workspace_size(tfrt_cudnn_backend_t plan) {
  tfrt_cudnn_backend_t config = fake_part(plan, AN(EXECUTION_PLAN_ENGINE_CONFIG), 0);
  tfrt_cudnn_backend_t engine = fake_part(config, AN(ENGINECFG_ENGINE), 0);
  const fake_attribute_t* knobs = fake_find(config, AN(ENGINECFG_KNOB_CHOICES));
  int64_t size = fake_long(engine, AN(ENGINE_GLOBAL_INDEX), 0) * FAKE_WORKSPACE_SIZE;
  for (int64_t i = 0; knobs && i < knobs->count; ++i) {
    size +=
        fake_long(fake_part(config, AN(ENGINECFG_KNOB_CHOICES), i), AN(KNOB_CHOICE_KNOB_VALUE), 0);
  }
  return size;
}

tfrt_cudnn_status_t cudnnBackendGetAttribute(tfrt_cudnn_backend_t descriptor, int name, int type,
                                             int64_t requested_count, int64_t* count,
                                             void* elements) {
  int error = tfrt_fake_begin("cudnnBackendGetAttribute");
  if (!error && !fake_is_backend(descriptor)) error = FAKE_BAD_PARAM;
  if (!error &&
      (descriptor->type != OF(EXECUTION_PLAN) || !descriptor->is_final ||
       name != AN(EXECUTION_PLAN_WORKSPACE_SIZE) || type != IS(INT64) || requested_count != 1)) {
    error = fake_refuse("asked for what it doesn't say", descriptor->type, name);
  }
  if (!error) {
    *(int64_t*)elements = fake_workspace_size(descriptor);
    *count = 1;
  }
  return tfrt_fake_end(error);
}

// --- Runs --------------------------------------------------------------------------------

// A run on its way into a stream.
typedef struct fake_run_s {
  tfrt_fake_library_call_t* call;
  tfrt_cudnn_backend_t pack;
  tfrt_cpu_dnn_plan_run_t* work;
} fake_run_t;

// The memory of |tensor| in the pack.
static tfrt_dnn_memory_t fake_memory(fake_run_t* run, tfrt_cudnn_backend_t tensor) {
  const fake_attribute_t* ids = fake_find(run->pack, AN(VARIANT_PACK_UNIQUE_IDS));
  int64_t id = fake_long(tensor, AN(TENSOR_UNIQUE_ID), 0);
  int64_t i = 0;
  while (i < ids->count && fake_long(run->pack, AN(VARIANT_PACK_UNIQUE_IDS), i) != id) ++i;
  if (i == ids->count || *(const bool*)fake_element(tensor, AN(TENSOR_IS_VIRTUAL), 0)) {
    tfrt_fake_library_refuse(run->call, "a tensor of a plan without memory");
    return (tfrt_dnn_memory_t){0};
  }
  const void* data = *(void* const*)fake_element(run->pack, AN(VARIANT_PACK_DATA_POINTERS), i);
  tfrt_dnn_layout_t layout = fake_layout(tensor);
  size_t elements = 1;
  for (uint32_t k = 0; k < layout.rank; ++k) {
    elements += (size_t)(layout.sizes[k] - 1) * (size_t)layout.steps[k];
  }
  if ((uintptr_t)data % (uintptr_t)fake_long(tensor, AN(TENSOR_BYTE_ALIGNMENT), 0) != 0) {
    tfrt_fake_library_refuse(run->call, "a tensor of a plan that is not aligned");
  }
  tfrt_fake_library_touch(run->call, data, elements * tfrt_dtype_size(layout.dtype));
  return (tfrt_dnn_memory_t){.address = (tfrt_device_address_t)(uintptr_t)data};
}

// Fills in what the tensors of the convolution |operation| are, but for its y.
static void fake_decode_convolution(fake_run_t* run, tfrt_cudnn_backend_t operation, int window,
                                    int x, int w) {
  tfrt_dnn_plan_form_t* form = &run->work->form;
  tfrt_cudnn_backend_t convolution = fake_part(operation, window, 0);
  form->is_cross_correlation =
      fake_int(convolution, AN(CONVOLUTION_CONV_MODE)) == TFRT_CUDNN_CROSS_CORRELATION;
  form->space = (uint32_t)fake_long(convolution, AN(CONVOLUTION_SPATIAL_DIMS), 0);
  for (int64_t i = 0; i < form->space; ++i) {
    form->padding[i] = fake_long(convolution, AN(CONVOLUTION_PRE_PADDINGS), i);
    form->steps[i] = fake_long(convolution, AN(CONVOLUTION_FILTER_STRIDES), i);
    form->dilation[i] = fake_long(convolution, AN(CONVOLUTION_DILATIONS), i);
    if (fake_long(convolution, AN(CONVOLUTION_POST_PADDINGS), i) != form->padding[i]) {
      tfrt_fake_library_refuse(run->call, "a window with two paddings");
    }
  }
  form->x = fake_layout(fake_part(operation, x, 0));
  form->w = fake_layout(fake_part(operation, w, 0));
  run->work->memory.x = fake_memory(run, fake_part(operation, x, 0));
  run->work->memory.w = fake_memory(run, fake_part(operation, w, 0));
}

// Decodes the first operation of a graph; returns its y.
static tfrt_cudnn_backend_t fake_decode_first(fake_run_t* run, tfrt_cudnn_backend_t operation) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(convolutions); ++i) {
    if (convolutions[i].type != operation->type) continue;
    run->work->form.direction = convolutions[i].direction;
    if (fake_scale(operation, convolutions[i].alpha, 1) != 1 ||
        fake_scale(operation, convolutions[i].beta, 0) != 0) {
      tfrt_fake_library_refuse(run->call, "a convolution that is scaled");
    }
    fake_decode_convolution(run, operation, convolutions[i].window, convolutions[i].x,
                            convolutions[i].w);
    return fake_part(operation, convolutions[i].y, 0);
  }
  tfrt_fake_library_refuse(run->call, "a plan that begins with no convolution");
  return NULL;
}

// The y of operation |i| of |graph|, which is of |mode| and continues |x|; NULL, and a defect, if
// it is another one.
static tfrt_cudnn_backend_t fake_decode_pointwise(fake_run_t* run, tfrt_cudnn_backend_t graph,
                                                  int64_t i, int mode, tfrt_cudnn_backend_t x) {
  tfrt_cudnn_backend_t operation = fake_part(graph, AN(OPERATIONGRAPH_OPS), i);
  if (x && operation->type == OF(OPERATION_POINTWISE) &&
      fake_part(operation, AN(OPERATION_POINTWISE_XDESC), 0) == x &&
      *(const bool*)fake_element(x, AN(TENSOR_IS_VIRTUAL), 0) &&
      fake_int(fake_part(operation, AN(OPERATION_POINTWISE_PW_DESCRIPTOR), 0),
               AN(POINTWISE_MODE)) == mode &&
      (fake_find(operation, AN(OPERATION_POINTWISE_BDESC)) != NULL) ==
          (mode == AN(POINTWISE_ADD))) {
    return fake_part(operation, AN(OPERATION_POINTWISE_YDESC), 0);
  }
  tfrt_fake_library_refuse(run->call, "a plan with an operation that doesn't follow");
  return NULL;
}

// Decodes what follows the convolution that makes |x|; returns the plan's y.
static tfrt_cudnn_backend_t fake_decode_fused(fake_run_t* run, tfrt_cudnn_backend_t graph,
                                              int64_t count, tfrt_cudnn_backend_t x) {
  tfrt_dnn_plan_form_t* form = &run->work->form;
  tfrt_cudnn_backend_t added = fake_decode_pointwise(run, graph, 1, AN(POINTWISE_ADD), x);
  tfrt_cudnn_backend_t y = fake_decode_pointwise(run, graph, 2, AN(POINTWISE_ADD), added);
  form->is_fused = true;
  form->activation = count == 4 ? TFRT_DNN_RELU : TFRT_DNN_IDENTITY;
  if (count == 4) y = fake_decode_pointwise(run, graph, 3, AN(POINTWISE_RELU_FWD), y);
  if (!y) return NULL;
  tfrt_cudnn_backend_t add = fake_part(graph, AN(OPERATIONGRAPH_OPS), 1);
  tfrt_cudnn_backend_t add_bias = fake_part(graph, AN(OPERATIONGRAPH_OPS), 2);
  form->alpha = fake_scale(add, AN(OPERATION_POINTWISE_ALPHA1), 1);
  form->alpha2 = fake_scale(add, AN(OPERATION_POINTWISE_ALPHA2), 1);
  if (fake_scale(add_bias, AN(OPERATION_POINTWISE_ALPHA1), 1) != 1 ||
      fake_scale(add_bias, AN(OPERATION_POINTWISE_ALPHA2), 1) != 1) {
    tfrt_fake_library_refuse(run->call, "a bias that is scaled");
  }
  form->bias = fake_layout(fake_part(add_bias, AN(OPERATION_POINTWISE_BDESC), 0));
  fake_pack(&form->bias);
  run->work->memory.z = fake_memory(run, fake_part(add, AN(OPERATION_POINTWISE_BDESC), 0));
  run->work->memory.bias = fake_memory(run, fake_part(add_bias, AN(OPERATION_POINTWISE_BDESC), 0));
  return y;
}

// Fills in what |plan| does.
static void fake_decode(fake_run_t* run, tfrt_cudnn_backend_t plan) {
  tfrt_cudnn_backend_t config = fake_part(plan, AN(EXECUTION_PLAN_ENGINE_CONFIG), 0);
  tfrt_cudnn_backend_t engine = fake_part(config, AN(ENGINECFG_ENGINE), 0);
  tfrt_cudnn_backend_t graph = fake_part(engine, AN(ENGINE_OPERATION_GRAPH), 0);
  int64_t count = fake_find(graph, AN(OPERATIONGRAPH_OPS))->count;
  tfrt_cudnn_backend_t y = fake_decode_first(run, fake_part(graph, AN(OPERATIONGRAPH_OPS), 0));
  if (y && count > 2) y = fake_decode_fused(run, graph, count, y);
  if (count == 2) tfrt_fake_library_refuse(run->call, "a plan of two operations");
  if (!y) return;
  run->work->form.y = fake_layout(y);
  run->work->memory.y = fake_memory(run, y);
  void* workspace = *(void* const*)fake_element(run->pack, AN(VARIANT_PACK_WORKSPACE), 0);
  tfrt_fake_library_touch(run->call, workspace, (size_t)fake_workspace_size(plan));
}

static bool fake_is_final(tfrt_cudnn_backend_t descriptor, int type) {
  return fake_is_backend(descriptor) && descriptor->is_final && descriptor->type == type;
}

tfrt_cudnn_status_t cudnnBackendExecute(tfrt_cudnn_handle_t handle, tfrt_cudnn_backend_t plan,
                                        tfrt_cudnn_backend_t variant_pack) {
  tfrt_fake_library_call_t call =
      tfrt_fake_library_call("cudnnBackendExecute", &tfrt_fake_cudnn_errors, &handle->base);
  tfrt_cpu_dnn_call_t work = {.kind = TFRT_CPU_DNN_PLAN};
  fake_run_t run = {&call, variant_pack, &work.plan};
  if (fake_is_final(plan, OF(EXECUTION_PLAN)) && fake_is_final(variant_pack, OF(VARIANT_PACK))) {
    fake_decode(&run, plan);
  } else {
    tfrt_fake_library_refuse(&call, "a run of what is no plan");
  }
  return tfrt_fake_library_end(&call, tfrt_cpu_dnn_run, &work, sizeof(work));
}
