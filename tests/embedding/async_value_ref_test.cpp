// SPDX-License-Identifier: Apache-2.0
//
// tfrt::AsyncValueRef, built against the installed files. Ends with 0 if all is as it should be;
// prints what isn't.
#include <cstdio>
#include <cstring>
#include <memory>
#include <tfrt/async_value_ref.hpp>
#include <utility>

namespace {

int failures = 0;

void Expect(bool condition, const char* text, int line) {
  if (condition) return;
  std::fprintf(stderr, "line %d: %s is false\n", line, text);
  ++failures;
}
#define EXPECT(condition) Expect(condition, #condition, __LINE__)

// A payload with a destructor.
using Text = std::unique_ptr<const char*>;
tfrt_type_id_t text_type;

void DestroyText(void* payload) { static_cast<Text*>(payload)->~Text(); }

}  // namespace

template <>
struct tfrt::AsyncType<Text> {
  static tfrt_type_id_t id() { return text_type; }
};

namespace {

void TestNumbers() {
  auto number = tfrt::AsyncValueRef<int32_t>::Unresolved();
  EXPECT(!number.IsAvailable() && number.get_if() == nullptr);
  int first = 0, second = 0, calls = 0;
  EXPECT(number.AndThen([&](const tfrt::AsyncValueRef<int32_t>& ref) {
    first = ++calls;
    EXPECT(ref.get() == 42);
  }));
  EXPECT(number.AndThen([&](const tfrt::AsyncValueRef<int32_t>&) { second = ++calls; }));
  number.emplace(42);
  EXPECT(first == 2 && second == 1);
  EXPECT(*number == 42 && *number.get_if() == 42);
  tfrt::AsyncValueRef<int32_t> copy = number;
  tfrt::AsyncValueRef<int32_t> moved = std::move(number);
  EXPECT(!number && copy.value() == moved.value());
  EXPECT(tfrt::AsyncValueRef<double>::Available(0.5).get() == 0.5);
  // Another type's payload is not got.
  auto wrong = tfrt::AsyncValueRef<float>::Borrow(moved.value());
  EXPECT(wrong.get_if() == nullptr);
}

void TestErrors() {
  auto failed = tfrt::AsyncValueRef<bool>::Unresolved();
  bool was_error = false;
  EXPECT(failed.AndThen([&](const tfrt::AsyncValueRef<bool>& ref) { was_error = ref.IsError(); }));
  failed.SetError(TFRT_STATUS_ABORTED, "100 % wrong");
  EXPECT(was_error && failed.get_if() == nullptr);
  EXPECT(std::strcmp(tfrt_status_message(failed.status()), "100 % wrong") == 0);
  EXPECT(tfrt::AsyncValueRef<int64_t>::Error(TFRT_STATUS_UNAVAILABLE, "off").IsError());
}

void TestForwards() {
  auto indirect = tfrt::AsyncValueRef<int64_t>::Indirect();
  auto target = tfrt::AsyncValueRef<int64_t>::Unresolved();
  EXPECT(indirect.ForwardTo(target));
  EXPECT(!indirect.ForwardTo(tfrt::AsyncValueRef<int64_t>::Available(1)));
  target.emplace(7);
  EXPECT(indirect.get() == 7 && *indirect.get_if() == 7);
}

void TestDestructors() {
  auto text = tfrt::AsyncValueRef<Text>::Available(new const char*("kept"));
  EXPECT(std::strcmp(**text, "kept") == 0);
  auto argument = std::make_shared<int>(0);
  {
    auto never = tfrt::AsyncValueRef<Text>::Unresolved();
    EXPECT(never.AndThen([argument](const tfrt::AsyncValueRef<Text>&) {}));
    EXPECT(argument.use_count() == 2);
    never.SetError(TFRT_STATUS_CANCELLED, "cancelled");
  }
  // What the function held is gone with it.
  EXPECT(argument.use_count() == 1);
}

}  // namespace

int main() {
  static const tfrt_type_t type = [] {
    tfrt_type_t made = {};
    made.name = "!test.text";
    made.size = sizeof(Text);
    made.destroy = DestroyText;
    return made;
  }();
  tfrt_status_t status = tfrt_type_register(&type, &text_type);
  EXPECT(status == nullptr);
  TestNumbers();
  TestErrors();
  TestForwards();
  TestDestructors();
  EXPECT(tfrt_async_value_live_count() == 0);
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
