// SPDX-License-Identifier: Apache-2.0
#include "kernels/nn/math/winograd.h"

#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "kernels/nn/math/epilogue.h"
#include "kernels/nn/math/wide_loops.h"

// The points are 0, 1, -1, 2, -2, 1/2, -1/2 and infinity.
#define POINTS 8

// Rows and columns of a window.
#define LONGEST_WINDOW 5

// Floats of a vector.
#define LANES 16

// Filters whose sums for some tiles stay in registers.
#define FILTERS 64

// Tiles of these sums.
#define TILES 6

// Channels whose weights, for these filters, stay in the first cache.
#define CHANNELS 128

// Tiles whose values stay in the second cache while the weights go by.
#define BLOCK (16 * TILES)

// Below, too little is saved.
#define FEW_CHANNELS 32
#define FEW_TILES 64

// The tiles of the source around a block that are turned for several blocks.
#define MOST_TILES_AROUND (2 * BLOCK)

// A source that is larger may overflow on the way where plain sums don't.
#define LARGEST 1e30f

#define ALIGNMENT 64

// Tile t of row r of a picture is number r * |tiles| + t, in the source, whose rows include those
// of the padding, as in the target. So what row i of the window gives to a tile of the target comes
// from the tile of the source that is i * |tiles| behind it.
struct tfrt_nn_winograd_s {
  tfrt_allocator_t allocator;
  int64_t pictures;
  int64_t source_rows;
  int64_t source_columns;
  int64_t target_rows;
  int64_t target_columns;
  int64_t rows_before;     // of the padding
  int64_t columns_before;  // of the padding
  int64_t channels;
  int64_t filters;
  int64_t window_rows;
  int64_t window_columns;
  int64_t step;   // results of a tile
  int64_t tiles;  // of a row
  tfrt_onednn_epilogue_t epilogue;
  float* weights;  // [filters / FILTERS, POINTS, window rows, channels, FILTERS]; the last ones are
                   // filled up with 0
  size_t weight_size;
};

static int64_t blocks_of(int64_t count, int64_t size) { return (count + size - 1) / size; }

// Tiles of the source that |count| tiles of the target take.
static int64_t source_tiles(const tfrt_nn_winograd_t* w, int64_t count) {
  return count + (w->window_rows - 1) * w->tiles;
}

// --- Which ----------------------------------------------------------------------------

static bool has_plain_window(const tfrt_onednn_convolution_spec_t* spec) {
  if (spec->spatial < 1 || spec->spatial > 2) return false;
  for (uint32_t i = 0; i < spec->spatial; ++i) {
    if (spec->strides[i] != 1 || spec->dilations[i] != 1 || spec->window[i] > LONGEST_WINDOW) {
      return false;
    }
  }
  return spec->window[spec->spatial - 1] >= 3;
}

static bool has_vectors(int64_t count) { return count >= FEW_CHANNELS && count % LANES == 0; }

// Fills in all but the weights.
static void read_spec(const tfrt_onednn_convolution_spec_t* spec, tfrt_nn_winograd_t* w) {
  const uint32_t column = spec->spatial - 1;
  const bool has_rows = spec->spatial == 2;
  w->pictures = spec->batch;
  w->source_rows = has_rows ? spec->source[0] : 1;
  w->target_rows = has_rows ? spec->target[0] : 1;
  w->window_rows = has_rows ? spec->window[0] : 1;
  w->rows_before = has_rows ? spec->before[0] : 0;
  w->source_columns = spec->source[column];
  w->target_columns = spec->target[column];
  w->window_columns = spec->window[column];
  w->columns_before = spec->before[column];
  w->channels = spec->source_channels;
  w->filters = spec->target_channels;
  w->step = POINTS + 1 - w->window_columns;
  w->tiles = blocks_of(w->target_columns, w->step);
  w->epilogue = spec->epilogue;
  // With windows of one row, and no padding, the rows of all pictures are those of one.
  if (w->window_rows == 1 && w->source_rows == w->target_rows && w->rows_before == 0) {
    w->source_rows *= w->pictures;
    w->target_rows *= w->pictures;
    w->pictures = 1;
  }
}

