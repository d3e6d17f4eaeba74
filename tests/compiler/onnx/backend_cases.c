// SPDX-License-Identifier: Apache-2.0
//
// Runs the test cases of the ONNX project, as Debian's package libonnx-testdata has them:
//
//   DIR/<kind>/<case>/model.onnx, DIR/<kind>/<case>/test_data_set_<k>/{input,output}_<i>.pb
//
//   backend_cases DIR [CASE]     one line for each case: "pass CASE", "skip CASE: reason" (the
//                                importer refuses it), "FAIL CASE: reason"
//
// Results must have the same type and shape, and elements within 1e-3 of each other (relative) or
// 1e-7 (absolute).
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/compiler/onnx/model_runner.h"

#define MAX_TENSORS 64
#define RELATIVE 1e-3
#define ABSOLUTE 1e-7

static tfrt_host_context_t* host;
static int pass_count, skip_count, fail_count;

static double half_value(uint16_t bits, bool is_bfloat) {
  if (is_bfloat) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof(value));
    return (double)value;
  }
  int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double value = exponent == 31 ? (mantissa ? (double)NAN : (double)INFINITY)
                 : exponent     ? ldexp(1024 + mantissa, exponent - 25)
                                : ldexp(mantissa, -24);
  return bits >> 15 ? -value : value;
}

// Element |i| of |tensor| as a double.
static double element(const tfrt_dense_host_tensor_t* tensor, int64_t i) {
  const void* data = tfrt_dense_host_tensor_data(tensor);
  switch (tensor->dtype) {
    case TFRT_DTYPE_F32:
      return (double)((const float*)data)[i];
    case TFRT_DTYPE_F64:
      return ((const double*)data)[i];
    case TFRT_DTYPE_F16:
    case TFRT_DTYPE_BF16:
      return half_value(((const uint16_t*)data)[i], tensor->dtype == TFRT_DTYPE_BF16);
    default:
      return 0;
  }
}

static bool is_float(tfrt_dtype_t dtype) {
  return dtype == TFRT_DTYPE_F32 || dtype == TFRT_DTYPE_F64 || dtype == TFRT_DTYPE_F16 ||
         dtype == TFRT_DTYPE_BF16;
}

// Sets |reason| and returns false if the two differ.
static bool compare(const tfrt_dense_host_tensor_t* got, const tfrt_dense_host_tensor_t* wanted,
                    char* reason, size_t size) {
  if (got->dtype != wanted->dtype || !tfrt_shape_equal(&got->shape, &wanted->shape)) {
    snprintf(reason, size, "%s %s instead of %s %s", tfrt_dtype_name(got->dtype),
             tfrt_shape_text(&got->shape).text, tfrt_dtype_name(wanted->dtype),
             tfrt_shape_text(&wanted->shape).text);
    return false;
  }
  int64_t count = tfrt_dense_host_tensor_element_count(got);
  if (!is_float(got->dtype)) {
    size_t bytes = tfrt_dense_host_tensor_size(got);
    snprintf(reason, size, "other elements");
    return bytes == 0 || memcmp(tfrt_dense_host_tensor_data(got),
                                tfrt_dense_host_tensor_data(wanted), bytes) == 0;
  }
  for (int64_t i = 0; i < count; ++i) {
    double x = element(got, i), y = element(wanted, i);
    bool is_same = x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= ABSOLUTE + RELATIVE * fabs(y);
    if (is_same) continue;
    snprintf(reason, size, "element %lld is %g instead of %g", (long long)i, x, y);
    return false;
  }
  return true;
}

// Reads the tensors |kind|_0.pb, |kind|_1.pb, ... of |set|; NULL or what is wrong.
static tfrt_status_t read_tensors(const char* set, const char* kind,
                                  tfrt_dense_host_tensor_t* tensors, uint32_t* out_count) {
  for (*out_count = 0; *out_count < MAX_TENSORS; ++*out_count) {
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s_%u.pb", set, kind, *out_count);
    if (access(path, R_OK) != 0) break;
    TFRT_RETURN_IF_ERROR(tfrt_test_model_read_tensor(path, &tensors[*out_count]));
  }
  return NULL;
}

static void drop_tensors(tfrt_dense_host_tensor_t* tensors) {
  for (uint32_t i = 0; i < MAX_TENSORS; ++i) tfrt_dense_host_tensor_deinitialize(&tensors[i]);
}

