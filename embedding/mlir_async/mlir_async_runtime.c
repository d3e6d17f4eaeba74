// SPDX-License-Identifier: Apache-2.0
#include "embedding/mlir_async/mlir_async_runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "embedding/mlir_async/misuse.h"
#include "embedding/mlir_async/object.h"
#include "embedding/mlir_async/pool.h"
#include "embedding/mlir_async/quarantine.h"
#include "embedding/mlir_async/resumption.h"

// --- References --------------------------------------------------------------

void mlirAsyncRuntimeAddRef(void* object, int64_t count) {
  tfrt_mlir_object_retain(object, count, __func__);
}

void mlirAsyncRuntimeDropRef(void* object, int64_t count) {
  tfrt_mlir_object_release(object, count, __func__);
}

// --- Creation ----------------------------------------------------------------

void* mlirAsyncRuntimeCreateToken(void) { return tfrt_mlir_token_create(); }

void* mlirAsyncRuntimeCreateValue(int64_t size) { return tfrt_mlir_value_create(size); }

void* mlirAsyncRuntimeCreateGroup(int64_t size) { return tfrt_mlir_group_create(size); }

void* mlirAsyncRuntimeGetValueStorage(void* value) {
  return tfrt_mlir_value_storage(value, __func__);
}

// --- Settling ----------------------------------------------------------------

void mlirAsyncRuntimeEmplaceToken(void* token) { tfrt_mlir_object_emplace(token, __func__); }

void mlirAsyncRuntimeEmplaceValue(void* value) { tfrt_mlir_object_emplace(value, __func__); }

void mlirAsyncRuntimeSetTokenError(void* token) { tfrt_mlir_object_fail(token, __func__); }

void mlirAsyncRuntimeSetValueError(void* value) { tfrt_mlir_object_fail(value, __func__); }

bool mlirAsyncRuntimeIsTokenError(void* token) {
  return tfrt_mlir_object_is_failed(token, __func__);
}

bool mlirAsyncRuntimeIsValueError(void* value) {
  return tfrt_mlir_object_is_failed(value, __func__);
}

bool mlirAsyncRuntimeIsGroupError(void* group) {
  return tfrt_mlir_group_is_failed(group, __func__);
}

int64_t mlirAsyncRuntimeAddTokenToGroup(void* token, void* group) {
  return tfrt_mlir_group_add(group, token, __func__);
}

// --- Waiting -----------------------------------------------------------------

void mlirAsyncRuntimeAwaitToken(void* token) {
  tfrt_mlir_block_until_resolved(tfrt_mlir_object_async_value(token, __func__));
}

void mlirAsyncRuntimeAwaitValue(void* value) {
  tfrt_mlir_block_until_resolved(tfrt_mlir_object_async_value(value, __func__));
}

void mlirAsyncRuntimeAwaitAllInGroup(void* group) {
  tfrt_mlir_block_until_resolved(tfrt_mlir_object_async_value(group, __func__));
}

void mlirAsyncRuntimeAwaitTokenAndExecute(void* token, void* frame, mlir_async_resume_t resume) {
  tfrt_mlir_resume_when_resolved(tfrt_mlir_object_async_value(token, __func__), frame, resume);
}

void mlirAsyncRuntimeAwaitValueAndExecute(void* value, void* frame, mlir_async_resume_t resume) {
  tfrt_mlir_resume_when_resolved(tfrt_mlir_object_async_value(value, __func__), frame, resume);
}

void mlirAsyncRuntimeAwaitAllInGroupAndExecute(void* group, void* frame,
                                               mlir_async_resume_t resume) {
  tfrt_mlir_resume_when_resolved(tfrt_mlir_object_async_value(group, __func__), frame, resume);
}

void mlirAsyncRuntimeExecute(void* frame, mlir_async_resume_t resume) {
  tfrt_mlir_resume_in_pool(frame, resume);
}

// --- Threads -----------------------------------------------------------------

int64_t mlirAsyncRuntimGetNumWorkerThreads(void) {
  return tfrt_work_queue_parallelism(tfrt_mlir_pool_queue());
}

void mlirAsyncRuntimePrintCurrentThreadId(void) {
  printf("Current thread id: %ld\n", (long)gettid());
  fflush(stdout);
}

// --- Life --------------------------------------------------------------------

// One line for those who have asked for it.
static void report(void) {
  const char* wish = getenv("TFRT_MLIR_ASYNC_REPORT");
  if (!wish || strcmp(wish, "1") != 0) return;
  fprintf(stderr,
          "tfrt mlir async: %lld live objects, %llu references dropped too often, "
          "%llu uses of objects that were gone, %llu settled twice\n",
          (long long)tfrt_mlir_object_live_count(),
          (unsigned long long)tfrt_mlir_misuse_count(TFRT_MLIR_MISUSE_OVER_DROP),
          (unsigned long long)tfrt_mlir_misuse_count(TFRT_MLIR_MISUSE_STALE),
          (unsigned long long)tfrt_mlir_misuse_count(TFRT_MLIR_MISUSE_SETTLED_TWICE));
}

void __mlir_execution_engine_init(void* symbols) { (void)symbols; }

void __mlir_execution_engine_destroy(void) {
  tfrt_mlir_pool_end();
  tfrt_mlir_quarantine_clear();
  report();
}

void __mlir_runner_init(void* symbols) { (void)symbols; }

void __mlir_runner_destroy(void) { __mlir_execution_engine_destroy(); }
