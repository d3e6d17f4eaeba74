// SPDX-License-Identifier: Apache-2.0
//
// Recurrent networks of f32: LSTM, GRU and the simple one.
//
//   all steps at once:   x * W^T + bias            [steps * batch, gates * hidden]
//   each step:           + h * R^T, activations --> h (and c)
#include <math.h>
#include <string.h>

#include "kernels/nn/math/fast_math.h"
#include "kernels/nn/math/ops.h"
#include "kernels/nn/math/small_product.h"

// The activations, by the names that the list has.
typedef enum kind_e {
  KIND_RELU = 0,
  KIND_TANH,
  KIND_SIGMOID,
  KIND_AFFINE,
  KIND_LEAKY_RELU,
  KIND_THRESHOLDED_RELU,
  KIND_SCALED_TANH,
  KIND_HARD_SIGMOID,
  KIND_ELU,
  KIND_SOFTSIGN,
  KIND_SOFTPLUS,
  KIND_COUNT,
} kind_t;

static const struct {
  const char* name;
  float alpha;  // where the program has none; so is beta
  float beta;
} known_activations[KIND_COUNT] = {
    [KIND_RELU] = {"relu", 0, 0},
    [KIND_TANH] = {"tanh", 0, 0},
    [KIND_SIGMOID] = {"sigmoid", 0, 0},
    [KIND_AFFINE] = {"affine", 1.0f, 0},
    [KIND_LEAKY_RELU] = {"leakyrelu", 0.01f, 0},
    [KIND_THRESHOLDED_RELU] = {"thresholdedrelu", 1.0f, 0},
    [KIND_SCALED_TANH] = {"scaledtanh", 1.0f, 1.0f},
    [KIND_HARD_SIGMOID] = {"hardsigmoid", 0.2f, 0.5f},
    [KIND_ELU] = {"elu", 1.0f, 0},
    [KIND_SOFTSIGN] = {"softsign", 0, 0},
    [KIND_SOFTPLUS] = {"softplus", 0, 0},
};

typedef struct activation_s {
  kind_t kind;
  float alpha;
  float beta;
} activation_t;

static float activate(const activation_t* a, float x) {
  switch (a->kind) {
    case KIND_RELU:
      return x > 0 ? x : 0;
    case KIND_SIGMOID:
      return 1.0f / (1.0f + tfrt_nn_expf(-x));
    case KIND_AFFINE:
      return a->alpha * x + a->beta;
    case KIND_LEAKY_RELU:
      return x < 0 ? a->alpha * x : x;
    case KIND_THRESHOLDED_RELU:
      return x > a->alpha ? x : 0;
    case KIND_SCALED_TANH:
      return a->alpha * tanhf(a->beta * x);
    case KIND_HARD_SIGMOID:
      return fmaxf(0.0f, fminf(1.0f, a->alpha * x + a->beta));
    case KIND_ELU:
      return x < 0 ? a->alpha * (expf(x) - 1.0f) : x;
    case KIND_SOFTSIGN:
      return x / (1.0f + fabsf(x));
    case KIND_SOFTPLUS:
      return x > 20.0f ? x : log1pf(expf(x));
    default:
      return tfrt_nn_tanhf(x);
  }
}

// A network, its operands and where its results go.
typedef struct network_s {
  const tfrt_nn_call_t* call;
  uint32_t gates;
  int64_t steps;
  int64_t batch;
  int64_t inputs;
  int64_t hidden;
  int64_t directions;
  bool batch_first;
  bool is_reverse;  // its only direction is the one from the end
  float clip;
  bool forgets_by_input;  // LSTM
  bool resets_after;      // GRU: linear_before_reset
  activation_t activations[6];
  const float* weights;
  const float* recurrence;
  const float* bias;  // NULL: none; so are those below
  const float* initial_h;
  const float* initial_c;
  const float* peepholes;
  const tfrt_dense_host_tensor_t* lengths;  // i32
  float* scratch;  // one direction's: gates of all steps, h, c, and two rows of the recurrence
} network_t;

// --- Steps ------------------------------------------------------------------------

static float clipped(const network_t* net, float x) {
  if (net->clip <= 0) return x;
  return x > net->clip ? net->clip : x < -net->clip ? -net->clip : x;
}

