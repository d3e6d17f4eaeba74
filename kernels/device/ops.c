// SPDX-License-Identifier: Apache-2.0

#include "kernels/device/ops.h"

#include "host_runtime/executor/descriptor/op_row.h"

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

static const tfrt_operand_descriptor_t launched[] = {
    READ("stream", STREAM),          READ("function", FUNCTION),
    READ("grid_x", "ui32"),          READ("grid_y", "ui32"),
    READ("grid_z", "ui32"),          READ("block_x", "ui32"),
    READ("block_y", "ui32"),         READ("block_z", "ui32"),
    READ("shared_size", "ui32"),     AFTER,
    READ("arguments", TFRT_TYPE_ANY)};

// --- Results and attributes -----------------------------------------------------

static const tfrt_result_descriptor_t chain_result[] = {DONE};

#define LAUNCH                                                                                 \
  .assembly =                                                                                  \
      "%stream , %function , blocks in ( %grid_x , %grid_y , %grid_z ) , threads in ( "        \
      "%block_x , %block_y , %block_z ) , %shared_size , %chain ,args attr-dict",              \
  TFRT_OPERANDS(launched), TFRT_RESULTS(chain_result), .flags = TFRT_KERNEL_VARIADIC_OPERANDS, \
  .effects = TFRT_EFFECT_NONE, .orders = "stream arguments", .cost = 50

#define TENSOR_MAKE(type)                                                                       \
  OP("tfrt_gpu.tensor.make." type,                                                              \
     "A tensor of " type                                                                        \
     " over a buffer, which the elements of that shape fill to the last byte.",                 \
     FORM("operands attr-dict"), IN(READ("buffer", BUFFER), READ("shape", "!ts.shape"), AFTER), \
     OUT(GIVE("tensor", TENSOR)), EFFECTS(NONE, READS_NO_CONTENTS), .shares = "buffer", COST(10))

// --- Ops --------------------------------------------------------------------------

