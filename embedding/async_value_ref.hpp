// SPDX-License-Identifier: Apache-2.0
//
// AsyncValues in C++: tfrt::AsyncValueRef<T> is a counted reference to an AsyncValue whose payload
// is a T. Header only, C++14; works with and without exceptions, and throws none.
// docs/async_value.md tells what AsyncValues are.
//
// Life: a reference is copied (one reference more), moved, and dropped at its end; an empty one
// holds nothing.
//
// Thread rule: as in host_runtime/async/async_value.h; one AsyncValueRef object is
// thread-compatible. Failure rule: without memory a new value is the error RESOURCE_EXHAUSTED,
// which IsError() tells.
#ifndef TFRT_EMBEDDING_ASYNC_VALUE_REF_HPP_
#define TFRT_EMBEDDING_ASYNC_VALUE_REF_HPP_

#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "host_runtime/async/async_value.h"
#include "host_runtime/async/builtin_types.h"
#include "host_runtime/base/status.h"

namespace tfrt {

// The type of the runtime that holds a T. A program specialises it for the types that it registers:
//   template <> struct AsyncType<Pair> { static tfrt_type_id_t id() { return pair_type; } };
// The registered type has the size of T, and its destroy function calls the destructor.
template <typename T>
struct AsyncType;

template <>
struct AsyncType<bool> {
  static tfrt_type_id_t id() { return TFRT_TYPE_I1; }
};
template <>
struct AsyncType<int32_t> {
  static tfrt_type_id_t id() { return TFRT_TYPE_I32; }
};
template <>
struct AsyncType<int64_t> {
  static tfrt_type_id_t id() { return TFRT_TYPE_I64; }
};
template <>
struct AsyncType<float> {
  static tfrt_type_id_t id() { return TFRT_TYPE_F32; }
};
template <>
struct AsyncType<double> {
  static tfrt_type_id_t id() { return TFRT_TYPE_F64; }
};

template <typename T>
class AsyncValueRef {
  static_assert(alignof(T) <= 16, "payloads are aligned to 16 bytes at most");

 public:
  AsyncValueRef() noexcept = default;
  AsyncValueRef(const AsyncValueRef& other) noexcept : value_(Retained(other.value_)) {}
  AsyncValueRef(AsyncValueRef&& other) noexcept : value_(other.release()) {}
  ~AsyncValueRef() { tfrt_async_value_release(value_); }

  AsyncValueRef& operator=(AsyncValueRef other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }

  // Takes over the caller's reference to |value| (+1).
  static AsyncValueRef Adopt(tfrt_async_value_t* value) noexcept {
    AsyncValueRef ref;
    ref.value_ = value;
    return ref;
  }

  // Retains |value| (+0).
  static AsyncValueRef Borrow(tfrt_async_value_t* value) noexcept { return Adopt(Retained(value)); }

  // A value that emplace() or SetError() resolves.
  static AsyncValueRef Unresolved() noexcept {
    return Adopt(OrNoMemory(tfrt_async_value_create_unconstructed(AsyncType<T>::id())));
  }

  // A value with the payload T(arguments...).
  template <typename... Arguments>
  static AsyncValueRef Available(Arguments&&... arguments) {
    AsyncValueRef ref = Unresolved();
    if (!ref.IsError()) ref.emplace(std::forward<Arguments>(arguments)...);
    return ref;
  }

  // A value that forwards to another one, once ForwardTo() says to which.
  static AsyncValueRef Indirect() noexcept {
    tfrt_indirect_value_t* value = tfrt_indirect_value_create();
    return Adopt(OrNoMemory(value ? &value->base : nullptr));
  }

  // An error with |code| and |message|.
  static AsyncValueRef Error(tfrt_status_code_t code, const char* message) noexcept {
    return Adopt(tfrt_async_value_create_error_take(tfrt_status_create(code, "%s", message)));
  }

  explicit operator bool() const noexcept { return value_ != nullptr; }

  // The value (+0), and the reference itself (+1), which leaves this one empty.
  tfrt_async_value_t* value() const noexcept { return value_; }
  tfrt_async_value_t* release() noexcept {
    tfrt_async_value_t* value = value_;
    value_ = nullptr;
    return value;
  }

  // Resolved: there is a payload, or an error.
  bool IsAvailable() const noexcept { return tfrt_async_value_is_available(value_); }
  bool IsError() const noexcept { return tfrt_async_value_is_error(value_); }

  // The payload, or NULL if the value is unresolved, an error, or of another type.
  T* get_if() const noexcept {
    return static_cast<T*>(tfrt_async_value_get(value_, AsyncType<T>::id()));
  }

  // The payload of a value that is available and no error.
  T& get() const noexcept {
    return *static_cast<T*>(tfrt_async_value_payload(tfrt_async_value_resolved(value_)));
  }
  T& operator*() const noexcept { return get(); }
  T* operator->() const noexcept { return &get(); }

  // The error (+0) of a value that is one.
  tfrt_status_t status() const noexcept { return tfrt_async_value_error(value_); }

  // Makes T(arguments...) the payload of the unresolved value and publishes it. Once, by the
  // producer.
  template <typename... Arguments>
  void emplace(Arguments&&... arguments) {
    new (tfrt_async_value_payload(value_)) T(std::forward<Arguments>(arguments)...);
    tfrt_async_value_set_available(value_);
  }

  // Resolves the unresolved value as an error. Once, by the producer.
  void SetError(tfrt_status_code_t code, const char* message) noexcept {
    tfrt_status_t status = tfrt_status_create(code, "%s", message);
    tfrt_async_value_set_error(value_, status);
    tfrt_status_release(status);
  }

  // Makes this value, which Indirect() made, stand for |target|. False if it had a target already.
  bool ForwardTo(const AsyncValueRef& target) noexcept {
    return tfrt_indirect_value_forward(reinterpret_cast<tfrt_indirect_value_t*>(value_),
                                       target.value_);
  }

  // Calls function(*this) when the value is resolved: at once, if it is. Demands the payload.
  // Several are called newest first, on the thread that resolves the value. False if memory is out:
  // then it is never called.
  template <typename Function>
  bool AndThen(Function&& function) const {
    using Stored = typename std::decay<Function>::type;
    Stored* stored = new (std::nothrow) Stored(std::forward<Function>(function));
    if (!stored) return false;
    if (tfrt_async_value_and_then_run(value_, &Call<Stored>, stored)) return true;
    delete stored;
    return false;
  }

 private:
  template <typename Stored>
  static void Call(tfrt_async_value_t* value, void* argument) {
    Stored* stored = static_cast<Stored*>(argument);
    (*stored)(Borrow(value));
    delete stored;
  }

  static tfrt_async_value_t* Retained(tfrt_async_value_t* value) noexcept {
    return value ? tfrt_async_value_retain(value) : nullptr;
  }

  static tfrt_async_value_t* OrNoMemory(tfrt_async_value_t* value) noexcept {
    return value ? value : tfrt_async_value_out_of_memory();
  }

  tfrt_async_value_t* value_ = nullptr;  // +1
};

}  // namespace tfrt

#endif  // TFRT_EMBEDDING_ASYNC_VALUE_REF_HPP_
