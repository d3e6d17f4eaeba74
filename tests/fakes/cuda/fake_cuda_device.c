// SPDX-License-Identifier: Apache-2.0
//
// The driver, its devices and their contexts.
#include <stdio.h>
#include <string.h>

#include "tests/fakes/cuda/fake_cuda_call.h"

// --- The driver and its devices ------------------------------------------------------------

tfrt_cuda_result_t tfrt_fake_Init(unsigned flags) {
  (void)flags;
  return tfrt_fake_end(tfrt_fake_begin("cuInit"));
}

tfrt_cuda_result_t tfrt_fake_DriverGetVersion(int* version) {
  int error = tfrt_fake_begin("cuDriverGetVersion");
  *version = tfrt_fake.version;
  return tfrt_fake_end(error);
}

tfrt_cuda_result_t tfrt_fake_GetErrorName(int error, const char** name) {
  static const struct {
    int error;
    const char* name;
  } names[] = {
      {TFRT_CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
      {TFRT_CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
      {TFRT_CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
      {TFRT_CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"},
      {TFRT_CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE"},
      {TFRT_CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
      {TFRT_CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX"},
      {TFRT_CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"},
      {TFRT_CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND"},
      {TFRT_CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY"},
      {TFRT_CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {TFRT_CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED"},
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(names); ++i) {
    if (names[i].error != error) continue;
    *name = names[i].name;
    return 0;
  }
  *name = NULL;
  return TFRT_CUDA_ERROR_INVALID_VALUE;
}

tfrt_cuda_result_t tfrt_fake_GetErrorString(int error, const char** text) {
  (void)error;
  *text = "the fake driver says so";
  return 0;
}

tfrt_cuda_result_t tfrt_fake_DeviceGetCount(int* count) {
  int error = tfrt_fake_begin("cuDeviceGetCount");
  *count = TFRT_FAKE_CUDA_DEVICE_COUNT;
  return tfrt_fake_end(error);
}

tfrt_cuda_result_t tfrt_fake_DeviceGet(int* device, int ordinal) {
  int error = tfrt_fake_begin("cuDeviceGet");
  // Numbers that nobody takes for ordinals.
  *device = 100 + ordinal;
  if (ordinal < 0 || ordinal >= TFRT_FAKE_CUDA_DEVICE_COUNT) error = TFRT_CUDA_ERROR_INVALID_DEVICE;
  return tfrt_fake_end(error);
}

tfrt_cuda_result_t tfrt_fake_DeviceGetName(char* name, int size, int device) {
  int error = tfrt_fake_begin("cuDeviceGetName");
  snprintf(name, (size_t)size, "fake GPU %d", device - 100);
  return tfrt_fake_end(error);
}

tfrt_cuda_result_t tfrt_fake_DeviceGetPCIBusId(char* text, int size, int device) {
  int error = tfrt_fake_begin("cuDeviceGetPCIBusId");
  snprintf(text, (size_t)size, "0000:%02x:00.0", device);
  return tfrt_fake_end(error);
}

tfrt_cuda_result_t tfrt_fake_DeviceGetUuid(tfrt_cuda_uuid_t* uuid, int device) {
  int error = tfrt_fake_begin("cuDeviceGetUuid");
  memset(uuid->bytes, device, sizeof(uuid->bytes));
  return tfrt_fake_end(error);
}

tfrt_cuda_result_t tfrt_fake_DeviceTotalMem(size_t* size, int device) {
  (void)device;
  int error = tfrt_fake_begin("cuDeviceTotalMem");
  *size = TFRT_FAKE_CUDA_MEMORY_SIZE;
  return tfrt_fake_end(error);
}

tfrt_cuda_result_t tfrt_fake_DeviceGetAttribute(int* value, int attribute, int device) {
  (void)device;
  static const int values[][2] = {{TFRT_CUDA_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
                                  {TFRT_CUDA_ATTRIBUTE_MAX_BLOCK_X, 1024},
                                  {TFRT_CUDA_ATTRIBUTE_MAX_BLOCK_X + 1, 1024},
                                  {TFRT_CUDA_ATTRIBUTE_MAX_BLOCK_X + 2, 64},
                                  {TFRT_CUDA_ATTRIBUTE_MAX_GRID_X, INT32_MAX},
                                  {TFRT_CUDA_ATTRIBUTE_MAX_GRID_X + 1, UINT16_MAX},
                                  {TFRT_CUDA_ATTRIBUTE_MAX_GRID_X + 2, UINT16_MAX},
                                  {TFRT_CUDA_ATTRIBUTE_MULTIPROCESSOR_COUNT, 2},
                                  {TFRT_CUDA_ATTRIBUTE_CAPABILITY_MAJOR, 8},
                                  {TFRT_CUDA_ATTRIBUTE_REGISTERED_HOST_POINTER, 1},
                                  {TFRT_CUDA_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
                                  {TFRT_CUDA_ATTRIBUTE_MAX_SHARED_SIZE_OPTIN, 96 * 1024},
                                  {TFRT_CUDA_ATTRIBUTE_MEMORY_POOLS, 1},
                                  {TFRT_CUDA_ATTRIBUTE_POOL_HANDLE_TYPES, 1},
                                  {TFRT_CUDA_ATTRIBUTE_CLUSTER_LAUNCH, 1}};
  int error = tfrt_fake_begin("cuDeviceGetAttribute");
  *value = 0;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(values); ++i) {
    if (values[i][0] == attribute) *value = values[i][1];
  }
  return tfrt_fake_end(error);
}

tfrt_cuda_result_t tfrt_fake_DeviceCanAccessPeer(int* can, int device, int peer) {
  int error = tfrt_fake_begin("cuDeviceCanAccessPeer");
  *can = device != peer;
  return tfrt_fake_end(error);
}

// --- Contexts ------------------------------------------------------------------------------

tfrt_cuda_result_t tfrt_fake_DevicePrimaryCtxRetain(tfrt_cuda_context_t* context, int device) {
  int error = tfrt_fake_begin("cuDevicePrimaryCtxRetain");
  *context = &tfrt_fake.contexts[device - 100];
  if (!error && (*context)->retain_count++ == 0) (*context)->error = 0;
  return tfrt_fake_end(error);
}

tfrt_cuda_result_t tfrt_fake_DevicePrimaryCtxRelease(int device) {
  int error = tfrt_fake_begin("cuDevicePrimaryCtxRelease");
  tfrt_fake_context_t* context = &tfrt_fake.contexts[device - 100];
  if (context->retain_count == 0) tfrt_fake_defect("a context is released twice");
  // A release before the last one leaves the streams to the other holders.
  if (context->retain_count == 1 && context->error == 0 &&
      tfrt_fake_count_in(&tfrt_fake.streams, context) > 0) {
    tfrt_fake_defect("a context goes before its streams");
  }
  tfrt_fake_end(error);
  tfrt_fake_join_streams(context);
  tfrt_mutex_lock(&tfrt_fake.mutex);
  // With a broken context goes all that could not be given back.
  if (--context->retain_count == 0 && context->error) tfrt_fake_kill_blocks(context);
  return tfrt_fake_end(error);
}

tfrt_cuda_result_t tfrt_fake_CtxPushCurrent(tfrt_cuda_context_t context) {
  int error = tfrt_fake_begin("cuCtxPushCurrent");
  if (error) return tfrt_fake_end(error);
  if (context->retain_count == 0) tfrt_fake_defect("a context is used that nobody has retained");
  tfrt_fake_push_current(context);
  return tfrt_fake_end(0);
}

tfrt_cuda_result_t tfrt_fake_CtxPopCurrent(tfrt_cuda_context_t* context) {
  int error = tfrt_fake_begin_in_context("cuCtxPopCurrent", NULL);
  *context = tfrt_fake_pop_current();
  return tfrt_fake_end(error);
}

tfrt_cuda_result_t tfrt_fake_CtxGetStreamPriorityRange(int* last, int* first) {
  int error = tfrt_fake_begin_in_context("cuCtxGetStreamPriorityRange", NULL);
  *last = 0;
  *first = TFRT_FAKE_CUDA_FIRST_PRIORITY;
  return tfrt_fake_end(error);
}

tfrt_cuda_result_t tfrt_fake_CtxEnablePeerAccess(tfrt_cuda_context_t peer, unsigned flags) {
  (void)flags;
  int error = tfrt_fake_begin_in_context("cuCtxEnablePeerAccess", NULL);
  if (error) return tfrt_fake_end(error);
  bool* reach = &tfrt_fake_current()->peers[peer->ordinal];
  error = *reach ? TFRT_CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED : 0;
  *reach = true;
  return tfrt_fake_end(error);
}
