// SPDX-License-Identifier: Apache-2.0
//
// All is done with 3 axes of space: what has 2 has one more, of one place, before them.
#include "devices/cpu/cpu_dnn_math.h"

#include <math.h>
#include <string.h>

#include "devices/cpu/cpu_element.h"

#define SPACE TFRT_DNN_MAX_SPACE

// A place in space.
typedef struct tfrt_cpu_place_s {
  int64_t at[SPACE];
} tfrt_cpu_place_t;

// A tensor or filter, with two axes and then 3 of space.
typedef struct tfrt_cpu_view_s {
  tfrt_device_address_t address;
  tfrt_dtype_t dtype;
  int64_t sizes[2 + SPACE];
  int64_t steps[2 + SPACE];
} tfrt_cpu_view_t;

// The parameters of a window on each axis.
typedef struct tfrt_cpu_window_s {
  int64_t sizes[SPACE];
  int64_t padding[SPACE];
  int64_t steps[SPACE];
  int64_t dilation[SPACE];
} tfrt_cpu_window_t;

// --- Views -------------------------------------------------------------------------------

// Copies |count| numbers of axes to the last ones of 3; those before them are |rest|.
static void cpu_dnn_widen(const int32_t* from, uint32_t count, int64_t rest, int64_t* to) {
  for (uint32_t i = 0; i < SPACE; ++i) {
    uint32_t missing = SPACE - count;
    to[i] = i < missing ? rest : from[i - missing];
  }
}

static tfrt_cpu_view_t cpu_dnn_tensor(const tfrt_dnn_tensor_t* form,
                                      const tfrt_dnn_memory_t* memory) {
  tfrt_cpu_view_t view = {.address = memory->address,
                          .dtype = form->dtype,
                          .sizes = {form->sizes[0], form->sizes[1]},
                          .steps = {form->steps[0], form->steps[1]}};
  cpu_dnn_widen(form->sizes + 2, form->rank - 2, 1, view.sizes + 2);
  cpu_dnn_widen(form->steps + 2, form->rank - 2, 0, view.steps + 2);
  return view;
}

static tfrt_cpu_view_t cpu_dnn_filter(const tfrt_dnn_filter_t* form,
                                      const tfrt_dnn_memory_t* memory) {
  tfrt_cpu_view_t view = {
      .address = memory->address, .dtype = form->dtype, .sizes = {form->sizes[0], form->sizes[1]}};
  cpu_dnn_widen(form->sizes + 2, form->rank - 2, 1, view.sizes + 2);
  int64_t step = form->has_channels_last ? form->sizes[1] : 1;
  for (uint32_t i = SPACE; i-- > 0;) {
    view.steps[2 + i] = step;
    step *= view.sizes[2 + i];
  }
  view.steps[1] = form->has_channels_last ? 1 : step;
  view.steps[0] = form->has_channels_last ? step : step * form->sizes[1];
  return view;
}

// The same for |count| numbers of plans.
static void cpu_dnn_widen_long(const int64_t* from, uint32_t count, int64_t rest, int64_t* to) {
  for (uint32_t i = 0; i < SPACE; ++i) {
    uint32_t missing = SPACE - count;
    to[i] = i < missing ? rest : from[i - missing];
  }
}

static tfrt_cpu_view_t cpu_dnn_layout(const tfrt_dnn_layout_t* layout,
                                      const tfrt_dnn_memory_t* memory) {
  tfrt_cpu_view_t view = {.address = memory->address,
                          .dtype = layout->dtype,
                          .sizes = {layout->sizes[0], layout->sizes[1]},
                          .steps = {layout->steps[0], layout->steps[1]}};
  cpu_dnn_widen_long(layout->sizes + 2, layout->rank - 2, 1, view.sizes + 2);
  cpu_dnn_widen_long(layout->steps + 2, layout->rank - 2, 0, view.steps + 2);
  return view;
}

// Lets |view| be as large as it is asked for on each axis of size 1.
static void cpu_view_spread(tfrt_cpu_view_t* view) {
  for (int i = 0; i < 2 + SPACE; ++i) {
    if (view->sizes[i] == 1) view->steps[i] = 0;
  }
}

static int64_t cpu_view_index(const tfrt_cpu_view_t* view, int64_t first, int64_t second,
                              const tfrt_cpu_place_t* place) {
  int64_t index = first * view->steps[0] + second * view->steps[1];
  for (int i = 0; i < SPACE; ++i) index += place->at[i] * view->steps[2 + i];
  return index;
}

static double cpu_view_get(const tfrt_cpu_view_t* view, int64_t first, int64_t second,
                           const tfrt_cpu_place_t* place) {
  return tfrt_cpu_element_get(view->address, view->dtype,
                              cpu_view_index(view, first, second, place));
}

