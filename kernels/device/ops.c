// SPDX-License-Identifier: Apache-2.0

#include "kernels/device/ops.h"

#define CHAIN "!tfrt.chain"
#define HOST_BUFFER "!ht.host_buffer"
#define DEVICE "!tfrt_gpu.device"
#define CONTEXT "!tfrt_gpu.context"
#define STREAM "!tfrt_gpu.stream"
#define EVENT "!tfrt_gpu.event"
#define ALLOCATOR "!tfrt_gpu.allocator"
#define BUFFER "!tfrt_gpu.buffer"
#define MODULE "!tfrt_gpu.module"
#define FUNCTION "!tfrt_gpu.function"
#define TENSOR "!tfrt_gpu.tensor"
#define GRAPH "!tfrt_gpu.graph"
#define HOST_TENSOR "!tfrt_tensor.tensor"

// A side of a copy.
#define MEMORY BUFFER TFRT_TYPE_OR HOST_BUFFER
// The numbers of 1, 2 or 4 bytes.
#define PATTERN "i1|i8|i16|i32|ui8|ui16|ui32|f32"

// --- Operands -----------------------------------------------------------------

static const tfrt_operand_descriptor_t ordinal[] = {{"ordinal", "i32", TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t device[] = {{"device", DEVICE, TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t context[] = {{"context", CONTEXT, TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t stream[] = {{"stream", STREAM, TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t module[] = {{"module", MODULE, TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t stream_and_chain[] = {
    {"stream", STREAM, TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t event_and_chain[] = {
    {"event", EVENT, TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t stream_event_and_chain[] = {
    {"stream", STREAM, TFRT_OPERAND_DEMANDED},
    {"event", EVENT, TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t event_stream_and_chain[] = {
    {"event", EVENT, TFRT_OPERAND_DEMANDED},
    {"stream", STREAM, TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t allocation[] = {
    {"allocator", ALLOCATOR, TFRT_OPERAND_DEMANDED},
    {"stream", STREAM, TFRT_OPERAND_DEMANDED},
    {"size", "i64", TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t host_allocation[] = {
    {"context", CONTEXT, TFRT_OPERAND_DEMANDED},
    {"size", "i64", TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t deallocation[] = {
    {"buffer", BUFFER, TFRT_OPERAND_MUTATED},
    {"stream", STREAM, TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t copied[] = {
    {"target", MEMORY, TFRT_OPERAND_MUTATED},
    {"source", MEMORY, TFRT_OPERAND_DEMANDED},
    {"stream", STREAM, TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t filled[] = {
    {"buffer", BUFFER, TFRT_OPERAND_MUTATED},
    {"value", PATTERN, TFRT_OPERAND_DEMANDED},
    {"stream", STREAM, TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t registered[] = {
    {"context", CONTEXT, TFRT_OPERAND_DEMANDED},
    {"buffer", HOST_BUFFER, TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t viewed[] = {
    {"buffer", BUFFER, TFRT_OPERAND_DEMANDED},
    {"offset", "ui64", TFRT_OPERAND_DEMANDED},
    {"size", "ui64", TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t buffer_and_chain[] = {
    {"buffer", BUFFER, TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t shaped[] = {
    {"buffer", BUFFER, TFRT_OPERAND_DEMANDED},
    {"shape", "!ts.shape", TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t tensor_and_chain[] = {
    {"tensor", TENSOR, TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t tensor_alone[] = {{"tensor", TENSOR, TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t value_and_chain[] = {
    {"value", TFRT_TYPE_ANY, TFRT_OPERAND_AWAITED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t graph_and_arguments[] = {
    {"graph", GRAPH, TFRT_OPERAND_DEMANDED},
    {"arguments", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t launched[] = {
    {"stream", STREAM, TFRT_OPERAND_DEMANDED},
    {"function", FUNCTION, TFRT_OPERAND_DEMANDED},
    {"grid_x", "ui32", TFRT_OPERAND_DEMANDED},
    {"grid_y", "ui32", TFRT_OPERAND_DEMANDED},
    {"grid_z", "ui32", TFRT_OPERAND_DEMANDED},
    {"block_x", "ui32", TFRT_OPERAND_DEMANDED},
    {"block_y", "ui32", TFRT_OPERAND_DEMANDED},
    {"block_z", "ui32", TFRT_OPERAND_DEMANDED},
    {"shared_size", "ui32", TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
    {"arguments", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
};

static const tfrt_operand_descriptor_t launched_with_priority[] = {
    {"stream", STREAM, TFRT_OPERAND_DEMANDED},  {"function", FUNCTION, TFRT_OPERAND_DEMANDED},
    {"grid_x", "ui32", TFRT_OPERAND_DEMANDED},  {"grid_y", "ui32", TFRT_OPERAND_DEMANDED},
    {"grid_z", "ui32", TFRT_OPERAND_DEMANDED},  {"block_x", "ui32", TFRT_OPERAND_DEMANDED},
    {"block_y", "ui32", TFRT_OPERAND_DEMANDED}, {"block_z", "ui32", TFRT_OPERAND_DEMANDED},
    {"priority", "i32", TFRT_OPERAND_DEMANDED}, {"shared_size", "ui32", TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},     {"arguments", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
};

static const tfrt_operand_descriptor_t launched_in_clusters[] = {
    {"stream", STREAM, TFRT_OPERAND_DEMANDED},
    {"function", FUNCTION, TFRT_OPERAND_DEMANDED},
    {"grid_x", "ui32", TFRT_OPERAND_DEMANDED},
    {"grid_y", "ui32", TFRT_OPERAND_DEMANDED},
    {"grid_z", "ui32", TFRT_OPERAND_DEMANDED},
    {"block_x", "ui32", TFRT_OPERAND_DEMANDED},
    {"block_y", "ui32", TFRT_OPERAND_DEMANDED},
    {"block_z", "ui32", TFRT_OPERAND_DEMANDED},
    {"cluster_x", "ui32", TFRT_OPERAND_DEMANDED},
    {"cluster_y", "ui32", TFRT_OPERAND_DEMANDED},
    {"cluster_z", "ui32", TFRT_OPERAND_DEMANDED},
    {"shared_size", "ui32", TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
    {"arguments", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
};

// --- Results and attributes -----------------------------------------------------

static const tfrt_result_descriptor_t device_result[] = {{"device", DEVICE}};
static const tfrt_result_descriptor_t context_result[] = {{"context", CONTEXT}};
static const tfrt_result_descriptor_t stream_result[] = {{"stream", STREAM}};
static const tfrt_result_descriptor_t event_result[] = {{"event", EVENT}};
static const tfrt_result_descriptor_t allocator_result[] = {{"allocator", ALLOCATOR}};
static const tfrt_result_descriptor_t buffer_result[] = {{"buffer", BUFFER}};
static const tfrt_result_descriptor_t module_result[] = {{"module", MODULE}};
static const tfrt_result_descriptor_t function_result[] = {{"function", FUNCTION}};
static const tfrt_result_descriptor_t tensor_result[] = {{"tensor", TENSOR}};
static const tfrt_result_descriptor_t host_tensor_result[] = {{"tensor", HOST_TENSOR}};
static const tfrt_result_descriptor_t graph_result[] = {{"graph", GRAPH}};
static const tfrt_result_descriptor_t value_result[] = {{"value", TFRT_TYPE_ANY}};
static const tfrt_result_descriptor_t chain_result[] = {{"chain", CHAIN}};

static const tfrt_attribute_descriptor_t platform[] = {
    {"platform", TFRT_ATTRIBUTE_STRING, NULL},
};
static const tfrt_attribute_descriptor_t data[] = {{"data", TFRT_ATTRIBUTE_STRING, NULL}};
static const tfrt_attribute_descriptor_t plain_calls[] = {
    {"plain_calls", TFRT_ATTRIBUTE_I32, "2"},
};
static const tfrt_attribute_descriptor_t callee[] = {{"callee", TFRT_ATTRIBUTE_SYMBOL, NULL}};
static const tfrt_attribute_descriptor_t path[] = {{"path", TFRT_ATTRIBUTE_STRING, NULL}};
static const tfrt_attribute_descriptor_t name[] = {{"name", TFRT_ATTRIBUTE_STRING, NULL}};

#define LAUNCH                                                                                 \
  .assembly =                                                                                  \
      "%stream , %function , blocks in ( %grid_x , %grid_y , %grid_z ) , threads in ( "        \
      "%block_x , %block_y , %block_z ) , %shared_size , %chain ,args attr-dict",              \
  TFRT_OPERANDS(launched), TFRT_RESULTS(chain_result), .flags = TFRT_KERNEL_VARIADIC_OPERANDS, \
  .effects = TFRT_EFFECT_NONE, .orders = "stream arguments", .cost = 50

#define TENSOR_MAKE(type)                                                                       \
  {                                                                                             \
    .name = "tfrt_gpu.tensor.make." type,                                                       \
    .summary = "A tensor of " type                                                              \
               " over a buffer, which the elements of that shape fill to the last byte.",       \
    .assembly = "operands attr-dict", TFRT_OPERANDS(shaped), TFRT_RESULTS(tensor_result),       \
    .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS, .shares = "buffer", .cost = 10 \
  }

// --- Ops --------------------------------------------------------------------------

static const tfrt_kernel_descriptor_t descriptors[] = {
    {.name = "tfrt_gpu.device.get",
     .summary =
         "Device number `ordinal` of the driver `platform`: \"CUDA\" or \"CPU\". The driver is "
         "opened when it is first asked for.",
     .assembly = "$platform , %ordinal attr-dict",
     TFRT_OPERANDS(ordinal),
     TFRT_RESULTS(device_result),
     TFRT_ATTRIBUTES(platform),
     .effects = TFRT_EFFECT_NONE,
     .cost = 100},
    {.name = "tfrt_gpu.device.current",
     .summary =
         "The device that the function was placed on by the call option `device` of its call, "
         "as in {device = \"cuda:0\"}.",
     .assembly = "attr-dict",
     TFRT_RESULTS(device_result),
     .effects = TFRT_EFFECT_NONE,
     .cost = 100},
    {.name = "tfrt_gpu.context.primary",
     .summary = "The context of a device, which the whole process shares.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(device),
     TFRT_RESULTS(context_result),
     .effects = TFRT_EFFECT_NONE,
     .cost = 100},
    {.name = "tfrt_gpu.context.create",
     .summary = "The same: contexts of one's own are not made here.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(device),
     TFRT_RESULTS(context_result),
     .effects = TFRT_EFFECT_NONE,
     .cost = 100},
    {.name = "tfrt_gpu.stream.create",
     .summary = "A new stream: work in it is done in order.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(context),
     TFRT_RESULTS(stream_result),
     .effects = TFRT_EFFECT_NONE,
     .cost = 100},
    {.name = "tfrt_gpu.stream.get_context",
     .summary = "The context that a stream was made with.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(stream),
     TFRT_RESULTS(context_result),
     .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS,
     .cost = 1},
    {.name = "tfrt_gpu.stream.wait",
     .summary = "Lets later work of a stream start when an event is done.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(stream_event_and_chain),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_NONE,
     .orders = "stream",
     .cost = 10},
    {.name = "tfrt_gpu.stream.synchronize",
     .summary = "A chain that is there when all work of a stream is done.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(stream_and_chain),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_NONE,
     .orders = "stream",
     .cost = 10},
    {.name = "tfrt_gpu.event.create",
     .summary = "A new event, which is done until it is recorded.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(context),
     TFRT_RESULTS(event_result),
     .effects = TFRT_EFFECT_NONE,
     .cost = 10},
    {.name = "tfrt_gpu.event.record",
     .summary = "Moves an event to the end of a stream's work.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(event_stream_and_chain),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_NONE,
     .orders = "stream event",
     .cost = 10},
    {.name = "tfrt_gpu.event.synchronize",
     .summary = "A chain that is there when an event is done.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(event_and_chain),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_NONE,
     .cost = 10},
    {.name = "tfrt_gpu.allocator.create",
     .summary = "Where buffers of a device come from.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(context),
     TFRT_RESULTS(allocator_result),
     .effects = TFRT_EFFECT_NONE,
     .cost = 10},
    {.name = "tfrt_gpu.mem.allocate",
     .summary = "A new buffer of `size` bytes in the order of a stream, aligned to 256.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(allocation),
     TFRT_RESULTS(buffer_result),
     // Nobody else has the memory yet: it may come before or behind what the stream does.
     .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS,
     .cost = 50},
    {.name = "tfrt_gpu.mem.allocate_host",
     .summary = "A new buffer of `size` bytes of the host's memory, pinned.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(host_allocation),
     TFRT_RESULTS(buffer_result),
     .effects = TFRT_EFFECT_NONE,
     .cost = 100},
    {.name = "tfrt_gpu.mem.deallocate",
     .summary = "Frees a buffer behind the work of a stream; any later use is an error.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(deallocation),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_NONE,
     .orders = "stream",
     .cost = 10},
    {.name = "tfrt_gpu.mem.copy",
     .summary = "Copies a buffer, of a device or of the host, to another one of the same size. "
                "The chain is there when the copy is in the stream, or, for a target of the host "
                "that isn't pinned, when it is done.",
     .assembly = "%target , %source , %stream , %chain attr-dict : type(%target) , type(%source)",
     TFRT_OPERANDS(copied),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_NONE,
     .orders = "stream",
     .cost = 50},
    {.name = "tfrt_gpu.mem.set",
     .summary = "Repeats a value of 1, 2 or 4 bytes throughout a buffer.",
     .assembly = "%buffer , %value , %stream , %chain attr-dict : type(%buffer) , type(%value)",
     TFRT_OPERANDS(filled),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_NONE,
     .orders = "stream",
     .cost = 20},
    {.name = "tfrt_gpu.mem.register",
     .summary = "The host's buffer itself, pinned, so that a device reaches it.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(registered),
     TFRT_RESULTS(buffer_result),
     .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS,
     .shares = "buffer",
     .cost = 100},
    {.name = "tfrt_gpu.mem.view",
     .summary = "`size` bytes from `offset` of a buffer, which share its memory.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(viewed),
     TFRT_RESULTS(buffer_result),
     .flags = TFRT_KERNEL_TRAILING_CHAIN,
     .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS,
     .shares = "buffer",
     .cost = 10},
    {.name = "tfrt_gpu.mem.load",
     .summary = "The number in a buffer of pinned memory: an i1 of 1 byte, or an i32 of 4.",
     .assembly = "operands attr-dict result-types",
     TFRT_OPERANDS(buffer_and_chain),
     TFRT_RESULTS(value_result),
     .effects = TFRT_EFFECT_NONE,
     .cost = 1},
    {.name = "tfrt_gpu.mem.print_metadata",
     .summary = "Prints where a buffer is, and its size.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(buffer_and_chain),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_OUTPUT | TFRT_EFFECT_READS_NO_CONTENTS,
     .cost = 10},
    TENSOR_MAKE("i8"),
    TENSOR_MAKE("i32"),
    TENSOR_MAKE("i64"),
    TENSOR_MAKE("f32"),
    TENSOR_MAKE("f64"),
    {.name = "tfrt_gpu.tensor.get_buffer",
     .summary = "The buffer that a tensor's elements fill.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(tensor_alone),
     TFRT_RESULTS(buffer_result),
     .flags = TFRT_KERNEL_TRAILING_CHAIN,
     .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS,
     .shares = "tensor",
     .cost = 10},
    {.name = "tfrt_gpu.tensor.to_host",
     .summary =
         "A tensor of the host with a copy of the elements, as the work leaves them that was "
         "given with the tensor's buffer before.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(tensor_and_chain),
     TFRT_RESULTS(host_tensor_result),
     .effects = TFRT_EFFECT_NONE,
     .cost = 100},
    {.name = "tfrt_gpu.tensor.print_metadata",
     .summary = "Prints the type, the shape and the place of a tensor.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(tensor_and_chain),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_OUTPUT | TFRT_EFFECT_READS_NO_CONTENTS,
     .cost = 10},
    {.name = "tfrt_gpu.module.load",
     .summary = "The code in `data`: PTX or what the driver takes.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(context),
     TFRT_RESULTS(module_result),
     TFRT_ATTRIBUTES(data),
     .effects = TFRT_EFFECT_NONE,
     .cost = 1000},
    {.name = "tfrt_gpu.module.load_file",
     .summary = "The same of the file `path`, on the host that loads it.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(context),
     TFRT_RESULTS(module_result),
     TFRT_ATTRIBUTES(path),
     .effects = TFRT_EFFECT_FILE_READ,
     .cost = 1000},
    {.name = "tfrt_gpu.module.get_global",
     .summary = "The memory of a module's variable `name`.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(module),
     TFRT_RESULTS(buffer_result),
     TFRT_ATTRIBUTES(name),
     .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS,
     .shares = "module",
     .cost = 10},
    {.name = "tfrt_gpu.module.get_function",
     .summary = "The kernel `name` of a module.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(module),
     TFRT_RESULTS(function_result),
     TFRT_ATTRIBUTES(name),
     .effects = TFRT_EFFECT_NONE,
     .cost = 10},
    {.name = "tfrt_gpu.function.launch",
     .summary = "Runs a kernel in a stream, with buffers and numbers as its arguments.",
     LAUNCH},
    {.name = "tfrt_gpu.function.launch.cooperative",
     .summary =
         "The same for a kernel whose blocks wait for each other: all of them run at once, or "
         "the launch is refused.",
     LAUNCH},
    {.name = "tfrt_gpu.function.launch.priority",
     .summary =
         "The same as function.launch, with a priority: 0 is that of all other launches, less is "
         "sooner. Where a device has none, or none that small, it is the nearest one.",
     .assembly =
         "%stream , %function , blocks in ( %grid_x , %grid_y , %grid_z ) , threads in ( %block_x "
         ", %block_y , %block_z ) , priority %priority , %shared_size , %chain ,args attr-dict",
     TFRT_OPERANDS(launched_with_priority),
     TFRT_RESULTS(chain_result),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS,
     .effects = TFRT_EFFECT_NONE,
     .orders = "stream arguments",
     .cost = 50},
    {.name = "tfrt_gpu.function.launch.cluster",
     .summary =
         "The same as function.launch, with blocks in clusters, which reach each other's shared "
         "memory: at most 8 blocks, and a whole number of clusters on each axis of the grid.",
     .assembly =
         "%stream , %function , blocks in ( %grid_x , %grid_y , %grid_z ) , threads in ( %block_x "
         ", %block_y , %block_z ) , clusters in ( %cluster_x , %cluster_y , %cluster_z ) , "
         "%shared_size , %chain ,args attr-dict",
     TFRT_OPERANDS(launched_in_clusters),
     TFRT_RESULTS(chain_result),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS,
     .effects = TFRT_EFFECT_NONE,
     .orders = "stream arguments",
     .cost = 50},
    {.name = "tfrt_gpu.graph.create",
     .summary = "A graph of a function that will be called often; the first `plain_calls` "
                "calls are plain ones.",
     .assembly = "attr-dict",
     TFRT_RESULTS(graph_result),
     TFRT_ATTRIBUTES(plain_calls),
     .effects = TFRT_EFFECT_NONE,
     .cost = 10},
    {.name = "tfrt_gpu.graph.call",
     .summary =
         "Calls a function whose arguments begin with a chain and a stream, and whose result is a "
         "chain: by launching what it gave the device when it was called with the same arguments, "
         "if that could be captured. Other things that it does are done when it is captured only.",
     .assembly = "%graph , @callee ( operands ) attr-dict types",
     TFRT_OPERANDS(graph_and_arguments),
     TFRT_RESULTS(chain_result),
     TFRT_ATTRIBUTES(callee),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS,
     .effects = TFRT_EFFECT_EVERYTHING,
     .orders = "graph arguments",
     .cost = 50},
    {.name = "tfrt_gpu.alias",
     .summary = "The value itself, when the chain is there.",
     .assembly = "operands attr-dict result-types",
     TFRT_OPERANDS(value_and_chain),
     TFRT_RESULTS(value_result),
     .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS,
     .shares = "value",
     .cost = 1},
};

const tfrt_kernel_table_t tfrt_device_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
