// Kernels of a device: loaded from PTX, launched, and what is refused.

// Two kernels of one stream, the second one with what the first one made. The PTX is that of
// kernels/device/cuda/standard_kernels.ptx.
func.func @multiply() {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %module = tfrt_gpu.module.load %context {data = ".version 6.4\0A.target sm_70\0A.address_size 64\0A.visible .entry tfrt_fill_f32(\0A.param .u64 tfrt_fill_f32_param_0,\0A.param .f32 tfrt_fill_f32_param_1,\0A.param .u32 tfrt_fill_f32_param_2\0A)\0A{\0A.reg .pred %p<3>;\0A.reg .f32 %f<2>;\0A.reg .b32 %r<5>;\0A.reg .b64 %rd<15>;\0Ald.param.u64 %rd8, [tfrt_fill_f32_param_0];\0Ald.param.f32 %f1, [tfrt_fill_f32_param_1];\0Ald.param.u32 %rd3, [tfrt_fill_f32_param_2];\0Amov.u32 %r1, %ctaid.x;\0Amov.u32 %r2, %ntid.x;\0Acvt.u64.u32 %rd1, %r2;\0Amul.wide.u32 %rd9, %r1, %r2;\0Amov.u32 %r3, %tid.x;\0Acvt.u64.u32 %rd10, %r3;\0Aadd.s64 %rd14, %rd9, %rd10;\0Asetp.ge.u64 %p1, %rd14, %rd3;\0A@%p1 bra $L__BB0_3;\0Amov.u32 %r4, %nctaid.x;\0Acvt.u64.u32 %rd11, %r4;\0Amul.lo.s64 %rd4, %rd11, %rd1;\0Acvta.to.global.u64 %rd5, %rd8;\0A$L__BB0_2:\0Ashl.b64 %rd12, %rd14, 2;\0Aadd.s64 %rd13, %rd5, %rd12;\0Ast.global.f32 [%rd13], %f1;\0Aadd.s64 %rd14, %rd14, %rd4;\0Asetp.lt.u64 %p2, %rd14, %rd3;\0A@%p2 bra $L__BB0_2;\0A$L__BB0_3:\0Aret;\0A}\0A.visible .entry tfrt_multiply_f32(\0A.param .u64 tfrt_multiply_f32_param_0,\0A.param .u64 tfrt_multiply_f32_param_1,\0A.param .u64 tfrt_multiply_f32_param_2,\0A.param .u32 tfrt_multiply_f32_param_3\0A)\0A{\0A.reg .pred %p<3>;\0A.reg .f32 %f<4>;\0A.reg .b32 %r<5>;\0A.reg .b64 %rd<21>;\0Ald.param.u64 %rd10, [tfrt_multiply_f32_param_0];\0Ald.param.u64 %rd11, [tfrt_multiply_f32_param_1];\0Ald.param.u64 %rd12, [tfrt_multiply_f32_param_2];\0Ald.param.u32 %rd3, [tfrt_multiply_f32_param_3];\0Amov.u32 %r1, %ctaid.x;\0Amov.u32 %r2, %ntid.x;\0Acvt.u64.u32 %rd1, %r2;\0Amul.wide.u32 %rd13, %r1, %r2;\0Amov.u32 %r3, %tid.x;\0Acvt.u64.u32 %rd14, %r3;\0Aadd.s64 %rd20, %rd13, %rd14;\0Asetp.ge.u64 %p1, %rd20, %rd3;\0A@%p1 bra $L__BB3_3;\0Amov.u32 %r4, %nctaid.x;\0Acvt.u64.u32 %rd15, %r4;\0Amul.lo.s64 %rd4, %rd15, %rd1;\0Acvta.to.global.u64 %rd5, %rd10;\0Acvta.to.global.u64 %rd6, %rd11;\0Acvta.to.global.u64 %rd7, %rd12;\0A$L__BB3_2:\0Ashl.b64 %rd16, %rd20, 2;\0Aadd.s64 %rd17, %rd6, %rd16;\0Ald.global.f32 %f1, [%rd17];\0Aadd.s64 %rd18, %rd5, %rd16;\0Ald.global.f32 %f2, [%rd18];\0Amul.f32 %f3, %f2, %f1;\0Aadd.s64 %rd19, %rd7, %rd16;\0Ast.global.f32 [%rd19], %f3;\0Aadd.s64 %rd20, %rd20, %rd4;\0Asetp.lt.u64 %p2, %rd20, %rd3;\0A@%p2 bra $L__BB3_2;\0A$L__BB3_3:\0Aret;\0A}\0A"}
  %fill = tfrt_gpu.module.get_function %module {name = "tfrt_fill_f32"}
  %multiply = tfrt_gpu.module.get_function %module {name = "tfrt_multiply_f32"}
  %size = tfrt.constant.i64 32
  %a = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %product = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %zero = tfrt.constant.ui32 0
  %one = tfrt.constant.ui32 1
  %count = tfrt.constant.ui32 8
  %three = tfrt.constant.f32 3.0
  %ch1 = tfrt_gpu.function.launch %stream, %fill,
             blocks in (%one, %one, %one), threads in (%count, %one, %one),
             %zero, %ch0,
             args(%a, %three, %count) : (!tfrt_gpu.buffer, f32, ui32)
  %ch2 = tfrt_gpu.function.launch %stream, %multiply,
             blocks in (%one, %one, %one), threads in (%count, %one, %one),
             %zero, %ch1,
             args(%a, %a, %product, %count) : (!tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, ui32)
  %host = tfrt_gpu.mem.allocate_host %context, %size, %ch2
  %ch3 = tfrt_gpu.mem.copy %host, %product, %stream, %ch2 : !tfrt_gpu.buffer, !tfrt_gpu.buffer
  %tensor = tfrt_dht.create_uninitialized_tensor.f32.1 [8 : i64]
  %bytes, %ch4 = tfrt_dht.get_buffer %tensor, %ch3
  %ch5 = tfrt_gpu.mem.copy %bytes, %host, %stream, %ch4 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch6 = tfrt_gpu.stream.synchronize %stream, %ch5
  %ch7 = tfrt_dht.print_tensor %tensor, %ch6
  tfrt.return
}