// Runs one data set; returns true if all is as it should be.
static bool run_set(const char* model, const char* set, char* reason, size_t size,
                    bool* out_is_refused) {
  tfrt_dense_host_tensor_t inputs[MAX_TENSORS] = {{0}}, wanted[MAX_TENSORS] = {{0}};
  tfrt_dense_host_tensor_t results[MAX_TENSORS] = {{0}};
  uint32_t input_count = 0, wanted_count = 0, result_count = 0;
  const tfrt_onnx_options_t options = {.directory = NULL};
  tfrt_status_t status = read_tensors(set, "input", inputs, &input_count);
  if (!status) status = read_tensors(set, "output", wanted, &wanted_count);
  if (!status) {
    status = tfrt_test_model_run(host, model, &options, inputs, input_count, results, MAX_TENSORS,
                                 &result_count);
    memset(inputs, 0, sizeof(inputs));
  }
  bool is_good = !status && result_count == wanted_count;
  snprintf(reason, size, "%u results", result_count);
  for (uint32_t i = 0; is_good && i < wanted_count; ++i) {
    is_good = compare(&results[i], &wanted[i], reason, size);
  }
  if (status) {
    snprintf(reason, size, "%s", tfrt_status_message(status));
    *out_is_refused = strstr(reason, "not supported") != NULL;
    tfrt_status_release(status);
  }
  drop_tensors(inputs);
  drop_tensors(wanted);
  drop_tensors(results);
  return is_good;
}

static void run_case(const char* folder, const char* name) {
  char model[2048], set[2048], reason[1024] = "";
  bool is_good = true, is_refused = false;
  snprintf(model, sizeof(model), "%s/%s/model.onnx", folder, name);
  if (access(model, R_OK) != 0) return;
  tfrt_status_t refused = tfrt_test_model_import(host, model);
  if (refused) {
    is_good = false;
    is_refused = strstr(tfrt_status_message(refused), "not supported") != NULL;
    snprintf(reason, sizeof(reason), "%s", tfrt_status_message(refused));
    tfrt_status_release(refused);
  }
  for (int k = 0; is_good; ++k) {
    snprintf(set, sizeof(set), "%s/%s/test_data_set_%d", folder, name, k);
    if (access(set, R_OK) != 0) break;
    is_good = run_set(model, set, reason, sizeof(reason), &is_refused);
  }
  pass_count += is_good;
  skip_count += !is_good && is_refused;
  fail_count += !is_good && !is_refused;
  if (is_good) {
    printf("pass %s\n", name);
  } else {
    printf("%s %s: %s\n", is_refused ? "skip" : "FAIL", name, reason);
  }
}

static void run_folder(const char* folder, const char* only) {
  // The names in order: each round takes the least of those behind the last one.
  char last[256] = "";
  for (;;) {
    char next[256] = "";
    DIR* directory = opendir(folder);
    for (struct dirent* entry = directory ? readdir(directory) : NULL; entry;
         entry = readdir(directory)) {
      bool is_behind = strcmp(entry->d_name, last) > 0 && entry->d_name[0] != '.';
      if (!is_behind || (next[0] && strcmp(entry->d_name, next) >= 0)) continue;
      snprintf(next, sizeof(next), "%s", entry->d_name);
    }
    if (directory) closedir(directory);
    if (!next[0]) return;
    if (!only || strcmp(only, next) == 0) run_case(folder, next);
    memcpy(last, next, sizeof(last));
  }
}

int main(int argc, char** argv) {
  static const char* const kinds[] = {"node", "pytorch-converted", "pytorch-operator", "simple"};
  if (argc < 2) {
    fprintf(stderr, "Usage: backend_cases DIR [CASE]\n");
    return 2;
  }
  if (access(argv[1], R_OK) != 0) {
    printf("skipped: %s is not there; it comes with Debian's package libonnx-testdata\n", argv[1]);
    return 0;
  }
  tfrt_status_t status = tfrt_test_model_host(&host);
  if (status) return 1;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(kinds); ++i) {
    char folder[1024];
    snprintf(folder, sizeof(folder), "%s/%s", argv[1], kinds[i]);
    run_folder(folder, argc > 2 ? argv[2] : NULL);
  }
  printf("%d passed, %d skipped, %d failed\n", pass_count, skip_count, fail_count);
  tfrt_host_context_free(host);
  return fail_count > 0;
}