// One picture of the batch in one step, |g| its gates in the order i, o, f, c.
static void step_lstm(const network_t* net, int64_t direction, const float* g, float* h, float* c) {
  const activation_t* a = net->activations + 3 * (direction > 0);
  int64_t n = net->hidden;
  const float* p = net->peepholes ? net->peepholes + direction * 3 * n : NULL;
  for (int64_t j = 0; j < n; ++j) {
    float i = g[j] + (p ? p[j] * c[j] : 0.0f);
    float f = g[2 * n + j] + (p ? p[2 * n + j] * c[j] : 0.0f);
    i = activate(&a[0], clipped(net, i));
    f = net->forgets_by_input ? 1.0f - i : activate(&a[0], clipped(net, f));
    float cell = f * c[j] + i * activate(&a[1], clipped(net, g[3 * n + j]));
    float o = g[n + j] + (p ? p[n + j] * cell : 0.0f);
    c[j] = cell;
    h[j] = activate(&a[0], clipped(net, o)) * activate(&a[2], cell);
  }
}

static void step_rnn(const network_t* net, int64_t direction, const float* g, float* h) {
  const activation_t* a = net->activations + (direction > 0);
  for (int64_t j = 0; j < net->hidden; ++j) h[j] = activate(a, clipped(net, g[j]));
}

// |g|: z, r, h of the inputs; |r|: the same of the recurrence, without bias; |reset|: room for r *
// h.
static tfrt_status_t step_gru(const network_t* net, int64_t direction, float* g, float* r,
                              float* reset, float* h) {
  const activation_t* a = net->activations + 2 * (direction > 0);
  int64_t n = net->hidden;
  const float* rb = net->bias ? net->bias + (direction * 6 + 5) * n : NULL;
  for (int64_t j = 0; j < 2 * n; ++j) g[j] = activate(&a[0], clipped(net, g[j] + r[j]));
  if (net->resets_after) {
    for (int64_t j = 0; j < n; ++j) {
      g[2 * n + j] += g[n + j] * (r[2 * n + j] + (rb ? rb[j] : 0.0f));
    }
  } else {
    for (int64_t j = 0; j < n; ++j) reset[j] = g[n + j] * h[j];
    const tfrt_nn_product_t product = {.m = 1, .n = n, .k = n, .b_is_transposed = true};
    const float* weights = net->recurrence + (direction * 3 + 2) * n * n;
    TFRT_RETURN_IF_ERROR(tfrt_nn_product_f32(&product, 1.0f, reset, weights, 0.0f, r + 2 * n));
    for (int64_t j = 0; j < n; ++j) g[2 * n + j] += r[2 * n + j] + (rb ? rb[j] : 0.0f);
  }
  for (int64_t j = 0; j < n; ++j) {
    float candidate = activate(&a[1], clipped(net, g[2 * n + j]));
    h[j] = (1.0f - g[j]) * candidate + g[j] * h[j];
  }
  return NULL;
}

// --- One direction ----------------------------------------------------------------

// Where the parts of the scratch memory are.
typedef struct parts_s {
  float* gates;      // [steps * batch, gates * hidden], in the order of the operand
  float* h;          // [batch, hidden]
  float* c;          // likewise
  float* recurrent;  // [batch, gates * hidden]
  float* reset;      // [hidden]
} parts_t;

static size_t scratch_count(const network_t* net) {
  size_t gates = (size_t)net->gates * (size_t)net->hidden;
  size_t batch = (size_t)net->batch;
  return (size_t)net->steps * batch * gates + 2 * batch * (size_t)net->hidden + batch * gates +
         (size_t)net->hidden;
}

static parts_t divide_scratch(const network_t* net) {
  int64_t gates = net->gates * net->hidden, states = net->batch * net->hidden;
  parts_t parts = {.gates = net->scratch};
  parts.h = parts.gates + net->steps * net->batch * gates;
  parts.c = parts.h + states;
  parts.recurrent = parts.c + states;
  parts.reset = parts.recurrent + net->batch * gates;
  return parts;
}

static int64_t length_of(const network_t* net, int64_t picture) {
  if (!net->lengths) return net->steps;
  return ((const int32_t*)tfrt_dense_host_tensor_data(net->lengths))[picture];
}

// The row of step |t| of picture |b| in the operand and the gates.
static int64_t row_of(const network_t* net, int64_t t, int64_t b) {
  return net->batch_first ? b * net->steps + t : t * net->batch + b;
}

