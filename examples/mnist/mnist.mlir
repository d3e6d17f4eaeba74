// SPDX-License-Identifier: Apache-2.0
//
// Classifies handwritten digits on three hosts.
//
//   tfrt run examples/mnist/mnist.mlir --local 3 --arg images=FILE --arg labels=FILE
//
// Host 0 reads the weights and cuts the digits into three parts. Each host runs @classify
// on one of them: the digits and the weights travel as references, and each host fetches
// what it needs straight from host 0. The counts come back and are added up here.
//
//   images [N, 28, 28] --+-- part 0 --> @classify on host 0 --> right, all --+
//   labels [N]           +-- part 1 --> @classify on host 1 --> right, all --+--> accuracy
//                        +-- part 2 --> @classify on host 2 --> right, all --+
//
// Without a cluster (no --local, no --hosts) all three parts run in one process.

func.func @main(%images: !tfrt_tensor.tensor, %labels: !tfrt_tensor.tensor) -> (i64, i64) {
  %w1, %b1, %w2, %b2, %w3, %b3, %w4, %b4 = tfrt_tensor.read_btf "weights/mnist.btf" : () -> (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor)

  // Part h has (N + 2 - h) / 3 digits: equal parts, the first ones longer by one.
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 2
  %three = tfrt.constant.i32 3
  %n = tfrt_tensor.common_dim %images, %labels axis 0
  %n_plus_1 = tfrt.add.i32 %n, %one
  %n_plus_2 = tfrt.add.i32 %n, %two
  %count0, %unused0 = tfrt.div.i32 %n_plus_2, %three
  %count1, %unused1 = tfrt.div.i32 %n_plus_1, %three
  %count2, %unused2 = tfrt.div.i32 %n, %three
  %start2 = tfrt.add.i32 %count0, %count1

  %images0 = tfrt_tensor.slice %images, %zero, %count0
  %images1 = tfrt_tensor.slice %images, %count0, %count1
  %images2 = tfrt_tensor.slice %images, %start2, %count2
  %labels0 = tfrt_tensor.slice %labels, %zero, %count0
  %labels1 = tfrt_tensor.slice %labels, %count0, %count1
  %labels2 = tfrt_tensor.slice %labels, %start2, %count2

  %right0, %all0 = tfrt.call @classify(%images0, %labels0, %w1, %b1, %w2, %b2, %w3, %b3, %w4, %b4) {host = 0 : i32} : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor) -> (i64, i64)
  %right1, %all1 = tfrt.call @classify(%images1, %labels1, %w1, %b1, %w2, %b2, %w3, %b3, %w4, %b4) {host = 1 : i32} : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor) -> (i64, i64)
  %right2, %all2 = tfrt.call @classify(%images2, %labels2, %w1, %b1, %w2, %b2, %w3, %b3, %w4, %b4) {host = 2 : i32} : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor) -> (i64, i64)

  %right01 = tfrt.add.i64 %right0, %right1
  %right = tfrt.add.i64 %right01, %right2
  %all01 = tfrt.add.i64 %all0, %all1
  %all = tfrt.add.i64 %all01, %all2

  %hundred = tfrt.constant.f64 100.0
  %right_f64 = "tfrt.cast.i64_to_f64"(%right) : (i64) -> f64
  %all_f64 = "tfrt.cast.i64_to_f64"(%all) : (i64) -> f64
  %share = "tfrt.div.f64"(%right_f64, %all_f64) : (f64, f64) -> f64
  %percent = "tfrt.multiply.f64"(%share, %hundred) : (f64, f64) -> f64

  tfrt.print_text "host 0: %d digits, %d right" (%all0, %right0) : i64, i64
  tfrt.print_text "host 1: %d digits, %d right" (%all1, %right1) : i64, i64
  tfrt.print_text "host 2: %d digits, %d right" (%all2, %right2) : i64, i64
  tfrt.print_text "accuracy: %.2f %% (%d of %d)" (%percent, %right, %all) : f64, i64, i64
  tfrt.return %right, %all : i64, i64
}

