// SPDX-License-Identifier: Apache-2.0
//
// Casts of each dtype to each other, against exact arithmetic: all numbers of 8 and of 16 bits; of
// longer types the borders, their neighbours, and random numbers.
#include <float.h>
#include <math.h>

#include "host_runtime/base/random.h"
#include "host_runtime/tensor/small_float.h"
#include "kernels/tensor/math/elementwise.h"
#include "tests/host_runtime/tensor/tensor_testing.h"

// Holds each number of all types exactly, and the middle between two neighbours.
typedef long double exact_t;
_Static_assert(LDBL_MANT_DIG >= 64, "an i64 is exact");

typedef struct kind_s {
  tfrt_dtype_t dtype;
  int bits;
  bool is_float;
  bool is_signed;
} kind_t;

static const kind_t kinds[] = {
    {TFRT_DTYPE_I1, 1, false, false},  {TFRT_DTYPE_UI8, 8, false, false},
    {TFRT_DTYPE_I8, 8, false, true},   {TFRT_DTYPE_UI16, 16, false, false},
    {TFRT_DTYPE_I16, 16, false, true}, {TFRT_DTYPE_UI32, 32, false, false},
    {TFRT_DTYPE_I32, 32, false, true}, {TFRT_DTYPE_UI64, 64, false, false},
    {TFRT_DTYPE_I64, 64, false, true}, {TFRT_DTYPE_F16, 16, true, true},
    {TFRT_DTYPE_BF16, 16, true, true}, {TFRT_DTYPE_F32, 32, true, true},
    {TFRT_DTYPE_F64, 64, true, true},
};

// --- Numbers from bits -----------------------------------------------------------------

static exact_t float_of(tfrt_dtype_t dtype, uint64_t bits) {
  float f32;
  double f64;
  uint32_t low = (uint32_t)bits;
  switch (dtype) {
    case TFRT_DTYPE_F16:
      return (exact_t)tfrt_f16_to_double((uint16_t)bits);
    case TFRT_DTYPE_BF16:
      return (exact_t)tfrt_bf16_to_double((uint16_t)bits);
    case TFRT_DTYPE_F32:
      memcpy(&f32, &low, sizeof(f32));
      return (exact_t)f32;
    default:
      memcpy(&f64, &bits, sizeof(f64));
      return (exact_t)f64;
  }
}

static uint64_t mask_of(const kind_t* kind) { return UINT64_MAX >> (64 - kind->bits); }

static uint64_t sign_extend(const kind_t* kind, uint64_t bits) {
  int unused = 64 - kind->bits;
  return (uint64_t)((int64_t)(bits << unused) >> unused);
}

static exact_t exact_of(const kind_t* kind, uint64_t bits) {
  if (kind->is_float) return float_of(kind->dtype, bits);
  if (!kind->is_signed) return (exact_t)bits;
  return (exact_t)(int64_t)sign_extend(kind, bits);
}

// --- What a cast must give -------------------------------------------------------------

// The bits of the float of |kind| that is nearest to |value|, ties to even. Positive floats are
// ordered as their bits are: the two around |value| are found by halving.
static uint64_t nearest(const kind_t* kind, exact_t value) {
  uint64_t sign = UINT64_C(1) << (kind->bits - 1);
  if (isnan(value)) return UINT64_MAX;
  uint64_t infinity = kind->dtype == TFRT_DTYPE_F16    ? 0x7C00
                      : kind->dtype == TFRT_DTYPE_BF16 ? 0x7F80
                      : kind->dtype == TFRT_DTYPE_F32  ? 0x7F800000
                                                       : UINT64_C(0x7FF) << 52;
  exact_t size = fabsl(value);
  uint64_t low = 0, high = infinity;
  while (high - low > 1) {
    uint64_t middle = low + (high - low) / 2;
    if (float_of(kind->dtype, middle) <= size) {
      low = middle;
    } else {
      high = middle;
    }
  }
  exact_t below = float_of(kind->dtype, low);
  // Behind the largest number comes, for rounding, the one that would be next.
  exact_t above =
      high == infinity ? 2 * below - float_of(kind->dtype, low - 1) : float_of(kind->dtype, high);
  exact_t up = above - size, down = size - below;
  bool is_high = isinf(size) || up < down || (up == down && (low & 1));
  return (is_high ? high : low) | (signbit(value) ? sign : 0);
}

static uint64_t expected_of(const kind_t* from, const kind_t* to, uint64_t bits) {
  exact_t value = exact_of(from, bits);
  if (to->dtype == TFRT_DTYPE_I1) return value != 0;
  if (to->is_float) return nearest(to, value);
  // Integers that are cut keep their low bits.
  if (!from->is_float) return (from->is_signed ? sign_extend(from, bits) : bits) & mask_of(to);
  if (isnan(value)) return 0;
  exact_t most = ldexpl(1, to->bits - to->is_signed), least = to->is_signed ? -most : 0;
  uint64_t top = mask_of(to) >> to->is_signed;
  if (value >= most) return top;
  if (value <= least) return to->is_signed ? top + 1 : 0;
  return (value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value) & mask_of(to);
}

// --- Comparing -------------------------------------------------------------------------

static uint64_t read_bits(const tfrt_dense_host_tensor_t* tensor, int64_t index) {
  size_t size = tfrt_dtype_size(tensor->dtype);
  uint64_t bits = 0;
  memcpy(&bits, (const char*)tfrt_dense_host_tensor_data(tensor) + (size_t)index * size, size);
  return bits;
}

