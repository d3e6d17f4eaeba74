// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/cuda_platform.h"

#include <fcntl.h>
#include <unistd.h>

#include "devices/cuda/cuda_impl.h"

// From this one on launches have priorities.
#define TFRT_CUDA_VERSION_OF_PRIORITIES 11070

// --- Calls -----------------------------------------------------------------------

// The status of |result|. An error that sticks loses |device|. The caller then gets the error that
// |device| was lost with, even if another call saw that first.
static tfrt_status_t cuda_judge(tfrt_device_t* device, tfrt_cuda_result_t result,
                                const char* call) {
  tfrt_status_t status = tfrt_cuda_status(tfrt_cuda_api_of(device), device->name, result, call);
  if (!status || !tfrt_cuda_result_is_sticky(result)) return status;
  tfrt_device_lose(device, status);
  tfrt_status_release(status);
  return tfrt_device_check(device);
}

tfrt_status_t tfrt_cuda_enter(tfrt_device_t* device) {
  tfrt_cuda_result_t result =
      tfrt_cuda_api_of(device)->CtxPushCurrent(tfrt_cuda_device_of(device)->context);
  return cuda_judge(device, result, "cuCtxPushCurrent");
}

tfrt_status_t tfrt_cuda_leave(tfrt_device_t* device, tfrt_cuda_result_t result, const char* call) {
  tfrt_cuda_context_t context;
  tfrt_cuda_api_of(device)->CtxPopCurrent(&context);
  return cuda_judge(device, result, call);
}

// --- Memory ----------------------------------------------------------------------

static tfrt_status_t cuda_device_allocate(tfrt_device_t* device, tfrt_device_space_t space,
                                          size_t size, tfrt_device_address_t* out_address) {
  const tfrt_cuda_api_t* api = tfrt_cuda_api_of(device);
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(device));
  if (space == TFRT_DEVICE_SPACE_DEVICE) {
    return tfrt_cuda_leave(device, api->MemAlloc(out_address, size), "cuMemAlloc");
  }
  void* data = NULL;
  tfrt_cuda_result_t result = api->MemHostAlloc(&data, size, TFRT_CUDA_HOST_PORTABLE);
  *out_address = (tfrt_device_address_t)(uintptr_t)data;
  return tfrt_cuda_leave(device, result, "cuMemHostAlloc");
}

static tfrt_status_t cuda_device_deallocate(tfrt_device_t* device, tfrt_device_space_t space,
                                            tfrt_device_address_t address, size_t size) {
  (void)size;
  const tfrt_cuda_api_t* api = tfrt_cuda_api_of(device);
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(device));
  if (space == TFRT_DEVICE_SPACE_DEVICE) {
    return tfrt_cuda_leave(device, api->MemFree(address), "cuMemFree");
  }
  return tfrt_cuda_leave(device, api->MemFreeHost((void*)(uintptr_t)address), "cuMemFreeHost");
}

static tfrt_status_t cuda_device_pin(tfrt_device_t* device, void* data, size_t size) {
  if (!tfrt_cuda_device_of(device)->can_register) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                              "%s can't use the host's addresses of memory that is pinned later: "
                              "copy to memory that is allocated for it",
                              device->name);
  }
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(device));
  tfrt_cuda_result_t result =
      tfrt_cuda_api_of(device)->MemHostRegister(data, size, TFRT_CUDA_HOST_PORTABLE);
  return tfrt_cuda_leave(device, result, "cuMemHostRegister");
}

static tfrt_status_t cuda_device_unpin(tfrt_device_t* device, void* data, size_t size) {
  (void)size;
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(device));
  return tfrt_cuda_leave(device, tfrt_cuda_api_of(device)->MemHostUnregister(data),
                         "cuMemHostUnregister");
}

// Lets |device| reach the memory of |peer|: what is allocated as such, and its pool.
static tfrt_status_t cuda_device_reach(tfrt_cuda_device_t* device, tfrt_cuda_device_t* peer) {
  const tfrt_cuda_api_t* api = tfrt_cuda_api_of(&device->base);
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(&device->base));
  tfrt_cuda_result_t result = api->CtxEnablePeerAccess(peer->context, 0);
  if (result == TFRT_CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) result = TFRT_CUDA_SUCCESS;
  TFRT_RETURN_IF_ERROR(tfrt_cuda_leave(&device->base, result, "cuCtxEnablePeerAccess"));
  return peer->pool ? tfrt_cuda_pool_give_access(&peer->base, peer->pool, device) : NULL;
}