// Code that is a file beside the program.
func.func @from_a_file() {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %module = tfrt_gpu.module.load_file %context {path = "fill.ptx"}
  %fill = tfrt_gpu.module.get_function %module {name = "tfrt_fill_f32"}
  %size = tfrt.constant.i64 16
  %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %zero = tfrt.constant.ui32 0
  %one = tfrt.constant.ui32 1
  %count = tfrt.constant.ui32 4
  %value = tfrt.constant.f32 1.5
  %ch1 = tfrt_gpu.function.launch %stream, %fill,
             blocks in (%one, %one, %one), threads in (%count, %one, %one),
             %zero, %ch0,
             args(%buffer, %value, %count) : (!tfrt_gpu.buffer, f32, ui32)
  %shape = ts.build_shape [4 : i64]
  %numbers = tfrt_gpu.tensor.make.f32 %buffer, %shape, %ch1
  %tensor = tfrt_gpu.tensor.to_host %numbers, %ch1
  %ch2 = tfrt_dht.print_tensor %tensor, %ch1
  tfrt.return
}

func.func @no_such_file() -> !tfrt_gpu.module {
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  // expected-error @+1 {{nothing_here.ptx}}
  %module = tfrt_gpu.module.load_file %context {path = "nothing_here.ptx"}
  tfrt.return %module : !tfrt_gpu.module
}

// Before what else may wait for the device; here nothing does.
func.func @soon() {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %module = tfrt_gpu.module.load_file %context {path = "fill.ptx"}
  %fill = tfrt_gpu.module.get_function %module {name = "tfrt_fill_f32"}
  %size = tfrt.constant.i64 16
  %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %zero = tfrt.constant.ui32 0
  %one = tfrt.constant.ui32 1
  %count = tfrt.constant.ui32 4
  %quarter = tfrt.constant.f32 0.25
  %soon = tfrt.constant.i32 -2
  %ch1 = tfrt_gpu.function.launch.priority %stream, %fill,
             blocks in (%one, %one, %one), threads in (%count, %one, %one), priority %soon,
             %zero, %ch0,
             args(%buffer, %quarter, %count) : (!tfrt_gpu.buffer, f32, ui32)
  %shape = ts.build_shape [4 : i64]
  %numbers = tfrt_gpu.tensor.make.f32 %buffer, %shape, %ch1
  %tensor = tfrt_gpu.tensor.to_host %numbers, %ch1
  %ch2 = tfrt_dht.print_tensor %tensor, %ch1
  tfrt.return
}

// Blocks that may wait for each other; these don't.
func.func @cooperative() {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %allocator = tfrt_gpu.allocator.create %context
  %module = tfrt_gpu.module.load_file %context {path = "fill.ptx"}
  %fill = tfrt_gpu.module.get_function %module {name = "tfrt_fill_f32"}
  %size = tfrt.constant.i64 16
  %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
  %zero = tfrt.constant.ui32 0
  %one = tfrt.constant.ui32 1
  %count = tfrt.constant.ui32 4
  %half = tfrt.constant.f32 0.5
  %ch1 = tfrt_gpu.function.launch.cooperative %stream, %fill,
             blocks in (%one, %one, %one), threads in (%count, %one, %one),
             %zero, %ch0,
             args(%buffer, %half, %count) : (!tfrt_gpu.buffer, f32, ui32)
  %shape = ts.build_shape [4 : i64]
  %numbers = tfrt_gpu.tensor.make.f32 %buffer, %shape, %ch1
  %tensor = tfrt_gpu.tensor.to_host %numbers, %ch1
  %ch2 = tfrt_dht.print_tensor %tensor, %ch1
  tfrt.return
}

func.func @wrong_arguments() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %stream = tfrt_gpu.stream.create %context
  %module = tfrt_gpu.module.load %context {data = ".version 6.4\0A.target sm_70\0A.address_size 64\0A.visible .entry tfrt_fill_f32(.param .u64 target, .param .f32 value, .param .u32 count) { ret; }"}
  %fill = tfrt_gpu.module.get_function %module {name = "tfrt_fill_f32"}
  %one = tfrt.constant.ui32 1
  // expected-error @+1 {{tfrt_fill_f32 has 3 parameters and gets 1 arguments}}
  %ch1 = tfrt_gpu.function.launch %stream, %fill,
             blocks in (%one, %one, %one), threads in (%one, %one, %one),
             %one, %ch0,
             args(%one) : (ui32)
  tfrt.return %ch1 : !tfrt.chain
}

func.func @no_code() -> !tfrt_gpu.module {
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  // expected-error @+1 {{ERROR_INVALID_IMAGE}}
  %module = tfrt_gpu.module.load %context {data = "invalid image"}
  tfrt.return %module : !tfrt_gpu.module
}

func.func @no_such_kernel() -> !tfrt_gpu.function {
  %ordinal = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CPU, %ordinal
  %context = tfrt_gpu.context.primary %device
  %module = tfrt_gpu.module.load %context {data = ".version 6.4\0A.target sm_70\0A.address_size 64\0A.visible .entry Kernel() { ret; }"}
  // expected-error @+1 {{ERROR_NOT_FOUND}}
  %function = tfrt_gpu.module.get_function %module {name = "Foo"}
  tfrt.return %function : !tfrt_gpu.function
}