// Moves |place| on to the next one of |sizes|; returns whether there is one.
static bool cpu_place_next(tfrt_cpu_place_t* place, const int64_t* sizes) {
  for (int i = SPACE; i-- > 0;) {
    if (++place->at[i] < sizes[i]) return true;
    place->at[i] = 0;
  }
  return false;
}

// --- Windows -----------------------------------------------------------------------------

// Sets |*out| to where the element |in| of the window at |y| is in x; returns whether it is there
// and not in the padding.
static bool cpu_window_forward(const tfrt_cpu_window_t* window, const tfrt_cpu_place_t* y,
                               const tfrt_cpu_place_t* in, const int64_t* x_sizes,
                               tfrt_cpu_place_t* out) {
  bool is_there = true;
  for (int i = 0; i < SPACE; ++i) {
    out->at[i] = y->at[i] * window->steps[i] - window->padding[i] + in->at[i] * window->dilation[i];
    is_there &= out->at[i] >= 0 && out->at[i] < x_sizes[i];
  }
  return is_there;
}

// The other way: the window whose element |in| is at |x|; returns whether there is one.
static bool cpu_window_backward(const tfrt_cpu_window_t* window, const tfrt_cpu_place_t* x,
                                const tfrt_cpu_place_t* in, const int64_t* y_sizes,
                                tfrt_cpu_place_t* out) {
  bool is_there = true;
  for (int i = 0; i < SPACE; ++i) {
    int64_t start = x->at[i] + window->padding[i] - in->at[i] * window->dilation[i];
    is_there &= start >= 0 && start % window->steps[i] == 0;
    out->at[i] = start / window->steps[i];
    is_there &= out->at[i] < y_sizes[i];
  }
  return is_there;
}

// --- Pooling -----------------------------------------------------------------------------

static tfrt_cpu_window_t cpu_dnn_pooling_window(const tfrt_dnn_pooling_t* pooling) {
  tfrt_cpu_window_t window = {.dilation = {1, 1, 1}};
  cpu_dnn_widen(pooling->window, pooling->space, 1, window.sizes);
  cpu_dnn_widen(pooling->padding, pooling->space, 0, window.padding);
  cpu_dnn_widen(pooling->steps, pooling->space, 1, window.steps);
  return window;
}

static bool cpu_dnn_is_max(const tfrt_dnn_pooling_t* pooling) {
  return pooling->mode == TFRT_DNN_POOLING_MAX ||
         pooling->mode == TFRT_DNN_POOLING_MAX_DETERMINISTIC;
}

// The result of pooling one window of x.
typedef struct tfrt_cpu_pooled_s {
  double value;
  tfrt_cpu_place_t place;  // of the greatest element
  int64_t count;           // of the elements that an average is of
} tfrt_cpu_pooled_t;

// Pools the window at |y| of channel |channel| of x.
static tfrt_cpu_pooled_t cpu_dnn_pool_window(const tfrt_dnn_pooling_t* pooling,
                                             const tfrt_cpu_window_t* window,
                                             const tfrt_cpu_view_t* x, int64_t batch,
                                             int64_t channel, const tfrt_cpu_place_t* y) {
  tfrt_cpu_pooled_t pooled = {0};
  double greatest = -INFINITY;
  double sum = 0;
  int64_t seen = 0;
  int64_t all = 1;
  tfrt_cpu_place_t in = {0};
  tfrt_cpu_place_t at;
  do {
    if (!cpu_window_forward(window, y, &in, x->sizes + 2, &at)) continue;
    double value = cpu_view_get(x, batch, channel, &at);
    bool is_greater = value > greatest || (pooling->propagates_nan && isnan(value));
    if (isnan(greatest)) is_greater = false;
    if (is_greater || seen == 0) pooled.place = at;
    if (is_greater) greatest = value;
    sum += value;
    ++seen;
  } while (cpu_place_next(&in, window->sizes));
  for (int i = 0; i < SPACE; ++i) all *= window->sizes[i];
  pooled.count = pooling->mode == TFRT_DNN_POOLING_AVERAGE_WITH_PADDING ? all : seen;
  pooled.value = cpu_dnn_is_max(pooling) ? greatest : sum / (double)pooled.count;
  return pooled;
}

// Makes element |index| of |view| alpha * |value| + beta times what it is.
static void cpu_dnn_blend(const tfrt_cpu_view_t* view, int64_t index, double alpha, double value,
                          double beta) {
  double result = alpha * value;
  if (beta != 0) result += beta * tfrt_cpu_element_get(view->address, view->dtype, index);
  tfrt_cpu_element_set(view->address, view->dtype, index, result);
}