static tfrt_status_t cuda_device_can_copy_from(tfrt_device_t* base, tfrt_device_t* base_peer,
                                               bool* out_can) {
  const tfrt_cuda_api_t* api = tfrt_cuda_api_of(base);
  tfrt_cuda_device_t* device = tfrt_cuda_device_of(base);
  tfrt_cuda_device_t* peer = tfrt_cuda_device_of(base_peer);
  // Ordinals beyond the word are asked each time, which is slow and right.
  uint64_t bit = base_peer->ordinal < 64 ? UINT64_C(1) << base_peer->ordinal : 0;
  // Relaxed: to enable twice does no harm.
  *out_can = (atomic_load_explicit(&device->known_peers, memory_order_relaxed) & bit) != 0;
  if (*out_can) return NULL;
  int there = 0;
  int back = 0;
  tfrt_cuda_result_t result = api->DeviceCanAccessPeer(&there, device->id, peer->id);
  if (result == TFRT_CUDA_SUCCESS) {
    result = api->DeviceCanAccessPeer(&back, peer->id, device->id);
  }
  TFRT_RETURN_IF_ERROR(cuda_judge(base, result, "cuDeviceCanAccessPeer"));
  if (!there || !back) return NULL;
  TFRT_RETURN_IF_ERROR(cuda_device_reach(device, peer));
  TFRT_RETURN_IF_ERROR(cuda_device_reach(peer, device));
  atomic_fetch_or_explicit(&device->known_peers, bit, memory_order_relaxed);
  *out_can = true;
  return NULL;
}

// --- Devices -----------------------------------------------------------------------

// Destroys the device's own pool. In the device's context.
static tfrt_cuda_result_t cuda_device_destroy_pool(tfrt_cuda_device_t* device) {
  tfrt_cuda_result_t result = tfrt_cuda_api_of(&device->base)->MemPoolDestroy(device->pool);
  close(device->pool_descriptor);
  device->has_own_pool = false;
  device->pool = NULL;
  return result;
}

static void cuda_device_destroy(tfrt_device_t* base) {
  tfrt_cuda_device_t* device = tfrt_cuda_device_of(base);
  if (!device->is_open) return;
  if (device->has_own_pool) {
    // Ignores an error: with the context of a lost device its pools go, too.
    tfrt_status_t status = tfrt_cuda_enter(base);
    if (!status) {
      status = tfrt_cuda_leave(base, cuda_device_destroy_pool(device), "cuMemPoolDestroy");
    }
    tfrt_status_release(status);
  }
  tfrt_cuda_api_of(base)->DevicePrimaryCtxRelease(device->id);
  tfrt_device_deinitialize(base);
}

static const tfrt_device_vtable_t device_vtable = {
    .destroy = cuda_device_destroy,
    .allocate = cuda_device_allocate,
    .deallocate = cuda_device_deallocate,
    .pin = cuda_device_pin,
    .unpin = cuda_device_unpin,
    .create_stream = tfrt_cuda_device_create_stream,
    .create_event = tfrt_cuda_device_create_event,
    .load_module = tfrt_cuda_device_load_module,
    .can_copy_from = cuda_device_can_copy_from,
    .create_blas = tfrt_cuda_device_create_blas,
    .create_dnn = tfrt_cuda_device_create_dnn,
    .create_ccl = tfrt_cuda_device_create_ccl,
    .ccl_site = tfrt_cuda_device_ccl_site,
};

// The driver's value of |attribute|; 0 if the driver doesn't know that attribute.
static uint32_t cuda_device_attribute(const tfrt_cuda_device_t* device, int attribute) {
  int value = 0;
  tfrt_cuda_result_t result =
      tfrt_cuda_api_of(&device->base)->DeviceGetAttribute(&value, attribute, device->id);
  return result == TFRT_CUDA_SUCCESS && value > 0 ? (uint32_t)value : 0;
}