// Whether it takes less time than plain sums: enough tiles for the weights, few results that are
// thrown away, and rows so short that a block has several.
static bool is_worth_it(const tfrt_nn_winograd_t* w) {
  const int64_t multiplied = blocks_of(w->filters, FILTERS) * FILTERS * w->tiles * POINTS;
  const int64_t plain = w->filters * w->target_columns * w->window_columns;
  return w->target_rows * w->tiles >= FEW_TILES && multiplied * 10 <= plain * 7 &&
         source_tiles(w, 0) <= MOST_TILES_AROUND;
}

// --- Weights --------------------------------------------------------------------------

// The polynomial of a row's weights at each point, divided by the product of the differences to the
// other finite points. The values at the infinite point are the last weights.
static const float evaluate[POINTS - 1][LONGEST_WINDOW] = {
    {-1, 0, 0, 0, 0},
    {-2.0f / 9, -2.0f / 9, -2.0f / 9, -2.0f / 9, -2.0f / 9},
    {-2.0f / 9, 2.0f / 9, -2.0f / 9, 2.0f / 9, -2.0f / 9},
    {1.0f / 90, 2.0f / 90, 4.0f / 90, 8.0f / 90, 16.0f / 90},
    {1.0f / 90, -2.0f / 90, 4.0f / 90, -8.0f / 90, 16.0f / 90},
    {32.0f / 45, 16.0f / 45, 8.0f / 45, 4.0f / 45, 2.0f / 45},
    {32.0f / 45, -16.0f / 45, 8.0f / 45, -4.0f / 45, 2.0f / 45},
};

// Fills |values|, [POINTS, window rows, channels, FILTERS], at one channel and row with what the
// |taps|, [window columns, FILTERS], are at each point, |stride| elements from each other.
TFRT_ALWAYS_INLINE void turn_row(const float* taps, int64_t columns, int64_t stride,
                                 float* values) {
  static const float nothing[FILTERS];
  const float* t[LONGEST_WINDOW];
  for (int j = 0; j < LONGEST_WINDOW; ++j) t[j] = j < columns ? taps + j * FILTERS : nothing;
  for (int p = 0; p < POINTS - 1; ++p) {
    const float* q = evaluate[p];
    for (int f = 0; f < FILTERS; ++f) {
      values[p * stride + f] =
          q[0] * t[0][f] + q[1] * t[1][f] + q[2] * t[2][f] + q[3] * t[3][f] + q[4] * t[4][f];
    }
  }
  memcpy(values + (POINTS - 1) * stride, t[columns - 1], FILTERS * sizeof(float));
}

// Fills |to|, [POINTS, window rows, channels, FILTERS], for the filters from |first|: LANES
// channels of all filters at a time, so that each filter's weights are read in order.
TFRT_ALWAYS_INLINE void turn_weights_loop(const tfrt_nn_winograd_t* w, const float* weights,
                                          int64_t first, float* to) {
  float taps[LANES * LONGEST_WINDOW * LONGEST_WINDOW * FILTERS];
  const int64_t count = w->filters - first < FILTERS ? w->filters - first : FILTERS;
  const int64_t window = w->window_rows * w->window_columns;
  const int64_t stride = w->window_rows * w->channels * FILTERS;
  memset(taps, 0, sizeof(taps));
  for (int64_t channel = 0; channel < w->channels; channel += LANES) {
    for (int64_t f = 0; f < count; ++f) {
      const float* from = weights + ((first + f) * w->channels + channel) * window;
      for (int64_t j = 0; j < LANES * window; ++j) taps[j * FILTERS + f] = from[j];
    }
    for (int64_t i = 0; i < LANES * w->window_rows; ++i) {
      const int64_t row = i % w->window_rows, lane = i / w->window_rows;
      turn_row(taps + i * w->window_columns * FILTERS, w->window_columns, stride,
               to + (row * w->channels + channel + lane) * FILTERS);
    }
  }
}

TFRT_NN_WIDE_FUNCTION(turn_weights,
                      (const tfrt_nn_winograd_t* w, const float* weights, int64_t first, float* to),
                      (w, weights, first, to))

