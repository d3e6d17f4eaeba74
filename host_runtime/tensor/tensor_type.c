// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/tensor_type.h"

#include <string.h>

// In the order of tfrt_tensor_layout_t.
static const tfrt_tensor_type_t built_in[] = {
    {.choice = {"DenseHost", ""}},
    {.choice = {"CooHost", ""}},
    {.choice = {"StringHost", ""}},
    {.choice = {"ScalarHost", ""}},
};

_Static_assert(TFRT_ARRAY_SIZE(built_in) == TFRT_TENSOR_LAYOUT_FOREIGN,
               "each layout but the foreign one has a type");

static tfrt_choice_table_t types = {
    .what = "type of tensors",
    .mutex = TFRT_MUTEX_INITIALIZER,
    .count = TFRT_ARRAY_SIZE(built_in),
    .entries = {&built_in[0].choice, &built_in[1].choice, &built_in[2].choice, &built_in[3].choice},
};

tfrt_status_t tfrt_tensor_type_register(const tfrt_tensor_type_t* type) {
  const char* name = type->choice.name;
  if (!name || strlen(name) > TFRT_TENSOR_TYPE_MAX_NAME || !type->destroy || !type->print) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "the type of tensors '%s' needs a name of at most %d bytes, and the "
                              "functions destroy and print",
                              name ? name : "", TFRT_TENSOR_TYPE_MAX_NAME);
  }
  return tfrt_choice_add(&types, &type->choice);
}

tfrt_status_t tfrt_tensor_type_find(tfrt_string_view_t name, const tfrt_tensor_type_t** out_type) {
  *out_type = NULL;
  char text[TFRT_TENSOR_TYPE_MAX_NAME + 1] = {0};
  if (name.size > TFRT_TENSOR_TYPE_MAX_NAME || memchr(name.data, '\0', name.size)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "the name of a type of tensors has at most %d bytes, none of them 0",
                              TFRT_TENSOR_TYPE_MAX_NAME);
  }
  memcpy(text, name.data, name.size);
  const tfrt_choice_t* choice;
  const char* arguments;
  TFRT_RETURN_IF_ERROR(tfrt_choice_find(&types, text, &choice, &arguments));
  *out_type = TFRT_CONTAINER_OF(choice, tfrt_tensor_type_t, choice);
  return NULL;
}

const tfrt_tensor_type_t* tfrt_tensor_type_of_layout(tfrt_tensor_layout_t layout) {
  return &built_in[layout];
}

const tfrt_tensor_type_t* tfrt_tensor_type_of(const tfrt_host_tensor_t* tensor) {
  if (tensor->layout == TFRT_TENSOR_LAYOUT_FOREIGN) return tensor->foreign.type;
  return tfrt_tensor_type_of_layout(tensor->layout);
}