// The gates of all steps, from the inputs alone.
static tfrt_status_t start_gates(const network_t* net, int64_t direction, const parts_t* parts) {
  int64_t width = net->gates * net->hidden, rows = net->steps * net->batch;
  const float* b = net->bias ? net->bias + direction * 2 * width : NULL;
  // The recurrent bias of a GRU's candidate is added where it is reset.
  int64_t with_both = net->gates == 3 ? 2 * net->hidden : width;
  if (rows > 0 && net->inputs > 0) {
    const tfrt_nn_product_t product = {
        .m = rows, .n = width, .k = net->inputs, .b_is_transposed = true};
    const float* weights = net->weights + direction * width * net->inputs;
    TFRT_RETURN_IF_ERROR(tfrt_nn_product_f32(&product, 1.0f, tfrt_nn_input_data(net->call, 0),
                                             weights, 0.0f, parts->gates));
  }
  for (int64_t i = 0; i < rows && b; ++i) {
    for (int64_t j = 0; j < width; ++j) {
      parts->gates[i * width + j] += b[j] + (j < with_both ? b[width + j] : 0.0f);
    }
  }
  return NULL;
}

static void start_state(const network_t* net, int64_t direction, const float* initial,
                        float* state) {
  size_t bytes = (size_t)(net->batch * net->hidden) * sizeof(float);
  memset(state, 0, bytes);
  for (int64_t b = 0; b < net->batch && initial; ++b) {
    int64_t row = net->batch_first ? b * net->directions + direction : direction * net->batch + b;
    memcpy(state + b * net->hidden, initial + row * net->hidden,
           (size_t)net->hidden * sizeof(float));
  }
}

// Copies |h| of picture |b| to result 0, [steps, directions, batch, hidden] or [batch, steps,
// directions, hidden]; NULL: zeros.
static void write_step(const network_t* net, int64_t direction, int64_t t, int64_t b,
                       const float* h) {
  if (net->call->results[0].buffer == NULL) return;
  int64_t row = net->batch_first ? (b * net->steps + t) * net->directions + direction
                                 : (t * net->directions + direction) * net->batch + b;
  float* out = (float*)tfrt_nn_result_data(net->call, 0) + row * net->hidden;
  size_t bytes = (size_t)net->hidden * sizeof(float);
  if (h) {
    memcpy(out, h, bytes);
  } else {
    memset(out, 0, bytes);
  }
}

// One picture in the step |t| of its own time.
static tfrt_status_t step_picture(const network_t* net, int64_t direction, const parts_t* parts,
                                  int64_t t, int64_t b) {
  int64_t width = net->gates * net->hidden;
  float* g = parts->gates + row_of(net, t, b) * width;
  float* r = parts->recurrent + b * width;
  float* h = parts->h + b * net->hidden;
  if (net->gates == 3) {
    TFRT_RETURN_IF_ERROR(step_gru(net, direction, g, r, parts->reset, h));
  } else {
    for (int64_t j = 0; j < width; ++j) g[j] += r[j];
    if (net->gates == 4) step_lstm(net, direction, g, h, parts->c + b * net->hidden);
    if (net->gates == 1) step_rnn(net, direction, g, h);
  }
  write_step(net, direction, t, b, h);
  return NULL;
}

static tfrt_status_t run_steps(const network_t* net, int64_t direction, const parts_t* parts) {
  int64_t width = net->gates * net->hidden;
  bool is_backward = direction > 0 || net->is_reverse;
  const float* r = net->recurrence + direction * width * net->hidden;
  const tfrt_nn_product_t product = {
      .m = net->batch, .n = width, .k = net->hidden, .b_is_transposed = true};
  for (int64_t step = 0; step < net->steps; ++step) {
    TFRT_RETURN_IF_ERROR(tfrt_nn_product_f32(&product, 1.0f, parts->h, r, 0.0f, parts->recurrent));
    for (int64_t b = 0; b < net->batch; ++b) {
      int64_t length = length_of(net, b);
      if (step >= length) {
        write_step(net, direction, step, b, NULL);
        continue;
      }
      int64_t t = is_backward ? length - 1 - step : step;
      TFRT_RETURN_IF_ERROR(step_picture(net, direction, parts, t, b));
    }
  }
  return NULL;
}

// Copies a last state to result |index|, [directions, batch, hidden] or batch first.
static void write_state(const network_t* net, uint32_t index, int64_t direction,
                        const float* state) {
  if (net->call->result_count <= index) return;
  for (int64_t b = 0; b < net->batch; ++b) {
    int64_t row = net->batch_first ? b * net->directions + direction : direction * net->batch + b;
    memcpy((float*)tfrt_nn_result_data(net->call, index) + row * net->hidden,
           state + b * net->hidden, (size_t)net->hidden * sizeof(float));
  }
}

static tfrt_status_t run_direction(const network_t* net, int64_t direction) {
  parts_t parts = divide_scratch(net);
  TFRT_RETURN_IF_ERROR(start_gates(net, direction, &parts));
  start_state(net, direction, net->initial_h, parts.h);
  start_state(net, direction, net->initial_c, parts.c);
  TFRT_RETURN_IF_ERROR(run_steps(net, direction, &parts));
  write_state(net, 1, direction, parts.h);
  if (net->gates == 4) write_state(net, 2, direction, parts.c);
  return NULL;
}