// Sets |*out_are_small| to whether all |numbers| are below LARGEST, and no NaN. The bits of a float
// without its sign are in the order of the floats, with infinity and NaN at the end.
TFRT_ALWAYS_INLINE void check_size_loop(const float* numbers, int64_t count, bool* out_are_small) {
  const float limit = LARGEST;
  uint32_t largest, any = 0;
  memcpy(&largest, &limit, sizeof(largest));
  for (int64_t i = 0; i < count; ++i) {
    uint32_t bits;
    memcpy(&bits, &numbers[i], sizeof(bits));
    any |= (bits & 0x7fffffffu) >= largest;
  }
  *out_are_small = any == 0;
}

TFRT_NN_WIDE_FUNCTION(check_size, (const float* numbers, int64_t count, bool* out_are_small),
                      (numbers, count, out_are_small))

static bool are_small(const float* numbers, int64_t count) {
  bool are_small;
  check_size(numbers, count, &are_small);
  return are_small;
}

// --- The loops ------------------------------------------------------------------------

#if defined(__x86_64__)
#define WIDE_INLINE TFRT_NN_WIDE_TARGET static inline __attribute__((always_inline))

typedef struct vectors_s {
  __m512 at[POINTS];
} vectors_t;

// a + b * c.
WIDE_INLINE __m512 add_scaled(__m512 a, __m512 b, float c) {
  return _mm512_fmadd_ps(b, _mm512_set1_ps(c), a);
}

// The values at all points of what the 8 elements |d| stand for: point by point, the product of
// x - q over all other finite points q, with the powers of x replaced by the elements.
WIDE_INLINE vectors_t turn_source(const vectors_t* d) {
  const __m512* x = d->at;
  vectors_t v;
  v.at[0] = add_scaled(_mm512_sub_ps(x[6], x[0]), _mm512_sub_ps(x[2], x[4]), 5.25f);
  v.at[7] = add_scaled(_mm512_sub_ps(x[7], x[1]), _mm512_sub_ps(x[3], x[5]), 5.25f);
  // For q and -q: what both have in common, and what has the sign of q.
  __m512 even = add_scaled(_mm512_add_ps(x[2], x[6]), x[4], -4.25f);
  __m512 odd = add_scaled(_mm512_add_ps(x[1], x[5]), x[3], -4.25f);
  v.at[1] = _mm512_add_ps(even, odd);
  v.at[2] = _mm512_sub_ps(even, odd);
  even = add_scaled(add_scaled(x[6], x[2], 0.25f), x[4], -1.25f);
  odd = add_scaled(add_scaled(_mm512_add_ps(x[5], x[5]), x[1], 0.5f), x[3], -2.5f);
  v.at[3] = _mm512_add_ps(even, odd);
  v.at[4] = _mm512_sub_ps(even, odd);
  even = add_scaled(add_scaled(x[6], x[2], 4.0f), x[4], -5.0f);
  odd = add_scaled(add_scaled(_mm512_add_ps(x[1], x[1]), x[5], 0.5f), x[3], -2.5f);
  v.at[5] = _mm512_add_ps(even, odd);
  v.at[6] = _mm512_sub_ps(even, odd);
  return v;
}

// Fills |values|, [POINTS, |stride|, channels], for the |count| tiles of the source from |first|.
TFRT_NN_WIDE_TARGET static void turn_tiles(const tfrt_nn_winograd_t* w, const float* source,
                                           int64_t first, int64_t count, int64_t stride,
                                           float* values) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = (first + i) / w->tiles - w->rows_before;
    const int64_t begin = (first + i) % w->tiles * w->step - w->columns_before;
    const bool is_row = row >= 0 && row < w->source_rows;
    for (int64_t channel = 0; channel < w->channels; channel += LANES) {
      vectors_t x;
      for (int64_t j = 0; j < POINTS; ++j) {
        bool is_inside = is_row && begin + j >= 0 && begin + j < w->source_columns;
        x.at[j] = is_inside
                      ? _mm512_loadu_ps(
                            source + (row * w->source_columns + begin + j) * w->channels + channel)
                      : _mm512_setzero_ps();
      }
      x = turn_source(&x);
      for (int64_t j = 0; j < POINTS; ++j) {
        _mm512_storeu_ps(values + (j * stride + i) * w->channels + channel, x.at[j]);
      }
    }
  }
}