static void cpu_dnn_pool(const tfrt_dnn_pool_t* call) {
  tfrt_cpu_window_t window = cpu_dnn_pooling_window(&call->pooling);
  tfrt_cpu_view_t x = cpu_dnn_tensor(&call->x_form, &call->x);
  tfrt_cpu_view_t y = cpu_dnn_tensor(&call->y_form, &call->y);
  for (int64_t batch = 0; batch < y.sizes[0]; ++batch) {
    for (int64_t channel = 0; channel < y.sizes[1]; ++channel) {
      tfrt_cpu_place_t at = {0};
      do {
        tfrt_cpu_pooled_t pooled =
            cpu_dnn_pool_window(&call->pooling, &window, &x, batch, channel, &at);
        cpu_dnn_blend(&y, cpu_view_index(&y, batch, channel, &at), (double)call->alpha,
                      pooled.value, (double)call->beta);
      } while (cpu_place_next(&at, y.sizes + 2));
    }
  }
}

// The part of |dy| that goes back to the element of |x| at |at|.
static double cpu_dnn_unpool_one(const tfrt_dnn_unpool_t* call, const tfrt_cpu_window_t* window,
                                 const tfrt_cpu_view_t* x, const tfrt_cpu_view_t* dy, int64_t batch,
                                 int64_t channel, const tfrt_cpu_place_t* at) {
  double sum = 0;
  tfrt_cpu_place_t in = {0};
  tfrt_cpu_place_t y;
  do {
    if (!cpu_window_backward(window, at, &in, dy->sizes + 2, &y)) continue;
    tfrt_cpu_pooled_t pooled = cpu_dnn_pool_window(&call->pooling, window, x, batch, channel, &y);
    bool is_greatest = true;
    for (int i = 0; i < SPACE; ++i) is_greatest &= pooled.place.at[i] == at->at[i];
    double share = is_greatest ? 1 : 0;
    if (!cpu_dnn_is_max(&call->pooling)) share = 1 / (double)pooled.count;
    sum += share * cpu_view_get(dy, batch, channel, &y);
  } while (cpu_place_next(&in, window->sizes));
  return sum;
}

static void cpu_dnn_unpool(const tfrt_dnn_unpool_t* call) {
  tfrt_cpu_window_t window = cpu_dnn_pooling_window(&call->pooling);
  tfrt_cpu_view_t x = cpu_dnn_tensor(&call->x_form, &call->x);
  tfrt_cpu_view_t dx = cpu_dnn_tensor(&call->dx_form, &call->dx);
  tfrt_cpu_view_t dy = cpu_dnn_tensor(&call->dy_form, &call->dy);
  for (int64_t batch = 0; batch < x.sizes[0]; ++batch) {
    for (int64_t channel = 0; channel < x.sizes[1]; ++channel) {
      tfrt_cpu_place_t at = {0};
      do {
        double value = cpu_dnn_unpool_one(call, &window, &x, &dy, batch, channel, &at);
        cpu_dnn_blend(&dx, cpu_view_index(&dx, batch, channel, &at), (double)call->alpha, value,
                      (double)call->beta);
      } while (cpu_place_next(&at, x.sizes + 2));
    }
  }
}

// --- Convolution -------------------------------------------------------------------------

// w has inputs for the channels of one group of x alone.
typedef struct tfrt_cpu_convolution_s {
  tfrt_cpu_view_t x;
  tfrt_cpu_view_t w;
  tfrt_cpu_view_t y;
  tfrt_cpu_window_t window;
  bool is_mirrored;
  int64_t group_inputs;
  int64_t group_outputs;
} tfrt_cpu_convolution_t;

// Fills in what follows from the tensors of |c|.
static void cpu_dnn_group(tfrt_cpu_convolution_t* c) {
  c->group_inputs = c->w.sizes[1];
  c->group_outputs = c->w.sizes[0] / (c->x.sizes[1] / c->w.sizes[1]);
  memcpy(c->window.sizes, c->w.sizes + 2, sizeof(c->window.sizes));
}

// Where in the filter the element |in| of a window is.
static tfrt_cpu_place_t cpu_dnn_weight_place(const tfrt_cpu_convolution_t* c,
                                             const tfrt_cpu_place_t* in) {
  tfrt_cpu_place_t place = *in;
  for (int i = 0; i < SPACE && c->is_mirrored; ++i) place.at[i] = c->w.sizes[2 + i] - 1 - in->at[i];
  return place;
}