static void compare(const kind_t* from, const kind_t* to, const tfrt_dense_host_tensor_t* x) {
  tfrt_dense_host_tensor_t result;
  testing_ok(tfrt_tensor_cast(x, to->dtype, tfrt_allocator_system(), &result));
  int64_t count = tfrt_dense_host_tensor_element_count(x);
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = read_bits(x, i), got = read_bits(&result, i);
    uint64_t expected = expected_of(from, to, bits);
    bool is_nan = to->is_float && expected == UINT64_MAX;
    bool is_good = is_nan ? isnan(float_of(to->dtype, got)) : got == expected;
    ck_assert_msg(is_good, "%s to %s: %llx gives %llx, not %llx", tfrt_dtype_name(from->dtype),
                  tfrt_dtype_name(to->dtype), (unsigned long long)bits, (unsigned long long)got,
                  (unsigned long long)expected);
  }
  tfrt_dense_host_tensor_deinitialize(&result);
}

// --- Numbers to cast -------------------------------------------------------------------

#define RANDOM 3000
#define MOST_NUMBERS 65536

static int64_t add_around(uint64_t* numbers, int64_t count, uint64_t middle) {
  for (uint64_t i = 0; i < 3; ++i) numbers[count++] = middle + i - 1;
  return count;
}

// Powers of two, sums of two of them, which are all ties there are near a power, and neighbours of
// both: as integers, and as the bits of floats.
static int64_t make_borders(uint64_t* numbers, int bits) {
  int64_t count = 0;
  for (int high = 0; high < bits; ++high) {
    count = add_around(numbers, count, UINT64_C(1) << high);
    for (int low = 0; low < high; ++low) {
      uint64_t sum = (UINT64_C(1) << high) + (UINT64_C(1) << low);
      count = add_around(numbers, count, sum);
      count = add_around(numbers, count, 0 - sum);
    }
  }
  return count;
}

static int64_t make_numbers(const kind_t* kind, uint64_t* numbers) {
  if (kind->bits <= 16) {
    int64_t count = INT64_C(1) << kind->bits;
    for (int64_t i = 0; i < count; ++i) numbers[i] = (uint64_t)i;
    return count;
  }
  int64_t count = make_borders(numbers, kind->bits);
  tfrt_random_t random;
  tfrt_random_initialize(&random, 11);
  for (int i = 0; i < RANDOM; ++i) {
    // Random bits alone are nearly all large: this gives all magnitudes.
    uint64_t bits = tfrt_random_next(&random);
    numbers[count++] = kind->is_float ? bits : bits >> tfrt_random_below(&random, 64);
  }
  if (kind->is_float) {
    // Whole numbers near the limits of integers, and what lies between.
    for (int i = 0; i < RANDOM; ++i) {
      double value = ldexp((double)tfrt_random_next(&random), -(int)tfrt_random_below(&random, 90));
      float narrow = (float)value;
      numbers[count] = 0;
      if (kind->bits == 64) memcpy(&numbers[count], &value, sizeof(value));
      if (kind->bits == 32) memcpy(&numbers[count], &narrow, sizeof(narrow));
      ++count;
    }
  }
  return count;
}

START_TEST(each_pair_is_rounded_once) {
  static uint64_t numbers[MOST_NUMBERS];
  const kind_t* from = &kinds[_i];
  int64_t count = make_numbers(from, numbers);
  ck_assert_int_le(count, MOST_NUMBERS);
  tfrt_dense_host_tensor_t x = testing_zeros(from->dtype, DIMS(count));
  size_t size = tfrt_dtype_size(from->dtype);
  for (int64_t i = 0; i < count; ++i) {
    numbers[i] &= mask_of(from);
    memcpy((char*)tfrt_dense_host_tensor_data(&x) + (size_t)i * size, &numbers[i], size);
  }
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(kinds); ++i) compare(from, &kinds[i], &x);
  tfrt_dense_host_tensor_deinitialize(&x);
}
END_TEST

START_TEST(numbers_beside_a_tie_are_not_taken_for_it) {
  const int64_t integers[] = {72057598332895233, -72057598332895233, 72339069014638593};
  tfrt_dense_host_tensor_t x = testing_tensor(TFRT_DTYPE_I64, integers, DIMS(3));
  tfrt_dense_host_tensor_t result;
  testing_ok(tfrt_tensor_cast(&x, TFRT_DTYPE_F32, tfrt_allocator_system(), &result));
  ck_assert(testing_f32(&result, 0) == 72057602627862528.0f);
  ck_assert(testing_f32(&result, 1) == -72057602627862528.0f);
  tfrt_dense_host_tensor_deinitialize(&result);
  testing_ok(tfrt_tensor_cast(&x, TFRT_DTYPE_BF16, tfrt_allocator_system(), &result));
  ck_assert_uint_eq(((const uint16_t*)tfrt_dense_host_tensor_data(&result))[2], 0x5B81);
  tfrt_dense_host_tensor_deinitialize(&result);
  tfrt_dense_host_tensor_deinitialize(&x);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("cast");
  tcase_add_loop_test(cases, each_pair_is_rounded_once, 0, (int)TFRT_ARRAY_SIZE(kinds));
  tcase_add_test(cases, numbers_beside_a_tie_are_not_taken_for_it);
  Suite* suite = suite_create("cast");
  suite_add_tcase(suite, cases);
  return suite;
}