// Adds the product of |values|, [TILES, |count|] with |stride| elements from row to row, and
// |weights|, [|count|, FILTERS], to |sums|, [TILES, FILTERS]; |is_first|: sets them to it.
TFRT_NN_WIDE_TARGET static void multiply(const float* values, int64_t stride, const float* weights,
                                         int64_t count, bool is_first, float* sums) {
  enum { COLUMNS = FILTERS / LANES };
  __m512 sum[TILES][COLUMNS];
#pragma GCC unroll 6
  for (int t = 0; t < TILES; ++t) {
#pragma GCC unroll 4
    for (int j = 0; j < COLUMNS; ++j) {
      sum[t][j] = is_first ? _mm512_setzero_ps() : _mm512_loadu_ps(sums + t * FILTERS + j * LANES);
    }
  }
  for (int64_t i = 0; i < count; ++i) {
    const float* w = weights + i * FILTERS;
    const __m512 w0 = _mm512_loadu_ps(w), w1 = _mm512_loadu_ps(w + LANES),
                 w2 = _mm512_loadu_ps(w + 2 * LANES), w3 = _mm512_loadu_ps(w + 3 * LANES);
#pragma GCC unroll 6
    for (int t = 0; t < TILES; ++t) {
      const __m512 value = _mm512_set1_ps(values[t * stride + i]);
      sum[t][0] = _mm512_fmadd_ps(value, w0, sum[t][0]);
      sum[t][1] = _mm512_fmadd_ps(value, w1, sum[t][1]);
      sum[t][2] = _mm512_fmadd_ps(value, w2, sum[t][2]);
      sum[t][3] = _mm512_fmadd_ps(value, w3, sum[t][3]);
    }
  }
#pragma GCC unroll 6
  for (int t = 0; t < TILES; ++t) {
#pragma GCC unroll 4
    for (int j = 0; j < COLUMNS; ++j) {
      _mm512_storeu_ps(sums + t * FILTERS + j * LANES, sum[t][j]);
    }
  }
}

// Sets |sums|, [tiles, FILTERS], to the values of |count| tiles at one point, from |values|, those
// of the source, and |weights|, [window rows, channels, FILTERS]. Some channels of the weights stay
// in the first cache while the tiles go by.
static void multiply_point(const tfrt_nn_winograd_t* w, const float* values, const float* weights,
                           int64_t count, float* sums) {
  for (int64_t row = 0; row < w->window_rows; ++row, values += w->tiles * w->channels) {
    for (int64_t channel = 0; channel < w->channels; channel += CHANNELS) {
      const int64_t rest = w->channels - channel, depth = rest < CHANNELS ? rest : CHANNELS;
      for (int64_t i = 0; i < count; i += TILES) {
        multiply(values + i * w->channels + channel, w->channels, weights, depth,
                 row == 0 && channel == 0, sums + i * FILTERS);
      }
      weights += depth * FILTERS;
    }
  }
}

// Reads the results of a tile off its values |at| all points, |stride| elements from each other.
WIDE_INLINE vectors_t read_results(const float* at, int64_t stride) {
  vectors_t v, y;
  for (int p = 0; p < POINTS; ++p) v.at[p] = _mm512_loadu_ps(at + p * stride);
  __m512 even1 = _mm512_add_ps(v.at[1], v.at[2]), odd1 = _mm512_sub_ps(v.at[1], v.at[2]);
  __m512 even2 = _mm512_add_ps(v.at[3], v.at[4]), odd2 = _mm512_sub_ps(v.at[3], v.at[4]);
  __m512 even3 = _mm512_add_ps(v.at[5], v.at[6]), odd3 = _mm512_sub_ps(v.at[5], v.at[6]);
  y.at[0] = _mm512_add_ps(_mm512_add_ps(v.at[0], even1), _mm512_add_ps(even2, even3));
  y.at[1] = add_scaled(add_scaled(odd1, odd2, 2.0f), odd3, 0.5f);
  y.at[2] = add_scaled(add_scaled(even1, even2, 4.0f), even3, 0.25f);
  y.at[3] = add_scaled(add_scaled(odd1, odd2, 8.0f), odd3, 0.125f);
  y.at[4] = add_scaled(add_scaled(even1, even2, 16.0f), even3, 0.0625f);
  y.at[5] = add_scaled(add_scaled(odd1, odd2, 32.0f), odd3, 0.03125f);
  return y;
}

