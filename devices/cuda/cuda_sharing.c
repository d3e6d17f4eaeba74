// SPDX-License-Identifier: Apache-2.0
//
// Memory of other processes on the same machine: pools with a handle that is a file's descriptor.
// The driver has three ways, and this one is for memory that is allocated in the order of streams.
// One descriptor stands for all blocks of a pool, and 64 bytes describe a block. So no transfer
// makes or sends a descriptor. The other two don't fit: cuIpcGetMemHandle refuses blocks of
// pools, and cuMemExportToShareableHandle needs a descriptor and a mapping of 2 MiB pages for
// each block.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "devices/cuda/cuda_impl.h"

// Larger blocks are not lent. NVIDIA's documentation names no limit, but users report that
// cuMemPoolImportPointer of the driver 580.126 ends a process that opens a block of more than 5248
// MiB on an RTX 3090.
#define TFRT_CUDA_MAX_LENT_SIZE ((uint64_t)4 << 30)

static tfrt_status_t cuda_identity(tfrt_device_t* device, tfrt_cuda_device_id_t id,
                                   char out_identity[TFRT_DEVICE_IDENTITY_SIZE]) {
  const tfrt_cuda_api_t* api = tfrt_cuda_api_of(device);
  tfrt_cuda_uuid_t uuid = {{0}};
  int version = 0;
  tfrt_cuda_result_t result = api->DriverGetVersion(&version);
  if (result == TFRT_CUDA_SUCCESS) result = api->DeviceGetUuid(&uuid, id);
  int used = snprintf(out_identity, TFRT_DEVICE_IDENTITY_SIZE, "cuda %d ", version);
  for (size_t i = 0; i < sizeof(uuid.bytes); ++i) {
    used += snprintf(out_identity + used, TFRT_DEVICE_IDENTITY_SIZE - (size_t)used, "%02x",
                     uuid.bytes[i]);
  }
  return tfrt_cuda_status(api, device->name, result, "cuDeviceGetUuid");
}

static tfrt_status_t cuda_sharing_identify(tfrt_device_t* device,
                                           char out_identity[TFRT_DEVICE_IDENTITY_SIZE]) {
  return cuda_identity(device, tfrt_cuda_device_of(device)->id, out_identity);
}

// Asks for all of the driver's devices, which opens none.
static tfrt_status_t cuda_sharing_find(tfrt_device_t* device, const char* identity,
                                       uint32_t* out_ordinal) {
  const tfrt_cuda_api_t* api = tfrt_cuda_api_of(device);
  for (uint32_t i = 0; i < device->platform->device_count; ++i) {
    tfrt_cuda_device_id_t id = 0;
    TFRT_RETURN_IF_ERROR(
        tfrt_cuda_status(api, device->name, api->DeviceGet(&id, (int)i), "cuDeviceGet"));
    char other[TFRT_DEVICE_IDENTITY_SIZE];
    TFRT_RETURN_IF_ERROR(cuda_identity(device, id, other));
    *out_ordinal = i;
    if (strcmp(other, identity) == 0) return NULL;
  }
  return tfrt_status_create(TFRT_STATUS_NOT_FOUND,
                            "this process has no device with this driver: %s", identity);
}

static tfrt_status_t cuda_sharing_export_pool(tfrt_device_t* device, int* out_descriptor) {
  *out_descriptor = fcntl(tfrt_cuda_device_of(device)->pool_descriptor, F_DUPFD_CLOEXEC, 0);
  if (*out_descriptor >= 0) return NULL;
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                            "%s: no descriptor for the pool that is lent: %s", device->name,
                            strerror(errno));
}

static tfrt_status_t cuda_sharing_export_block(tfrt_device_t* device, tfrt_device_address_t address,
                                               uint8_t out_block[TFRT_DEVICE_EXPORT_SIZE]) {
  tfrt_cuda_exported_t exported;
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(device));
  tfrt_cuda_result_t result = tfrt_cuda_api_of(device)->MemPoolExportPointer(&exported, address);
  memcpy(out_block, exported.bytes, sizeof(exported.bytes));
  return tfrt_cuda_leave(device, result, "cuMemPoolExportPointer");
}

static void cuda_sharing_close_pool(tfrt_device_t* device, void* pool) {
  tfrt_status_t status = tfrt_cuda_enter(device);
  if (!status) {
    status =
        tfrt_cuda_leave(device, tfrt_cuda_api_of(device)->MemPoolDestroy(pool), "cuMemPoolDestroy");
  }
  // Ignores an error: with the context of a lost device its pools go, too.
  tfrt_status_release(status);
}