static double cpu_dnn_forward_one(const tfrt_cpu_convolution_t* c, int64_t batch, int64_t output,
                                  const tfrt_cpu_place_t* y) {
  int64_t first = output / c->group_outputs * c->group_inputs;
  double sum = 0;
  tfrt_cpu_place_t in = {0};
  tfrt_cpu_place_t x;
  do {
    if (!cpu_window_forward(&c->window, y, &in, c->x.sizes + 2, &x)) continue;
    tfrt_cpu_place_t w = cpu_dnn_weight_place(c, &in);
    for (int64_t input = 0; input < c->group_inputs; ++input) {
      sum += cpu_view_get(&c->x, batch, first + input, &x) * cpu_view_get(&c->w, output, input, &w);
    }
  } while (cpu_place_next(&in, c->window.sizes));
  return sum;
}

static double cpu_dnn_data_one(const tfrt_cpu_convolution_t* c, int64_t batch, int64_t input,
                               const tfrt_cpu_place_t* x) {
  int64_t first = input / c->group_inputs * c->group_outputs;
  double sum = 0;
  tfrt_cpu_place_t in = {0};
  tfrt_cpu_place_t y;
  do {
    if (!cpu_window_backward(&c->window, x, &in, c->y.sizes + 2, &y)) continue;
    tfrt_cpu_place_t w = cpu_dnn_weight_place(c, &in);
    for (int64_t output = first; output < first + c->group_outputs; ++output) {
      sum += cpu_view_get(&c->y, batch, output, &y) *
             cpu_view_get(&c->w, output, input % c->group_inputs, &w);
    }
  } while (cpu_place_next(&in, c->window.sizes));
  return sum;
}

static double cpu_dnn_filter_one(const tfrt_cpu_convolution_t* c, int64_t output, int64_t input,
                                 const tfrt_cpu_place_t* w) {
  // To mirror is its own inverse.
  tfrt_cpu_place_t in = cpu_dnn_weight_place(c, w);
  int64_t channel = output / c->group_outputs * c->group_inputs + input;
  double sum = 0;
  tfrt_cpu_place_t y = {0};
  tfrt_cpu_place_t x;
  do {
    if (!cpu_window_forward(&c->window, &y, &in, c->x.sizes + 2, &x)) continue;
    for (int64_t batch = 0; batch < c->x.sizes[0]; ++batch) {
      sum += cpu_view_get(&c->x, batch, channel, &x) * cpu_view_get(&c->y, batch, output, &y);
    }
  } while (cpu_place_next(&y, c->y.sizes + 2));
  return sum;
}

static tfrt_cpu_convolution_t cpu_dnn_convolution(const tfrt_dnn_convolve_t* call) {
  const tfrt_dnn_convolution_t* convolution = &call->convolution;
  tfrt_cpu_convolution_t c = {.x = cpu_dnn_tensor(&call->x_form, &call->x),
                              .w = cpu_dnn_filter(&call->w_form, &call->w),
                              .y = cpu_dnn_tensor(&call->y_form, &call->y),
                              .is_mirrored = !convolution->is_cross_correlation};
  cpu_dnn_group(&c);
  cpu_dnn_widen(convolution->padding, convolution->space, 0, c.window.padding);
  cpu_dnn_widen(convolution->steps, convolution->space, 1, c.window.steps);
  cpu_dnn_widen(convolution->dilation, convolution->space, 1, c.window.dilation);
  return c;
}

static tfrt_cpu_convolution_t cpu_dnn_planned(const tfrt_dnn_plan_form_t* form,
                                              const tfrt_dnn_plan_memory_t* memory) {
  tfrt_cpu_convolution_t c = {.x = cpu_dnn_layout(&form->x, &memory->x),
                              .w = cpu_dnn_layout(&form->w, &memory->w),
                              .y = cpu_dnn_layout(&form->y, &memory->y),
                              .is_mirrored = !form->is_cross_correlation};
  cpu_dnn_group(&c);
  cpu_dnn_widen_long(form->padding, form->space, 0, c.window.padding);
  cpu_dnn_widen_long(form->steps, form->space, 1, c.window.steps);
  cpu_dnn_widen_long(form->dilation, form->space, 1, c.window.dilation);
  return c;
}