// Writes the results of the target's tile |tile| for the filters from |filter|, from |sums|,
// [POINTS, BLOCK, FILTERS], at the tile's place.
TFRT_NN_WIDE_TARGET static void write_tile(const tfrt_nn_winograd_t* w, const float* sums,
                                           int64_t tile, int64_t filter, const float* bias,
                                           float* target) {
  const int64_t column = tile % w->tiles * w->step;
  const int64_t rest = w->target_columns - column, count = rest < w->step ? rest : w->step;
  const bool adds = w->epilogue.adds;
  const bool is_relu = w->epilogue.activation == TFRT_ONEDNN_ACTIVATION_RELU;
  const __m512 slope = _mm512_set1_ps(w->epilogue.alpha);
  float* to = target + (tile / w->tiles * w->target_columns + column) * w->filters + filter;
  for (int64_t f = 0; f < FILTERS && filter + f < w->filters; f += LANES) {
    vectors_t y = read_results(sums + f, BLOCK * FILTERS);
    // The infinite point stands for the highest power alone.
    const __m512 last = _mm512_loadu_ps(sums + f + (POINTS - 1) * BLOCK * FILTERS);
    const __m512 summand = bias ? _mm512_loadu_ps(bias + filter + f) : _mm512_setzero_ps();
    for (int64_t i = 0; i < count; ++i) {
      __m512 result = i + 1 == w->step ? _mm512_add_ps(y.at[i], last) : y.at[i];
      if (bias) result = _mm512_add_ps(result, summand);
      if (adds) result = _mm512_add_ps(result, _mm512_loadu_ps(to + i * w->filters + f));
      if (is_relu) {
        const __mmask16 is_below = _mm512_cmp_ps_mask(result, _mm512_setzero_ps(), _CMP_LT_OQ);
        result = _mm512_mask_mul_ps(result, is_below, result, slope);
      }
      _mm512_storeu_ps(to + i * w->filters + f, result);
    }
  }
}

// Computes the |count| tiles of the target from |first|, of one picture. |values| is [POINTS, tiles
// of the source, channels], |sums| [POINTS, BLOCK, FILTERS].
static void convolve(const tfrt_nn_winograd_t* w, const float* source, int64_t first, int64_t count,
                     const float* bias, float* target, float* values, float* sums) {
  const int64_t stride = source_tiles(w, BLOCK);
  const float* weights = w->weights;
  const int64_t filled = source_tiles(w, count);
  const int64_t used = source_tiles(w, blocks_of(count, TILES) * TILES);
  turn_tiles(w, source, first, filled, stride, values);
  // Those up to the next multiple of TILES are multiplied, too, and used by nobody.
  for (int64_t p = 0; p < POINTS; ++p) {
    memset(values + (p * stride + filled) * w->channels, 0,
           (size_t)((used - filled) * w->channels) * sizeof(float));
  }
  for (int64_t filter = 0; filter < w->filters; filter += FILTERS) {
    for (int64_t p = 0; p < POINTS; ++p) {
      multiply_point(w, values + p * stride * w->channels, weights, count,
                     sums + p * BLOCK * FILTERS);
      weights += w->window_rows * w->channels * FILTERS;
    }
    for (int64_t i = 0; i < count; ++i) {
      write_tile(w, sums + i * FILTERS, first + i, filter, bias, target);
    }
  }
}
#else
// There is no winograd: this processor has no wide vectors.
static void convolve(const tfrt_nn_winograd_t* w, const float* source, int64_t first, int64_t count,
                     const float* bias, float* target, float* values, float* sums) {
  (void)w, (void)source, (void)first, (void)count;
  (void)bias, (void)target, (void)values, (void)sums;
}
#endif

