// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/onnx_model.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/onnx/onnx_external_data.h"
#include "host_runtime/base/number_text.h"

// --- Unpacking --------------------------------------------------------------------

// An empty message takes two bytes of a file and some hundred of memory: what a file may take is
// bounded by its size, with room for small ones.
#define MEMORY_PER_BYTE 64
#define MEMORY_AT_LEAST ((size_t)64 * 1024 * 1024)

typedef struct budget_s {
  size_t left;
  bool is_over;
} budget_t;

static void* allocate(void* data, size_t size) {
  budget_t* budget = data;
  if (size > budget->left) {
    budget->is_over = true;
    return NULL;
  }
  budget->left -= size;
  return tfrt_allocator_allocate(tfrt_allocator_system(), size ? size : 1);
}

// protobuf-c doesn't say how much it gives back; the system's allocator doesn't ask.
static void release(void* data, void* pointer) {
  (void)data;
  tfrt_allocator_free(tfrt_allocator_system(), pointer, 0);
}

tfrt_status_t tfrt_onnx_model_unpack(const uint8_t* data, size_t size,
                                     Onnx__ModelProto** out_model) {
  *out_model = NULL;
  if (size > TFRT_ONNX_MAX_FILE_SIZE) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "the file is longer than 2 GiB; such models keep their weights in "
                              "files of their own (external data)");
  }
  budget_t budget = {.left = MEMORY_AT_LEAST + MEMORY_PER_BYTE * size};
  ProtobufCAllocator allocator = {allocate, release, &budget};
  *out_model = onnx__model_proto__unpack(&allocator, size, data);
  if (*out_model && (*out_model)->graph) return NULL;
  tfrt_onnx_model_free(*out_model);
  bool is_model = *out_model != NULL;
  *out_model = NULL;
  if (budget.is_over) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                              "the file would take more than %d times its size of memory",
                              MEMORY_PER_BYTE);
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            is_model ? "the model has no graph: this is no ONNX file"
                                     : "the file is damaged, or no ONNX file");
}

void tfrt_onnx_model_free(Onnx__ModelProto* model) {
  ProtobufCAllocator allocator = {allocate, release, NULL};
  if (model) onnx__model_proto__free_unpacked(model, &allocator);
}

bool tfrt_onnx_graph_unpack(const ProtobufCBinaryData* bytes, Onnx__GraphProto** out_graph) {
  budget_t budget = {.left = MEMORY_AT_LEAST + MEMORY_PER_BYTE * bytes->len};
  ProtobufCAllocator allocator = {allocate, release, &budget};
  *out_graph = onnx__graph_proto__unpack(&allocator, bytes->len, bytes->data);
  return *out_graph != NULL;
}

void tfrt_onnx_graph_free(Onnx__GraphProto* graph) {
  ProtobufCAllocator allocator = {allocate, release, NULL};
  if (graph) onnx__graph_proto__free_unpacked(graph, &allocator);
}

// --- Element types ----------------------------------------------------------------

// By the numbers of ONNX. |field|: which of the typed lists holds the elements.
static const struct {
  const char* name;
  const char* type;  // of IR; NULL: none
  size_t size;
  char field;  // 'f', 'i', 'l', 'd' or 'u'
} element_types[] = {
    [1] = {"FLOAT", "f32", 4, 'f'},    [2] = {"UINT8", "ui8", 1, 'i'},
    [3] = {"INT8", "i8", 1, 'i'},      [4] = {"UINT16", "ui16", 2, 'i'},
    [5] = {"INT16", "i16", 2, 'i'},    [6] = {"INT32", "i32", 4, 'i'},
    [7] = {"INT64", "i64", 8, 'l'},    [8] = {"STRING", NULL, 0, 0},
    [9] = {"BOOL", "i1", 1, 'i'},      [10] = {"FLOAT16", "f16", 2, 'i'},
    [11] = {"DOUBLE", "f64", 8, 'd'},  [12] = {"UINT32", "ui32", 4, 'u'},
    [13] = {"UINT64", "ui64", 8, 'u'}, [14] = {"COMPLEX64", NULL, 0, 0},
    [15] = {"COMPLEX128", NULL, 0, 0}, [16] = {"BFLOAT16", "bf16", 2, 'i'},
};