// --- What the program says --------------------------------------------------------

// Sets |*out_data| to the elements of the f32 operand |index|, which has |count|; NULL if it isn't
// there.
static tfrt_status_t read_operand(const tfrt_nn_call_t* call, uint32_t index, int64_t count,
                                  const float** out_data) {
  const tfrt_dense_host_tensor_t* tensor = tfrt_nn_input(call, index);
  *out_data = NULL;
  if (!tensor) return NULL;
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, index, TFRT_DTYPE_F32));
  if (tfrt_dense_host_tensor_element_count(tensor) != count) {
    return tfrt_nn_error(call, "operand %u must have %lld elements, not %s", index,
                         (long long)count, tfrt_shape_text(&tensor->shape).text);
  }
  *out_data = tfrt_dense_host_tensor_data(tensor);
  return NULL;
}

static tfrt_status_t read_shapes(network_t* net) {
  const tfrt_nn_call_t* call = net->call;
  const tfrt_dense_host_tensor_t* x = tfrt_nn_input(call, 0);
  const tfrt_dense_host_tensor_t* w = tfrt_nn_input(call, 1);
  const tfrt_dense_host_tensor_t* r = tfrt_nn_input(call, 2);
  if (!x || !w || !r || x->shape.rank != 3 || w->shape.rank != 3 || r->shape.rank != 3) {
    return tfrt_nn_error(call, "its first three operands have three axes each");
  }
  for (uint32_t i = 0; i < 3; ++i) {
    TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, i, TFRT_DTYPE_F32));
  }
  net->batch_first = tfrt_nn_i64(call, "layout") != 0;
  net->steps = x->shape.dims[net->batch_first];
  net->batch = x->shape.dims[!net->batch_first];
  net->inputs = x->shape.dims[2];
  net->hidden = r->shape.dims[2];
  net->directions = w->shape.dims[0];
  net->is_reverse = tfrt_nn_string_is(call, "direction", "reverse");
  bool is_both = tfrt_nn_string_is(call, "direction", "bidirectional");
  int64_t width = net->gates * net->hidden;
  if (net->directions != 1 + is_both || r->shape.dims[0] != net->directions || net->hidden < 1 ||
      net->batch < 1 || w->shape.dims[1] != width || r->shape.dims[1] != width ||
      w->shape.dims[2] != net->inputs) {
    return tfrt_nn_error(call, "weights of %s and %s don't fit", tfrt_shape_text(&w->shape).text,
                         tfrt_shape_text(&r->shape).text);
  }
  net->weights = tfrt_dense_host_tensor_data(w);
  net->recurrence = tfrt_dense_host_tensor_data(r);
  return NULL;
}

static tfrt_status_t read_operands(network_t* net) {
  const tfrt_nn_call_t* call = net->call;
  int64_t states = net->directions * net->batch * net->hidden;
  int64_t width = net->directions * net->gates * net->hidden;
  TFRT_RETURN_IF_ERROR(read_operand(call, 3, 2 * width, &net->bias));
  TFRT_RETURN_IF_ERROR(read_operand(call, 5, states, &net->initial_h));
  if (net->gates == 4) {
    TFRT_RETURN_IF_ERROR(read_operand(call, 6, states, &net->initial_c));
    TFRT_RETURN_IF_ERROR(read_operand(call, 7, 3 * net->directions * net->hidden, &net->peepholes));
  }
  net->lengths = tfrt_nn_input(call, 4);
  if (!net->lengths) return NULL;
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, 4, TFRT_DTYPE_I32));
  if (tfrt_dense_host_tensor_element_count(net->lengths) != net->batch) {
    return tfrt_nn_error(call, "it needs a length for each picture of the batch");
  }
  for (int64_t b = 0; b < net->batch; ++b) {
    int64_t length = length_of(net, b);
    if (length < 0 || length > net->steps) return tfrt_nn_error(call, "a length is out of range");
  }
  return NULL;
}

// Sets |*out_kind| to the activation called |name|, in letters of either case.
static bool find_activation(tfrt_string_view_t name, kind_t* out_kind) {
  for (int kind = 0; kind < KIND_COUNT; ++kind) {
    const char* known = known_activations[kind].name;
    bool is_same = strlen(known) == name.size;
    for (size_t i = 0; is_same && i < name.size; ++i) is_same = (name.data[i] | 0x20) == known[i];
    if (!is_same) continue;
    *out_kind = (kind_t)kind;
    return true;
  }
  return false;
}

