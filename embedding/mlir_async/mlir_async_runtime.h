// SPDX-License-Identifier: Apache-2.0
//
// The functions that a program calls when MLIR's `convert-async-to-llvm` has lowered it, as C
// declares them. The names and the meanings are those of MLIR 22; the AsyncValues and the work
// queue of this project do the work. libtfrt_mlir_async_runtime.so exports these and nothing else.
// It stands in for libmlir_async_runtime.so, in mlir-runner and for the linker
// (docs/mlir_async.md).
//
// A *handle* is what stands for a token, a value or a group; only this library looks inside.
// A *frame* is a coroutine that has saved its state; `resume(frame)` goes on with it, once, and the
// frame may be gone before that returns.
//
//   create (2 references: the creator's, and the settler's) --> pending
//     pending -- emplace --> available      -- waiters run, the settler's reference is dropped
//             -- set error --> failed       -- likewise
//   the last reference is dropped --> gone
//
// Thread rule: all functions are thread-safe, but for the hooks. A payload is written before its
// value is emplaced, and read by threads that saw that.
// Failure rule: nothing here returns an error. A reference that is dropped once too often, a handle
// that is used when its object is gone, and an object that is settled twice are counted, reported
// once of each sort, and ignored: such an object counts as failed. If memory or threads for the
// first task are out, the process ends with a message.
#ifndef TFRT_EMBEDDING_MLIR_ASYNC_MLIR_ASYNC_RUNTIME_H_
#define TFRT_EMBEDDING_MLIR_ASYNC_MLIR_ASYNC_RUNTIME_H_

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

typedef void* mlir_async_handle_t;
typedef void (*mlir_async_resume_t)(void* frame);

// --- References --------------------------------------------------------------

// Adds, or drops, |count| references. Thread-safe.
void mlirAsyncRuntimeAddRef(mlir_async_handle_t object, int64_t count);
void mlirAsyncRuntimeDropRef(mlir_async_handle_t object, int64_t count);

// --- Creation ----------------------------------------------------------------

// Returns a pending token, or a pending value with room for |size| bytes, aligned to 64, with 2
// references. Thread-safe.
mlir_async_handle_t mlirAsyncRuntimeCreateToken(void);
mlir_async_handle_t mlirAsyncRuntimeCreateValue(int64_t size);

// Returns a group that is complete when |size| of its members are settled, with 1 reference.
// Thread-safe.
mlir_async_handle_t mlirAsyncRuntimeCreateGroup(int64_t size);

// The payload of |value|, at one address as long as the value lives. Thread-safe.
void* mlirAsyncRuntimeGetValueStorage(mlir_async_handle_t value);

// --- Settling ----------------------------------------------------------------

// Makes the object available, or failed; drops the settler's reference. Thread-safe, once.
void mlirAsyncRuntimeEmplaceToken(mlir_async_handle_t token);
void mlirAsyncRuntimeEmplaceValue(mlir_async_handle_t value);
void mlirAsyncRuntimeSetTokenError(mlir_async_handle_t token);
void mlirAsyncRuntimeSetValueError(mlir_async_handle_t value);

// Returns true if the object is failed; of a group: if a settled member is. Thread-safe.
bool mlirAsyncRuntimeIsTokenError(mlir_async_handle_t token);
bool mlirAsyncRuntimeIsValueError(mlir_async_handle_t value);
bool mlirAsyncRuntimeIsGroupError(mlir_async_handle_t group);

// Makes |token| a member of |group|; returns how many were added before. Thread-safe.
int64_t mlirAsyncRuntimeAddTokenToGroup(mlir_async_handle_t token, mlir_async_handle_t group);

// --- Waiting -----------------------------------------------------------------

// Returns when the object is settled, or the group complete. On a thread of the pool, another
// thread runs the pool's tasks meanwhile. Thread-safe.
void mlirAsyncRuntimeAwaitToken(mlir_async_handle_t token);
void mlirAsyncRuntimeAwaitValue(mlir_async_handle_t value);
void mlirAsyncRuntimeAwaitAllInGroup(mlir_async_handle_t group);

// Resumes |frame| when the object is settled, or the group complete: on this thread if it is, else
// on the one that settles it. Waiters of one object are resumed in the order in which they came.
// Thread-safe.
void mlirAsyncRuntimeAwaitTokenAndExecute(mlir_async_handle_t token, void* frame,
                                          mlir_async_resume_t resume);
void mlirAsyncRuntimeAwaitValueAndExecute(mlir_async_handle_t value, void* frame,
                                          mlir_async_resume_t resume);
void mlirAsyncRuntimeAwaitAllInGroupAndExecute(mlir_async_handle_t group, void* frame,
                                               mlir_async_resume_t resume);

// Resumes |frame| on a thread of the pool. Thread-safe.
void mlirAsyncRuntimeExecute(void* frame, mlir_async_resume_t resume);

// --- Threads -----------------------------------------------------------------

// How many tasks the pool runs at once (without an `e`, as MLIR spells it). Thread-safe.
int64_t mlirAsyncRuntimGetNumWorkerThreads(void);

// Prints "Current thread id: N" to standard output. Thread-safe.
void mlirAsyncRuntimePrintCurrentThreadId(void);

// --- Life --------------------------------------------------------------------

// MLIR's execution engine calls this when it has loaded the library, with a map of C++ that may
// stay empty: it finds the names above in the process. Thread-compatible.
void __mlir_execution_engine_init(void* symbols);

// It calls this before it gives back the code: returns when no task is queued or running, and ends
// the threads. The next call of a function above starts anew. Not to be called by a task.
// Thread-compatible.
void __mlir_execution_engine_destroy(void);

// The same, as MLIR up to 16 calls them.
void __mlir_runner_init(void* symbols);
void __mlir_runner_destroy(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif  // TFRT_EMBEDDING_MLIR_ASYNC_MLIR_ASYNC_RUNTIME_H_