static bool is_known(int32_t number) {
  return number > 0 && (size_t)number < TFRT_ARRAY_SIZE(element_types) &&
         element_types[number].type;
}

const char* tfrt_onnx_element_name(int32_t number) {
  if (number <= 0 || (size_t)number >= TFRT_ARRAY_SIZE(element_types)) return "an unknown type";
  return element_types[number].name;
}

const tfrt_ir_type_t* tfrt_onnx_element_type(tfrt_ir_context_t* context, int32_t number) {
  if (!is_known(number)) return NULL;
  const char* name = element_types[number].type;
  if (name[0] == 'f' || name[0] == 'b') {
    return tfrt_ir_type_float(context, tfrt_string_view_of(name));
  }
  bool is_unsigned = name[0] == 'u';
  uint64_t width = 0;
  tfrt_number_text_parse_u64(tfrt_string_view_of(name + (is_unsigned ? 2 : 1)), &width);
  return tfrt_ir_type_integer(context, (uint32_t)width,
                              is_unsigned ? TFRT_IR_UNSIGNED : TFRT_IR_SIGNLESS);
}

// --- Tensors ----------------------------------------------------------------------

// Where the elements of |tensor| are when they aren't raw, how many there are, and how long each
// is.
static const void* typed_elements(const Onnx__TensorProto* tensor, char field, size_t* out_count,
                                  size_t* out_size) {
  switch (field) {
    case 'f':
      *out_count = tensor->n_float_data;
      *out_size = sizeof(float);
      return tensor->float_data;
    case 'l':
      *out_count = tensor->n_int64_data;
      *out_size = sizeof(int64_t);
      return tensor->int64_data;
    case 'd':
      *out_count = tensor->n_double_data;
      *out_size = sizeof(double);
      return tensor->double_data;
    case 'u':
      *out_count = tensor->n_uint64_data;
      *out_size = sizeof(uint64_t);
      return tensor->uint64_data;
    default:
      *out_count = tensor->n_int32_data;
      *out_size = sizeof(int32_t);
      return tensor->int32_data;
  }
}

static tfrt_status_t wrong_size(const Onnx__TensorProto* tensor, size_t has, size_t wants) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "tensor '%s' has %zu bytes or elements where its shape wants %zu",
                            tensor->name, has, wants);
}

// Copies the low bytes of the elements of a typed list to |bytes|.
static tfrt_status_t copy_typed(const Onnx__TensorProto* tensor, size_t count, char* bytes) {
  size_t given, wide;
  size_t size = element_types[tensor->data_type].size;
  const char* elements =
      typed_elements(tensor, element_types[tensor->data_type].field, &given, &wide);
  if (given != count) return wrong_size(tensor, given, count);
  for (size_t i = 0; i < count; ++i) memcpy(bytes + i * size, elements + i * wide, size);
  return NULL;
}

// A truth value is a byte of 0 or 1 from here on.
static tfrt_status_t check_booleans(const Onnx__TensorProto* tensor, const char* bytes,
                                    size_t count) {
  for (size_t i = 0; tensor->data_type == 9 && i < count; ++i) {
    if (bytes[i] != 0 && bytes[i] != 1) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "tensor '%s' has a BOOL that is neither 0 nor 1", tensor->name);
    }
  }
  return NULL;
}

