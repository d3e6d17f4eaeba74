// SPDX-License-Identifier: Apache-2.0
#include "kernels/nn/math/softmax_row.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "kernels/nn/math/fast_math.h"
#include "kernels/nn/math/wide_loops.h"

// Floats of a vector.
#define LANES 16

// --- Any processor ------------------------------------------------------------------------

static float max_of_row(const float* x, int64_t count) {
  float lanes[LANES];
  int64_t i = 0;
  for (int lane = 0; lane < LANES; ++lane) lanes[lane] = x[0];
  for (; i + LANES <= count; i += LANES) {
    for (int lane = 0; lane < LANES; ++lane) {
      lanes[lane] = x[i + lane] > lanes[lane] ? x[i + lane] : lanes[lane];
    }
  }
  for (; i < count; ++i) lanes[0] = x[i] > lanes[0] ? x[i] : lanes[0];
  for (int lane = 1; lane < LANES; ++lane) {
    lanes[0] = lanes[lane] > lanes[0] ? lanes[lane] : lanes[0];
  }
  return lanes[0];
}

static double sum_of_row(const float* x, int64_t count) {
  double lanes[LANES] = {0}, sum = 0;
  int64_t i = 0;
  for (; i + LANES <= count; i += LANES) {
    for (int lane = 0; lane < LANES; ++lane) lanes[lane] += (double)x[i + lane];
  }
  for (; i < count; ++i) sum += (double)x[i];
  for (int lane = 0; lane < LANES; ++lane) sum += lanes[lane];
  return sum;
}

void tfrt_nn_softmax_row_narrow(const float* x, float* out, int64_t count) {
  const float greatest = max_of_row(x, count);
  for (int64_t i = 0; i < count; ++i) out[i] = tfrt_nn_expf(x[i] - greatest);
  const float factor = (float)(1.0 / sum_of_row(out, count));
  for (int64_t i = 0; i < count; ++i) out[i] *= factor;
}

// --- Vectors of 512 bits --------------------------------------------------------------------

#if defined(__x86_64__)
#define WIDE_INLINE TFRT_NN_WIDE_TARGET static inline __attribute__((always_inline))

// e to the power of |x|, which is at most 0 or NaN: as tfrt_nn_expf(), with fused sums. Results
// that are no normal numbers are 0: beside the greatest they are nothing, and take a hundred times
// as long.
WIDE_INLINE __m512 exponential(__m512 x) {
  const __m512 least = _mm512_set1_ps(-87.0f);
  const __mmask16 is_normal = _mm512_cmp_ps_mask(x, least, _CMP_NLT_UQ);
  // This gives the second operand, if that is a NaN.
  x = _mm512_max_ps(least, x);
  const __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504f)),
                                        _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693359375f), x);
  r = _mm512_fnmadd_ps(n, _mm512_set1_ps(-2.12194440e-4f), r);
  __m512 p = _mm512_set1_ps(1.9875691500e-4f);
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.3981999507e-3f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(8.3334519073e-3f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(4.1665795894e-2f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.6666665459e-1f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(5.0000001201e-1f));
  p = _mm512_fmadd_ps(_mm512_mul_ps(p, r), r, _mm512_add_ps(r, _mm512_set1_ps(1.0f)));
  return _mm512_maskz_scalef_ps(is_normal, p, n);
}

WIDE_INLINE __mmask16 lanes_of(int64_t rest) {
  return rest < LANES ? (__mmask16)((1u << rest) - 1) : 0xffff;
}

TFRT_NN_WIDE_TARGET static void softmax_wide(const float* x, float* out, int64_t count) {
  __m512 most = _mm512_set1_ps(x[0]);
  for (int64_t i = 0; i < count; i += LANES) {
    const __mmask16 there = lanes_of(count - i);
    most = _mm512_mask_max_ps(most, there, _mm512_maskz_loadu_ps(there, x + i), most);
  }
  const __m512 greatest = _mm512_set1_ps(_mm512_reduce_max_ps(most));
  __m512d low = _mm512_setzero_pd(), high = _mm512_setzero_pd();
  for (int64_t i = 0; i < count; i += LANES) {
    const __mmask16 there = lanes_of(count - i);
    __m512 e = _mm512_sub_ps(_mm512_maskz_loadu_ps(there, x + i), greatest);
    e = _mm512_maskz_mov_ps(there, exponential(e));
    _mm512_mask_storeu_ps(out + i, there, e);
    low = _mm512_add_pd(low, _mm512_cvtps_pd(_mm512_castps512_ps256(e)));
    high = _mm512_add_pd(high, _mm512_cvtps_pd(_mm512_extractf32x8_ps(e, 1)));
  }
  const double sum = _mm512_reduce_add_pd(_mm512_add_pd(low, high));
  const __m512 factor = _mm512_set1_ps((float)(1.0 / sum));
  for (int64_t i = 0; i < count; i += LANES) {
    const __mmask16 there = lanes_of(count - i);
    const __m512 e = _mm512_maskz_loadu_ps(there, out + i);
    _mm512_mask_storeu_ps(out + i, there, _mm512_mul_ps(e, factor));
  }
}
#else
static void softmax_wide(const float* x, float* out, int64_t count) {
  tfrt_nn_softmax_row_narrow(x, out, count);
}
#endif

void tfrt_nn_softmax_row(const float* x, float* out, int64_t count) {
  if (tfrt_nn_has_wide_vectors()) {
    softmax_wide(x, out, count);
  } else {
    tfrt_nn_softmax_row_narrow(x, out, count);
  }
}