// The names are separated by commas; without names, those of |standard| for each direction.
static tfrt_status_t read_activations(network_t* net, const kind_t* standard, uint32_t count) {
  tfrt_string_view_t names = tfrt_nn_string(net->call, "activations");
  uint32_t alpha_count, beta_count, next_alpha = 0, next_beta = 0;
  const float* alphas = tfrt_nn_floats(net->call, "activation_alpha", &alpha_count);
  const float* betas = tfrt_nn_floats(net->call, "activation_beta", &beta_count);
  bool has_names = names.size > 0;
  for (uint32_t i = 0; i < count * (uint32_t)net->directions; ++i) {
    activation_t* activation = &net->activations[i];
    activation->kind = standard[i % count];
    if (has_names) {
      const char* comma = names.size ? memchr(names.data, ',', names.size) : NULL;
      size_t size = comma ? (size_t)(comma - names.data) : names.size;
      if (!find_activation(tfrt_string_view_make(names.data, size), &activation->kind)) {
        return tfrt_nn_error(net->call, "there is no activation '%.*s'", (int)size, names.data);
      }
      size_t skipped = comma ? size + 1 : size;
      names = tfrt_string_view_make(names.data + skipped, names.size - skipped);
    }
    activation->alpha = known_activations[activation->kind].alpha;
    activation->beta = known_activations[activation->kind].beta;
    if (activation->alpha != 0 && next_alpha < alpha_count)
      activation->alpha = alphas[next_alpha++];
    if (activation->beta != 0 && next_beta < beta_count) activation->beta = betas[next_beta++];
  }
  return NULL;
}

static tfrt_status_t make_results(const network_t* net) {
  const int64_t forward[4] = {net->steps, net->directions, net->batch, net->hidden};
  const int64_t batch_first[4] = {net->batch, net->steps, net->directions, net->hidden};
  const int64_t states[3] = {net->batch_first ? net->batch : net->directions,
                             net->batch_first ? net->directions : net->batch, net->hidden};
  TFRT_RETURN_IF_ERROR(
      tfrt_nn_make_dims(net->call, 0, TFRT_DTYPE_F32, net->batch_first ? batch_first : forward, 4));
  for (uint32_t i = 1; i < net->call->result_count; ++i) {
    TFRT_RETURN_IF_ERROR(tfrt_nn_make_dims(net->call, i, TFRT_DTYPE_F32, states, 3));
  }
  return NULL;
}

static tfrt_status_t run_network(const tfrt_nn_call_t* call, uint32_t gates, const kind_t* standard,
                                 uint32_t activation_count) {
  network_t net = {.call = call, .gates = gates};
  uint32_t most = gates == 4 ? 3 : 2;
  if (call->result_count > most) return tfrt_nn_error(call, "it has at most %u results", most);
  TFRT_RETURN_IF_ERROR(read_shapes(&net));
  TFRT_RETURN_IF_ERROR(read_operands(&net));
  TFRT_RETURN_IF_ERROR(read_activations(&net, standard, activation_count));
  net.clip = tfrt_nn_f32(call, "clip");
  if (gates == 4) net.forgets_by_input = tfrt_nn_i64(call, "input_forget") != 0;
  if (gates == 3) net.resets_after = tfrt_nn_i64(call, "linear_before_reset") != 0;
  TFRT_RETURN_IF_ERROR(make_results(&net));
  size_t bytes = scratch_count(&net) * sizeof(float);
  net.scratch = tfrt_allocator_allocate_zeroed(call->allocator, bytes);
  if (!net.scratch) return tfrt_status_out_of_memory();
  tfrt_status_t status = NULL;
  for (int64_t i = 0; i < net.directions && !status; ++i) status = run_direction(&net, i);
  tfrt_allocator_free(call->allocator, net.scratch, bytes);
  return status;
}

tfrt_status_t tfrt_nn_lstm(const tfrt_nn_call_t* call) {
  static const kind_t standard[] = {KIND_SIGMOID, KIND_TANH, KIND_TANH};
  return run_network(call, 4, standard, TFRT_ARRAY_SIZE(standard));
}

tfrt_status_t tfrt_nn_gru(const tfrt_nn_call_t* call) {
  static const kind_t standard[] = {KIND_SIGMOID, KIND_TANH};
  return run_network(call, 3, standard, TFRT_ARRAY_SIZE(standard));
}

tfrt_status_t tfrt_nn_rnn(const tfrt_nn_call_t* call) {
  static const kind_t standard[] = {KIND_TANH};
  return run_network(call, 1, standard, TFRT_ARRAY_SIZE(standard));
}