static const tfrt_kernel_descriptor_t descriptors[] = {
    OP("tfrt_gpu.device.get",
       "Device number `ordinal` of the driver `platform`: \"CUDA\" or \"CPU\". The driver is "
       "opened when it is first asked for.",
       FORM("$platform , %ordinal attr-dict"), IN(READ("ordinal", "i32")),
       OUT(GIVE("device", DEVICE)), SET(NEED("platform", STRING)), EFFECTS(NONE), COST(100)),
    OP("tfrt_gpu.device.current",
       "The device that the function was placed on by the call option `device` of its call, as in "
       "{device = \"cuda:0\"}.",
       FORM("attr-dict"), OUT(GIVE("device", DEVICE)), EFFECTS(NONE), COST(100)),
    OP("tfrt_gpu.device.default",
       "The same, or, where no call has placed the function, the host itself: \"cpu:0\".",
       FORM("attr-dict"), OUT(GIVE("device", DEVICE)), EFFECTS(NONE), COST(100)),
    OP("tfrt_gpu.context.primary", "The context of a device, which the whole process shares.",
       FORM("operands attr-dict"), IN(READ("device", DEVICE)), OUT(GIVE("context", CONTEXT)),
       EFFECTS(NONE), COST(100)),
    OP("tfrt_gpu.context.create", "The same: contexts of one's own are not made here.",
       FORM("operands attr-dict"), IN(READ("device", DEVICE)), OUT(GIVE("context", CONTEXT)),
       EFFECTS(NONE), COST(100)),
    OP("tfrt_gpu.stream.create", "A new stream: work in it is done in order.",
       FORM("operands attr-dict"), IN(READ("context", CONTEXT)), OUT(GIVE("stream", STREAM)),
       EFFECTS(NONE), COST(100)),
    OP("tfrt_gpu.stream.get_context", "The context that a stream was made with.",
       FORM("operands attr-dict"), IN(READ("stream", STREAM)), OUT(GIVE("context", CONTEXT)),
       EFFECTS(NONE, READS_NO_CONTENTS), COST(1)),
    OP("tfrt_gpu.stream.wait", "Lets later work of a stream start when an event is done.",
       FORM("operands attr-dict"), IN(READ("stream", STREAM), READ("event", EVENT), AFTER),
       OUT(DONE), EFFECTS(NONE), .orders = "stream", COST(10)),
    OP("tfrt_gpu.stream.synchronize", "A chain that is there when all work of a stream is done.",
       FORM("operands attr-dict"), IN(READ("stream", STREAM), AFTER), OUT(DONE), EFFECTS(NONE),
       .orders = "stream", COST(10)),
    OP("tfrt_gpu.event.create", "A new event, which is done until it is recorded.",
       FORM("operands attr-dict"), IN(READ("context", CONTEXT)), OUT(GIVE("event", EVENT)),
       EFFECTS(NONE), COST(10)),
    OP("tfrt_gpu.event.record", "Moves an event to the end of a stream's work.",
       FORM("operands attr-dict"), IN(READ("event", EVENT), READ("stream", STREAM), AFTER),
       OUT(DONE), EFFECTS(NONE), .orders = "stream event", COST(10)),
    OP("tfrt_gpu.event.synchronize", "A chain that is there when an event is done.",
       FORM("operands attr-dict"), IN(READ("event", EVENT), AFTER), OUT(DONE), EFFECTS(NONE),
       COST(10)),
    OP("tfrt_gpu.allocator.create", "Where buffers of a device come from.",
       FORM("operands attr-dict"), IN(READ("context", CONTEXT)), OUT(GIVE("allocator", ALLOCATOR)),
       EFFECTS(NONE), COST(10)),
    // Nobody else has the memory yet: it may come before or behind what the stream does.
    OP("tfrt_gpu.mem.allocate",
       "A new buffer of `size` bytes in the order of a stream, aligned to 256.",
       FORM("operands attr-dict"),
       IN(READ("allocator", ALLOCATOR), READ("stream", STREAM), READ("size", "i64"), AFTER),
       OUT(GIVE("buffer", BUFFER)), EFFECTS(NONE, READS_NO_CONTENTS), COST(50)),
    OP("tfrt_gpu.mem.allocate_host", "A new buffer of `size` bytes of the host's memory, pinned.",
       FORM("operands attr-dict"), IN(READ("context", CONTEXT), READ("size", "i64"), AFTER),
       OUT(GIVE("buffer", BUFFER)), EFFECTS(NONE), COST(100)),
    OP("tfrt_gpu.mem.deallocate",
       "Frees a buffer behind the work of a stream; any later use is an error.",
       FORM("operands attr-dict"), IN(WRITE("buffer", BUFFER), READ("stream", STREAM), AFTER),
       OUT(DONE), EFFECTS(NONE), .orders = "stream", COST(10)),
    OP("tfrt_gpu.mem.copy",
       "Copies a buffer, of a device or of the host, to another one of the same size. The chain is "
       "there when the copy is in the stream, or, for a target of the host that isn't pinned, when "
       "it is done.",
       FORM("%target , %source , %stream , %chain attr-dict : type(%target) , type(%source)"),
       IN(WRITE("target", MEMORY), READ("source", MEMORY), READ("stream", STREAM), AFTER),
       OUT(DONE), EFFECTS(NONE), .orders = "stream", COST(50)),
    OP("tfrt_gpu.mem.set", "Repeats a value of 1, 2 or 4 bytes throughout a buffer.",
       FORM("%buffer , %value , %stream , %chain attr-dict : type(%buffer) , type(%value)"),
       IN(WRITE("buffer", BUFFER), READ("value", PATTERN), READ("stream", STREAM), AFTER),
       OUT(DONE), EFFECTS(NONE), .orders = "stream", COST(20)),
    OP("tfrt_gpu.mem.register", "The host's buffer itself, pinned, so that a device reaches it.",
       FORM("operands attr-dict"), IN(READ("context", CONTEXT), READ("buffer", HOST_BUFFER)),
       OUT(GIVE("buffer", BUFFER)), EFFECTS(NONE, READS_NO_CONTENTS), .shares = "buffer",
       COST(100)),
    OP("tfrt_gpu.mem.view", "`size` bytes from `offset` of a buffer, which share its memory.",
       FORM("operands attr-dict"),
       IN(READ("buffer", BUFFER), READ("offset", "ui64"), READ("size", "ui64")),
       OUT(GIVE("buffer", BUFFER)), FLAGS(TRAILING_CHAIN), EFFECTS(NONE, READS_NO_CONTENTS),
       .shares = "buffer", COST(10)),
    OP("tfrt_gpu.mem.load",
       "The number in a buffer of pinned memory: an i1 of 1 byte, or an i32 of 4.",
       FORM("operands attr-dict result-types"), IN(READ("buffer", BUFFER), AFTER),
       OUT(GIVE("value", TFRT_TYPE_ANY)), EFFECTS(NONE), COST(1)),
    OP("tfrt_gpu.mem.print_metadata", "Prints where a buffer is, and its size.",
       FORM("operands attr-dict"), IN(READ("buffer", BUFFER), AFTER), OUT(DONE),
       EFFECTS(OUTPUT, READS_NO_CONTENTS), COST(10)),
    TENSOR_MAKE("i8"),
    TENSOR_MAKE("i32"),
    TENSOR_MAKE("i64"),
    TENSOR_MAKE("f32"),
    TENSOR_MAKE("f64"),
    OP("tfrt_gpu.tensor.get_buffer", "The buffer that a tensor's elements fill.",
       FORM("operands attr-dict"), IN(READ("tensor", TENSOR)), OUT(GIVE("buffer", BUFFER)),
       FLAGS(TRAILING_CHAIN), EFFECTS(NONE, READS_NO_CONTENTS), .shares = "tensor", COST(10)),
    OP("tfrt_gpu.tensor.to_host",
       "A tensor of the host with a copy of the elements, as the work leaves them that was given "
       "with the tensor's buffer before.",
       FORM("operands attr-dict"), IN(READ("tensor", TENSOR), AFTER),
       OUT(GIVE("tensor", HOST_TENSOR)), EFFECTS(NONE), COST(100)),
    OP("tfrt_gpu.tensor.print_metadata", "Prints the type, the shape and the place of a tensor.",
       FORM("operands attr-dict"), IN(READ("tensor", TENSOR), AFTER), OUT(DONE),
       EFFECTS(OUTPUT, READS_NO_CONTENTS), COST(10)),
    OP("tfrt_gpu.module.load", "The code in `data`: PTX or what the driver takes.",
       FORM("operands attr-dict"), IN(READ("context", CONTEXT)), OUT(GIVE("module", MODULE)),
       SET(NEED("data", STRING)), EFFECTS(NONE), COST(1000)),
    OP("tfrt_gpu.module.load_file", "The same of the file `path`, on the host that loads it.",
       FORM("operands attr-dict"), IN(READ("context", CONTEXT)), OUT(GIVE("module", MODULE)),
       SET(NEED("path", STRING)), EFFECTS(FILE_READ), COST(1000)),
    OP("tfrt_gpu.module.get_global", "The memory of a module's variable `name`.",
       FORM("operands attr-dict"), IN(READ("module", MODULE)), OUT(GIVE("buffer", BUFFER)),
       SET(NEED("name", STRING)), EFFECTS(NONE, READS_NO_CONTENTS), .shares = "module", COST(10)),
    OP("tfrt_gpu.module.get_function", "The kernel `name` of a module.", FORM("operands attr-dict"),
       IN(READ("module", MODULE)), OUT(GIVE("function", FUNCTION)), SET(NEED("name", STRING)),
       EFFECTS(NONE), COST(10)),
    OP("tfrt_gpu.function.launch",
       "Runs a kernel in a stream, with buffers and numbers as its arguments.", LAUNCH),
    OP("tfrt_gpu.function.launch.cooperative",
       "The same for a kernel whose blocks wait for each other: all of them run at once, or the "
       "launch is refused.",
       LAUNCH),
    OP("tfrt_gpu.function.launch.priority",
       "The same as function.launch, with a priority: 0 is that of all other launches, less is "
       "sooner. Where a device has none, or none that small, it is the nearest one.",
       FORM("%stream , %function , blocks in ( %grid_x , %grid_y , %grid_z ) , threads in ( "
            "%block_x , %block_y , %block_z ) , priority %priority , %shared_size , %chain ,args "
            "attr-dict"),
       IN(READ("stream", STREAM), READ("function", FUNCTION), READ("grid_x", "ui32"),
          READ("grid_y", "ui32"), READ("grid_z", "ui32"), READ("block_x", "ui32"),
          READ("block_y", "ui32"), READ("block_z", "ui32"), READ("priority", "i32"),
          READ("shared_size", "ui32"), AFTER, READ("arguments", TFRT_TYPE_ANY)),
       OUT(DONE), FLAGS(VARIADIC_OPERANDS), EFFECTS(NONE), .orders = "stream arguments", COST(50)),
    OP("tfrt_gpu.function.launch.cluster",
       "The same as function.launch, with blocks in clusters, which reach each other's shared "
       "memory: at most 8 blocks, and a whole number of clusters on each axis of the grid.",
       FORM("%stream , %function , blocks in ( %grid_x , %grid_y , %grid_z ) , threads in ( "
            "%block_x , %block_y , %block_z ) , clusters in ( %cluster_x , %cluster_y , %cluster_z "
            ") , %shared_size , %chain ,args attr-dict"),
       IN(READ("stream", STREAM), READ("function", FUNCTION), READ("grid_x", "ui32"),
          READ("grid_y", "ui32"), READ("grid_z", "ui32"), READ("block_x", "ui32"),
          READ("block_y", "ui32"), READ("block_z", "ui32"), READ("cluster_x", "ui32"),
          READ("cluster_y", "ui32"), READ("cluster_z", "ui32"), READ("shared_size", "ui32"), AFTER,
          READ("arguments", TFRT_TYPE_ANY)),
       OUT(DONE), FLAGS(VARIADIC_OPERANDS), EFFECTS(NONE), .orders = "stream arguments", COST(50)),
    OP("tfrt_gpu.graph.create",
       "A graph of a function that will be called often; the first `plain_calls` calls are plain "
       "ones.",
       FORM("attr-dict"), OUT(GIVE("graph", GRAPH)), SET(MAY("plain_calls", I32, "2")),
       EFFECTS(NONE), COST(10)),
    OP("tfrt_gpu.graph.call",
       "Calls a function whose arguments begin with a chain and a stream, and whose result is a "
       "chain: by launching what it gave the device when it was called with the same arguments, if "
       "that could be captured. Other things that it does are done when it is captured only.",
       FORM("%graph , @callee ( operands ) attr-dict types"),
       IN(READ("graph", GRAPH), READ("arguments", TFRT_TYPE_ANY)), OUT(DONE),
       SET(NEED("callee", SYMBOL)), FLAGS(VARIADIC_OPERANDS), EFFECTS(EVERYTHING),
       .orders = "graph arguments", COST(50)),
    OP("tfrt_gpu.alias", "The value itself, when the chain is there.",
       FORM("operands attr-dict result-types"), IN(WAIT("value", TFRT_TYPE_ANY), AFTER),
       OUT(GIVE("value", TFRT_TYPE_ANY)), EFFECTS(NONE, READS_NO_CONTENTS), .shares = "value",
       COST(1)),
};

const tfrt_kernel_table_t tfrt_device_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