tfrt_status_t tfrt_cuda_pool_give_access(tfrt_device_t* owner, tfrt_cuda_pool_t pool,
                                         const tfrt_cuda_device_t* user) {
  const tfrt_cuda_access_t access = {.location_type = TFRT_CUDA_LOCATION_DEVICE,
                                     .location_id = user->id,
                                     .flags = TFRT_CUDA_ACCESS_READ_WRITE};
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(owner));
  return tfrt_cuda_leave(owner, tfrt_cuda_api_of(owner)->MemPoolSetAccess(pool, &access, 1),
                         "cuMemPoolSetAccess");
}

static tfrt_status_t cuda_sharing_open_pool(tfrt_device_t* device, int descriptor,
                                            void** out_pool) {
  *out_pool = NULL;
  const tfrt_cuda_api_t* api = tfrt_cuda_api_of(device);
  tfrt_cuda_pool_t pool = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(device));
  // The handle is the descriptor itself, in the room of a pointer.
  tfrt_cuda_result_t result = api->MemPoolImportFromShareableHandle(
      &pool, (void*)(intptr_t)descriptor, TFRT_CUDA_HANDLE_DESCRIPTOR, 0);
  TFRT_RETURN_IF_ERROR(tfrt_cuda_leave(device, result, "cuMemPoolImportFromShareableHandle"));
  // Nobody reaches the memory of an imported pool at first, the pool's own device neither.
  tfrt_status_t status = tfrt_cuda_pool_give_access(device, pool, tfrt_cuda_device_of(device));
  if (status) {
    cuda_sharing_close_pool(device, pool);
    return status;
  }
  *out_pool = pool;
  return NULL;
}

static tfrt_status_t cuda_sharing_close_block(tfrt_device_t* device,
                                              tfrt_device_address_t address) {
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(device));
  // At once, and waits for nothing: of memory of pools the driver takes all work to be over.
  return tfrt_cuda_leave(device, tfrt_cuda_api_of(device)->MemFree(address), "cuMemFree");
}

static tfrt_status_t cuda_sharing_open_block(tfrt_device_t* device, void* pool, tfrt_device_t* user,
                                             const uint8_t block[TFRT_DEVICE_EXPORT_SIZE],
                                             size_t size, tfrt_device_address_t* out_address) {
  *out_address = 0;
  const tfrt_cuda_api_t* api = tfrt_cuda_api_of(device);
  if (user != device) {
    TFRT_RETURN_IF_ERROR(tfrt_cuda_pool_give_access(device, pool, tfrt_cuda_device_of(user)));
  }
  tfrt_cuda_exported_t exported;
  memcpy(exported.bytes, block, sizeof(exported.bytes));
  tfrt_cuda_address_t address = 0;
  tfrt_cuda_address_t start = 0;
  size_t there = 0;
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(device));
  tfrt_cuda_result_t result = api->MemPoolImportPointer(&address, pool, &exported);
  TFRT_RETURN_IF_ERROR(tfrt_cuda_leave(device, result, "cuMemPoolImportPointer"));
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(device));
  result = api->MemGetAddressRange(&start, &there, address);
  // The driver's documentation names the function for memory of cuMemAlloc only. If the driver
  // doesn't tell the size of an opened block, the lender's word counts.
  bool is_told = result == TFRT_CUDA_SUCCESS;
  if (!is_told && !tfrt_cuda_result_is_sticky(result)) result = TFRT_CUDA_SUCCESS;
  tfrt_status_t status = tfrt_cuda_leave(device, result, "cuMemGetAddressRange");
  if (!status && is_told && (address < start || there - (size_t)(address - start) < size)) {
    status = tfrt_status_create(TFRT_STATUS_OUT_OF_RANGE,
                                "%s: %zu bytes are beyond another process's block of %zu",
                                device->name, size, there);
  }
  if (status) {
    tfrt_status_release(cuda_sharing_close_block(device, address));
    return status;
  }
  *out_address = address;
  return NULL;
}

const tfrt_device_sharing_t tfrt_cuda_sharing = {
    .max_block_size = TFRT_CUDA_MAX_LENT_SIZE,
    .identify = cuda_sharing_identify,
    .find = cuda_sharing_find,
    .export_pool = cuda_sharing_export_pool,
    .export_block = cuda_sharing_export_block,
    .open_pool = cuda_sharing_open_pool,
    .close_pool = cuda_sharing_close_pool,
    .open_block = cuda_sharing_open_block,
    .close_block = cuda_sharing_close_block,
};