static void cpu_dnn_convolve(const tfrt_cpu_convolution_t* c, tfrt_dnn_direction_t direction) {
  static double (*const makers[])(const tfrt_cpu_convolution_t*, int64_t, int64_t,
                                  const tfrt_cpu_place_t*) = {
      [TFRT_DNN_FORWARD] = cpu_dnn_forward_one,
      [TFRT_DNN_BACKWARD_DATA] = cpu_dnn_data_one,
      [TFRT_DNN_BACKWARD_FILTER] = cpu_dnn_filter_one,
  };
  const tfrt_cpu_view_t* made[] = {&c->y, &c->x, &c->w};
  const tfrt_cpu_view_t* target = made[direction];
  for (int64_t first = 0; first < target->sizes[0]; ++first) {
    for (int64_t second = 0; second < target->sizes[1]; ++second) {
      tfrt_cpu_place_t at = {0};
      do {
        tfrt_cpu_element_set(target->address, target->dtype,
                             cpu_view_index(target, first, second, &at),
                             makers[direction](c, first, second, &at));
      } while (cpu_place_next(&at, target->sizes + 2));
    }
  }
}

// --- Convolution with what follows it ------------------------------------------------------

typedef struct tfrt_cpu_fused_s {
  tfrt_cpu_convolution_t c;
  double alpha;
  double beta;
  tfrt_cpu_view_t z;
  tfrt_cpu_view_t bias;
  tfrt_dnn_activation_t activation;
} tfrt_cpu_fused_t;

// Applies one of the two activations of this backend to |value|. A relu turns a NaN into 0, unless
// the activation propagates NaNs.
static double cpu_dnn_activate(const tfrt_dnn_activation_t* activation, double value) {
  if (activation->mode == TFRT_DNN_IDENTITY) return value;
  if (isnan(value)) return activation->propagates_nan ? value : 0;
  return value > 0 ? value : 0;
}

static void cpu_dnn_fuse(tfrt_cpu_fused_t* f) {
  const tfrt_cpu_view_t* y = &f->c.y;
  cpu_view_spread(&f->bias);
  for (int64_t batch = 0; batch < y->sizes[0]; ++batch) {
    for (int64_t channel = 0; channel < y->sizes[1]; ++channel) {
      tfrt_cpu_place_t at = {0};
      do {
        double value = cpu_view_get(&f->bias, batch, channel, &at) +
                       f->alpha * cpu_dnn_forward_one(&f->c, batch, channel, &at);
        // With beta 0, z may hold anything, also NaNs, and is not read.
        if (f->beta != 0) value += f->beta * cpu_view_get(&f->z, batch, channel, &at);
        tfrt_cpu_element_set(y->address, y->dtype, cpu_view_index(y, batch, channel, &at),
                             cpu_dnn_activate(&f->activation, value));
      } while (cpu_place_next(&at, y->sizes + 2));
    }
  }
}

static void cpu_dnn_run_convolve(const tfrt_dnn_convolve_t* call) {
  tfrt_cpu_convolution_t c = cpu_dnn_convolution(call);
  cpu_dnn_convolve(&c, call->direction);
}

static void cpu_dnn_run_fuse(const tfrt_dnn_fuse_t* call) {
  cpu_dnn_fuse(&(tfrt_cpu_fused_t){.c = cpu_dnn_convolution(&call->convolve),
                                   .alpha = call->alpha,
                                   .beta = call->beta,
                                   .z = cpu_dnn_tensor(&call->z_form, &call->z),
                                   .bias = cpu_dnn_tensor(&call->bias_form, &call->bias),
                                   .activation = call->activation});
}

static void cpu_dnn_run_plan(const tfrt_cpu_dnn_plan_run_t* run) {
  const tfrt_dnn_plan_form_t* form = &run->form;
  tfrt_cpu_convolution_t c = cpu_dnn_planned(form, &run->memory);
  if (!form->is_fused) {
    cpu_dnn_convolve(&c, form->direction);
    return;
  }
  cpu_dnn_fuse(&(tfrt_cpu_fused_t){.c = c,
                                   .alpha = form->alpha,
                                   .beta = form->alpha2,
                                   .z = cpu_dnn_layout(&form->y, &run->memory.z),
                                   .bias = cpu_dnn_layout(&form->bias, &run->memory.bias),
                                   .activation = {.mode = form->activation}});
}

void tfrt_cpu_dnn_run(const void* argument) {
  const tfrt_cpu_dnn_call_t* call = argument;
  switch (call->kind) {
    case TFRT_CPU_DNN_POOL:
      cpu_dnn_pool(&call->pool);
      return;
    case TFRT_CPU_DNN_UNPOOL:
      cpu_dnn_unpool(&call->unpool);
      return;
    case TFRT_CPU_DNN_CONVOLVE:
      cpu_dnn_run_convolve(&call->convolve);
      return;
    case TFRT_CPU_DNN_FUSE:
      cpu_dnn_run_fuse(&call->fuse);
      return;
    case TFRT_CPU_DNN_PLAN:
      cpu_dnn_run_plan(&call->plan);
      return;
  }
}