// --- Life -----------------------------------------------------------------------------

static tfrt_status_t make_weights(tfrt_nn_winograd_t* w, const float* weights) {
  const int64_t block = POINTS * w->window_rows * w->channels * FILTERS;
  const int64_t count = blocks_of(w->filters, FILTERS);
  w->weight_size = (size_t)(count * block) * sizeof(float);
  w->weights = tfrt_allocator_allocate_aligned(w->allocator, w->weight_size, ALIGNMENT);
  if (!w->weights) return tfrt_status_out_of_memory();
  for (int64_t i = 0; i < count; ++i) turn_weights(w, weights, i * FILTERS, w->weights + i * block);
  return NULL;
}

tfrt_status_t tfrt_nn_winograd_create(const tfrt_onednn_convolution_spec_t* spec,
                                      const float* weights, tfrt_allocator_t allocator,
                                      tfrt_nn_winograd_t** out_winograd) {
  *out_winograd = NULL;
  if (!tfrt_nn_has_wide_vectors() || !spec->channels_last || spec->groups != 1 ||
      !has_plain_window(spec) || !has_vectors(spec->source_channels) ||
      !has_vectors(spec->target_channels)) {
    return NULL;
  }
  tfrt_nn_winograd_t plan = {.allocator = allocator};
  read_spec(spec, &plan);
  int64_t count = plan.filters * plan.channels * plan.window_rows * plan.window_columns;
  if (!is_worth_it(&plan) || !are_small(weights, count)) return NULL;
  tfrt_nn_winograd_t* winograd = tfrt_allocator_allocate(allocator, sizeof(*winograd));
  if (!winograd) return tfrt_status_out_of_memory();
  *winograd = plan;
  tfrt_status_t status = make_weights(winograd, weights);
  if (status) {
    tfrt_nn_winograd_free(winograd);
    return status;
  }
  *out_winograd = winograd;
  return NULL;
}

void tfrt_nn_winograd_free(tfrt_nn_winograd_t* winograd) {
  if (!winograd) return;
  tfrt_allocator_free_aligned(winograd->allocator, winograd->weights, winograd->weight_size,
                              ALIGNMENT);
  tfrt_allocator_free(winograd->allocator, winograd, sizeof(*winograd));
}

tfrt_status_t tfrt_nn_winograd_run(const tfrt_nn_winograd_t* winograd, const float* source,
                                   const float* bias, float* target, tfrt_allocator_t allocator,
                                   bool* out_is_done) {
  const tfrt_nn_winograd_t* w = winograd;
  const int64_t source_size = w->source_rows * w->source_columns * w->channels;
  const int64_t target_size = w->target_rows * w->target_columns * w->filters;
  const int64_t value_count = POINTS * source_tiles(w, BLOCK) * w->channels;
  const int64_t tiles = w->target_rows * w->tiles;
  const size_t size = (size_t)(value_count + POINTS * BLOCK * FILTERS) * sizeof(float);
  *out_is_done = are_small(source, w->pictures * source_size);
  if (!*out_is_done) return NULL;
  float* memory = tfrt_allocator_allocate_aligned(allocator, size, ALIGNMENT);
  if (!memory) return tfrt_status_out_of_memory();
  for (int64_t picture = 0; picture < w->pictures; ++picture) {
    for (int64_t first = 0; first < tiles; first += BLOCK) {
      convolve(w, source + picture * source_size, first,
               tiles - first < BLOCK ? tiles - first : BLOCK, bias, target + picture * target_size,
               memory, memory + value_count);
    }
  }
  tfrt_allocator_free_aligned(allocator, memory, size, ALIGNMENT);
  if (w->epilogue.activation != TFRT_ONEDNN_ACTIVATION_RELU) {
    tfrt_nn_epilogue_apply(&w->epilogue, target, w->pictures * target_size);
  }
  return NULL;
}