static tfrt_status_t tensor_type(tfrt_ir_context_t* context, const Onnx__TensorProto* tensor,
                                 const tfrt_ir_type_t** out_type, size_t* out_count) {
  const tfrt_ir_type_t* element = tfrt_onnx_element_type(context, tensor->data_type);
  if (!element) {
    return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED,
                              "tensor '%s' has elements of %s, which are not supported",
                              tensor->name, tfrt_onnx_element_name(tensor->data_type));
  }
  // As many axes as tensors can have.
  if (tensor->n_dims > 12) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "tensor '%s' has %zu axes",
                              tensor->name, tensor->n_dims);
  }
  for (size_t i = 0; i < tensor->n_dims; ++i) {
    if (tensor->dims[i] >= 0) continue;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "tensor '%s' has a negative length",
                              tensor->name);
  }
  *out_type = tfrt_ir_type_shaped(context, TFRT_IR_TYPE_TENSOR, true, tensor->dims,
                                  (uint32_t)tensor->n_dims, element, NULL);
  if (!*out_type) return tfrt_status_out_of_memory();
  if (tfrt_ir_type_element_count(*out_type, out_count) && *out_count <= SIZE_MAX / 16) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "tensor '%s' is too large", tensor->name);
}

static tfrt_status_t attribute_of_bytes(tfrt_ir_context_t* context, const Onnx__TensorProto* tensor,
                                        const tfrt_ir_type_t* type, const void* bytes, size_t size,
                                        size_t wanted, const tfrt_ir_attribute_t** out_attribute) {
  if (size != wanted) return wrong_size(tensor, size, wanted);
  TFRT_RETURN_IF_ERROR(check_booleans(tensor, bytes, size));
  *out_attribute = tfrt_ir_attribute_dense(context, type, bytes, size);
  return *out_attribute ? NULL : tfrt_status_out_of_memory();
}

size_t tfrt_onnx_tensor_size(const Onnx__TensorProto* tensor) {
  if (tensor->data_location != 1) return tensor->has_raw_data ? tensor->raw_data.len : 0;
  const bool is_known = tensor->data_type >= 0 &&
                        (size_t)tensor->data_type < TFRT_ARRAY_SIZE(element_types) &&
                        element_types[tensor->data_type].size > 0;
  size_t size = is_known ? element_types[tensor->data_type].size : 0;
  for (size_t i = 0; i < tensor->n_dims; ++i) {
    const int64_t length = tensor->dims[i];
    if (length < 0 || __builtin_mul_overflow(size, (size_t)length, &size)) return 0;
  }
  return size;
}

tfrt_status_t tfrt_onnx_tensor_attribute(tfrt_ir_context_t* context,
                                         const Onnx__TensorProto* tensor, const char* directory,
                                         const tfrt_ir_attribute_t** out_attribute) {
  const tfrt_ir_type_t* type = NULL;
  size_t count = 0;
  TFRT_RETURN_IF_ERROR(tensor_type(context, tensor, &type, &count));
  size_t size = count * element_types[tensor->data_type].size;
  if (tensor->data_location == 1) {
    tfrt_file_contents_t contents;
    tfrt_string_view_t bytes;
    TFRT_RETURN_IF_ERROR(tfrt_onnx_external_data_read(tensor, directory, size, &contents, &bytes));
    tfrt_status_t status =
        attribute_of_bytes(context, tensor, type, bytes.data, bytes.size, size, out_attribute);
    tfrt_file_contents_deinitialize(&contents);
    return status;
  }
  if (tensor->has_raw_data) {
    return attribute_of_bytes(context, tensor, type, tensor->raw_data.data, tensor->raw_data.len,
                              size, out_attribute);
  }
  size_t given, wide;
  typed_elements(tensor, element_types[tensor->data_type].field, &given, &wide);
  // A shape alone must not make us allocate.
  if (given != count) return wrong_size(tensor, given, count);
  char* bytes = tfrt_allocator_allocate(tfrt_allocator_system(), size + 1);
  if (!bytes) return tfrt_status_out_of_memory();
  tfrt_status_t status = copy_typed(tensor, count, bytes);
  if (!status) {
    status = attribute_of_bytes(context, tensor, type, bytes, size, size, out_attribute);
  }
  tfrt_allocator_free(tfrt_allocator_system(), bytes, size + 1);
  return status;
}