static tfrt_status_t cuda_device_read_properties(tfrt_cuda_device_t* device) {
  const tfrt_cuda_api_t* api = tfrt_cuda_api_of(&device->base);
  tfrt_device_properties_t* p = &device->base.properties;
  size_t size = 0;
  tfrt_cuda_result_t result = api->DeviceGetName(p->model, sizeof(p->model), device->id);
  if (result == TFRT_CUDA_SUCCESS) result = api->DeviceTotalMem(&size, device->id);
  p->memory_size = size;
  p->architecture = 10 * cuda_device_attribute(device, TFRT_CUDA_ATTRIBUTE_CAPABILITY_MAJOR) +
                    cuda_device_attribute(device, TFRT_CUDA_ATTRIBUTE_CAPABILITY_MINOR);
  p->multiprocessor_count = cuda_device_attribute(device, TFRT_CUDA_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  p->max_threads_per_block =
      cuda_device_attribute(device, TFRT_CUDA_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  for (int i = 0; i < 3; ++i) {
    p->max_block[i] = cuda_device_attribute(device, TFRT_CUDA_ATTRIBUTE_MAX_BLOCK_X + i);
    p->max_grid[i] = cuda_device_attribute(device, TFRT_CUDA_ATTRIBUTE_MAX_GRID_X + i);
  }
  p->max_shared_size = cuda_device_attribute(device, TFRT_CUDA_ATTRIBUTE_MAX_SHARED_SIZE_OPTIN);
  p->has_cooperative_launch =
      cuda_device_attribute(device, TFRT_CUDA_ATTRIBUTE_COOPERATIVE_LAUNCH) != 0;
  p->has_clusters =
      api->LaunchKernelEx && cuda_device_attribute(device, TFRT_CUDA_ATTRIBUTE_CLUSTER_LAUNCH) != 0;
  device->can_register =
      cuda_device_attribute(device, TFRT_CUDA_ATTRIBUTE_REGISTERED_HOST_POINTER) != 0;
  return cuda_judge(&device->base, result, "cuDeviceGetName");
}

// Exports |pool|, which is new, for good. Users report that drivers describe a block
// (cuMemPoolExportPointer) only of a pool that was exported; NVIDIA's documentation doesn't say so.
// Returns the descriptor, or -1.
static int cuda_device_export_pool(const tfrt_cuda_api_t* api, tfrt_cuda_pool_t pool) {
  int descriptor = -1;
  tfrt_cuda_result_t result =
      api->MemPoolExportToShareableHandle(&descriptor, pool, TFRT_CUDA_HANDLE_DESCRIPTOR, 0);
  if (result != TFRT_CUDA_SUCCESS || descriptor < 0) return -1;
  // Programs that this process starts have no use for it.
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return descriptor;
}

// Makes a pool whose memory other processes can be given; NULL if that can't be had. In the
// device's context.
static tfrt_cuda_pool_t cuda_device_create_pool(tfrt_cuda_device_t* device) {
  const tfrt_cuda_api_t* api = tfrt_cuda_api_of(&device->base);
  bool can_share = api->MemPoolCreate && api->MemPoolDestroy && api->MemAllocFromPoolAsync &&
                   api->MemPoolExportToShareableHandle && api->MemPoolImportFromShareableHandle &&
                   api->MemPoolExportPointer && api->MemPoolImportPointer && api->DeviceGetUuid &&
                   (cuda_device_attribute(device, TFRT_CUDA_ATTRIBUTE_POOL_HANDLE_TYPES) &
                    TFRT_CUDA_HANDLE_DESCRIPTOR) != 0;
  const tfrt_cuda_pool_options_t options = {.allocation_type = TFRT_CUDA_ALLOCATION_PINNED,
                                            .handle_types = TFRT_CUDA_HANDLE_DESCRIPTOR,
                                            .location_type = TFRT_CUDA_LOCATION_DEVICE,
                                            .location_id = device->id};
  tfrt_cuda_pool_t pool = NULL;
  if (!can_share || api->MemPoolCreate(&pool, &options) != TFRT_CUDA_SUCCESS) return NULL;
  device->pool_descriptor = cuda_device_export_pool(api, pool);
  if (device->pool_descriptor >= 0) return pool;
  api->MemPoolDestroy(pool);
  return NULL;
}

// Tells |pool| to keep what is freed; returns whether it does.
static bool cuda_pool_keep(const tfrt_cuda_api_t* api, tfrt_cuda_pool_t pool) {
  uint64_t threshold = UINT64_MAX;
  return api->MemPoolSetAttribute(pool, TFRT_CUDA_POOL_RELEASE_THRESHOLD, &threshold) ==
         TFRT_CUDA_SUCCESS;
}

// Finds the device's pool; without one there is none. A pool of our own comes first: the driver
// shares no memory of the device's default one. That one does all else, wherever the driver makes
// or exports no other: in some containers, and on virtual GPUs. In the device's context.
static void cuda_device_find_pool(tfrt_cuda_device_t* device) {
  const tfrt_cuda_api_t* api = tfrt_cuda_api_of(&device->base);
  bool has_pools = api->MemAllocAsync && api->MemFreeAsync && api->DeviceGetDefaultMemPool &&
                   api->MemPoolSetAttribute && api->MemPoolSetAccess &&
                   cuda_device_attribute(device, TFRT_CUDA_ATTRIBUTE_MEMORY_POOLS) != 0;
  if (!has_pools) return;
  device->pool = cuda_device_create_pool(device);
  device->has_own_pool = device->pool != NULL;
  if (device->has_own_pool && !cuda_pool_keep(api, device->pool)) {
    cuda_device_destroy_pool(device);
  }
  bool is_there = device->has_own_pool ||
                  (api->DeviceGetDefaultMemPool(&device->pool, device->id) == TFRT_CUDA_SUCCESS &&
                   cuda_pool_keep(api, device->pool));
  device->base.properties.has_pools = is_there;
  if (device->has_own_pool) device->base.sharing = &tfrt_cuda_sharing;
  if (!is_there) device->pool = NULL;
}

// Asks for the priorities of launches, which older drivers don't have.
static void cuda_device_find_priorities(tfrt_cuda_device_t* device) {
  const tfrt_cuda_api_t* api = tfrt_cuda_api_of(&device->base);
  int version = 0;
  int last = 0;
  int first = 0;
  bool can_tell = api->LaunchKernelEx && api->CtxGetStreamPriorityRange &&
                  api->DriverGetVersion(&version) == TFRT_CUDA_SUCCESS &&
                  version >= TFRT_CUDA_VERSION_OF_PRIORITIES;
  if (!can_tell) return;
  tfrt_status_t status = tfrt_cuda_enter(&device->base);
  if (!status) {
    tfrt_cuda_result_t result = api->CtxGetStreamPriorityRange(&last, &first);
    status = tfrt_cuda_leave(&device->base, result, "cuCtxGetStreamPriorityRange");
  }
  if (!status && first < 0) device->base.properties.first_priority = first;
  tfrt_status_release(status);
}

static tfrt_status_t cuda_device_open(tfrt_cuda_device_t* device, tfrt_cuda_platform_t* platform,
                                      uint32_t ordinal) {
  const tfrt_cuda_api_t* api = &platform->api;
  tfrt_device_initialize(&device->base, &device_vtable, &platform->base, ordinal);
  tfrt_status_t status =
      cuda_judge(&device->base, api->DeviceGet(&device->id, (int)ordinal), "cuDeviceGet");
  if (!status) status = cuda_device_read_properties(device);
  if (!status) {
    status = cuda_judge(&device->base, api->DevicePrimaryCtxRetain(&device->context, device->id),
                        "cuDevicePrimaryCtxRetain");
  }
  if (status) {
    tfrt_device_deinitialize(&device->base);
    return status;
  }
  // Without a context there is no pool, and the first work says why.
  status = tfrt_cuda_enter(&device->base);
  if (!status) {
    cuda_device_find_pool(device);
    status = tfrt_cuda_leave(&device->base, TFRT_CUDA_SUCCESS, "");
  }
  tfrt_status_release(status);
  cuda_device_find_priorities(device);
  device->is_open = true;
  return NULL;
}

// --- The platform --------------------------------------------------------------------

static void cuda_platform_destroy(tfrt_device_platform_t* base);

static void cuda_platform_destroy_later(tfrt_task_t* task) {
  cuda_platform_destroy(&TFRT_CONTAINER_OF(task, tfrt_cuda_platform_t, destroy_task)->base);
}

static void cuda_platform_destroy(tfrt_device_platform_t* base) {
  tfrt_cuda_platform_t* platform = TFRT_CONTAINER_OF(base, tfrt_cuda_platform_t, base);
  // A thread of the poller can't wait for its own end.
  if (tfrt_cuda_poller_is_here(&platform->poller)) {
    tfrt_task_initialize(&platform->destroy_task, cuda_platform_destroy_later);
    tfrt_work_queue_add_task(base->work_queue, &platform->destroy_task);
    return;
  }
  tfrt_allocator_t allocator = base->allocator;
  tfrt_cuda_poller_deinitialize(&platform->poller);
  for (uint32_t i = 0; i < base->device_count; ++i) {
    if (platform->devices[i].is_open) cuda_device_destroy(&platform->devices[i].base);
  }
  tfrt_allocator_free(allocator, platform->devices,
                      base->device_count * sizeof(*platform->devices));
  tfrt_mutex_deinitialize(&platform->mutex);
  tfrt_mutex_deinitialize(&platform->library_mutex);
  tfrt_device_platform_deinitialize(base);
  tfrt_allocator_free(allocator, platform, sizeof(*platform));
}

static tfrt_status_t cuda_platform_device(tfrt_device_platform_t* base, uint32_t ordinal,
                                          tfrt_device_t** out_device) {
  tfrt_cuda_platform_t* platform = TFRT_CONTAINER_OF(base, tfrt_cuda_platform_t, base);
  tfrt_cuda_device_t* device = &platform->devices[ordinal];
  tfrt_mutex_lock(&platform->mutex);
  tfrt_status_t status = device->is_open ? NULL : cuda_device_open(device, platform, ordinal);
  tfrt_mutex_unlock(&platform->mutex);
  if (!status) *out_device = &device->base;
  return status;
}

tfrt_status_t tfrt_cuda_platform_open(tfrt_cuda_platform_t* platform,
                                      const tfrt_vendor_library_t* library,
                                      tfrt_cuda_vendor_t vendor, void* table) {
  tfrt_mutex_lock(&platform->library_mutex);
  tfrt_status_t status = NULL;
  if (!(platform->open_libraries & vendor)) {
    status = tfrt_vendor_library_open(library, platform->library_path, table);
    if (!status) platform->open_libraries |= vendor;
  }
  tfrt_mutex_unlock(&platform->library_mutex);
  return status;
}

static const tfrt_device_platform_vtable_t platform_vtable = {
    .destroy = cuda_platform_destroy,
    .device = cuda_platform_device,
    .create_ccl_id = tfrt_cuda_platform_create_ccl_id,
};

tfrt_status_t tfrt_cuda_platform_create(const tfrt_cuda_platform_options_t* options,
                                        tfrt_allocator_t allocator, tfrt_work_queue_t* work_queue,
                                        tfrt_device_platform_t** out_platform) {
  *out_platform = NULL;
  const char* path =
      options->library_for_testing ? options->library_for_testing : TFRT_CUDA_LIBRARY_NAME;
  tfrt_cuda_api_t api;
  TFRT_RETURN_IF_ERROR(tfrt_cuda_library_open(path, &api));
  int count = 0;
  TFRT_RETURN_IF_ERROR(
      tfrt_cuda_status(&api, path, api.DeviceGetCount(&count), "cuDeviceGetCount"));
  if (count <= 0) {
    return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "no CUDA: the driver knows no GPU here");
  }
  tfrt_cuda_platform_t* platform = tfrt_allocator_allocate_zeroed(allocator, sizeof(*platform));
  if (!platform) return tfrt_status_out_of_memory();
  platform->devices =
      tfrt_allocator_allocate_array(allocator, (size_t)count, sizeof(*platform->devices));
  if (!platform->devices) {
    tfrt_allocator_free(allocator, platform, sizeof(*platform));
    return tfrt_status_out_of_memory();
  }
  tfrt_device_platform_initialize(&platform->base, &platform_vtable, "cuda", (uint32_t)count,
                                  allocator, work_queue);
  platform->api = api;
  tfrt_mutex_initialize(&platform->mutex);
  tfrt_mutex_initialize(&platform->library_mutex);
  platform->library_path = options->vendor_library_for_testing ? options->vendor_library_for_testing
                                                               : options->library_for_testing;
  tfrt_cuda_poller_initialize(&platform->poller, work_queue);
  *out_platform = &platform->base;
  return NULL;
}