// How many of the digits the network gets right, and how many there are. Batches are small,
// so that a cancelled request stops soon, and run in parallel where there are threads.
func.func @classify(%images: !tfrt_tensor.tensor, %labels: !tfrt_tensor.tensor, %w1: !tfrt_tensor.tensor, %b1: !tfrt_tensor.tensor, %w2: !tfrt_tensor.tensor, %b2: !tfrt_tensor.tensor, %w3: !tfrt_tensor.tensor, %b3: !tfrt_tensor.tensor, %w4: !tfrt_tensor.tensor, %b4: !tfrt_tensor.tensor) -> (i64, i64) {
  %batch = tfrt.constant.i32 50
  %round_up = tfrt.constant.i32 49
  %n = tfrt_tensor.dim %images axis 0
  %sum = tfrt.add.i32 %n, %round_up
  %batches, %unused = tfrt.div.i32 %sum, %batch
  %index = tfrt.constant.i32 0
  %right = tfrt.constant.i64 0

  %done:13 = tfrt.repeat.i32 %batches, %index, %right, %batch, %images, %labels, %w1, %b1, %w2, %b2, %w3, %b3, %w4, %b4 : i32, i64, i32, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor {
    %some_images = tfrt_tensor.batch %images, %index, %batch
    %some_labels = tfrt_tensor.batch %labels, %index, %batch
    %logits = tfrt.call @model(%some_images, %w1, %b1, %w2, %b2, %w3, %b3, %w4, %b4) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor) -> !tfrt_tensor.tensor
    %digits = tfrt_tensor.argmax %logits axis 1
    %expected = tfrt_tensor.cast %some_labels to i64
    %some_right = tfrt_tensor.count_equal %digits, %expected
    %new_right = tfrt.add.i64 %right, %some_right
    %one = tfrt.constant.i32 1
    %next = tfrt.add.i32 %index, %one
    tfrt.return %next, %new_right, %batch, %images, %labels, %w1, %b1, %w2, %b2, %w3, %b3, %w4, %b4 : i32, i64, i32, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor
  }

  %shape = tfrt_dht.get_tensor_shape %labels
  %all = ts.get_num_elements %shape
  tfrt.return %done#1, %all : i64, i64
}

// The network: ten scores for each image (bytes, [N, 28, 28]). README.md says how it was
// trained and what the weights are.
func.func @model(%images: !tfrt_tensor.tensor, %w1: !tfrt_tensor.tensor, %b1: !tfrt_tensor.tensor, %w2: !tfrt_tensor.tensor, %b2: !tfrt_tensor.tensor, %w3: !tfrt_tensor.tensor, %b3: !tfrt_tensor.tensor, %w4: !tfrt_tensor.tensor, %b4: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  %per_byte = tfrt.constant.f32 0.00392156886  // 1 / 255: pixels from 0 to 1
  %floats = tfrt_tensor.cast %images to f32
  %pixels = tfrt_tensor.scale %floats, %per_byte
  %x = tfrt_tensor.reshape %pixels [-1 : i64, 1 : i64, 28 : i64, 28 : i64]

  %conv1 = tfrt_tensor.conv2d %x, %w1, %b1 {relu = true}
  %pool1 = tfrt_tensor.max_pool2d %conv1 {strides = [2 : i64, 2 : i64], window = [2 : i64, 2 : i64]}
  %conv2 = tfrt_tensor.conv2d %pool1, %w2, %b2 {relu = true}
  %pool2 = tfrt_tensor.max_pool2d %conv2 {strides = [2 : i64, 2 : i64], window = [2 : i64, 2 : i64]}

  %flat = tfrt_tensor.reshape %pool2 [-1 : i64, 512 : i64]
  %dense1 = tfrt_tensor.linear %flat, %w3, %b3 {relu = true}
  %logits = tfrt_tensor.linear %dense1, %w4, %b4
  tfrt.return %logits : !tfrt_tensor.tensor
}
