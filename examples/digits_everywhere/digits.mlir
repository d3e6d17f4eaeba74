// SPDX-License-Identifier: Apache-2.0
//
// Classifies handwritten digits on all hosts that there are, however many.
//
//   tfrt run examples/digits_everywhere/digits.mlir --local 4 --arg images=FILE --arg labels=FILE
//
// Host 0 reads the weights and calls @share once on each host, with the same arguments: all
// digits, and the weights, as references. @share asks which host it is on, takes its part, and
// gives how many of that it got right.
//
//   images, labels --+-- @share on host 0: digits 0 .. N/n ------ right --+
//                    +-- @share on host 1: digits N/n .. 2N/n --- right --+--> list --sum--> accuracy
//                    +-- @share on host n-1: ------------------- right --+

func.func @main(%images: !tfrt_tensor.tensor, %labels: !tfrt_tensor.tensor) -> (i64, i64) {
  %w1, %b1, %w2, %b2, %w3, %b3, %w4, %b4 = tfrt_tensor.read_btf "../mnist/weights/mnist.btf" : () -> (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor)

  %rights = tfrt_dist.call_all @share(%images, %labels, %w1, %b1, %w2, %b2, %w3, %b3, %w4, %b4) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor) -> (!tfrt_dist.list)
  %right = tfrt_dist.list.sum %rights : i64

  // One line for each host, in the order of ranks.
  %hosts = tfrt_dist.list.size %rights
  %zero = tfrt.constant.i32 0
  tfrt.repeat.i32 %hosts, %zero, %rights : i32, !tfrt_dist.list {
    %part = tfrt_dist.list.get %rights, %zero : i64
    tfrt.print_text "host %d: %d right" (%zero, %part) : i32, i64
    %one = tfrt.constant.i32 1
    %next = tfrt.add.i32 %zero, %one
    tfrt.return %next, %rights : i32, !tfrt_dist.list
  }

  %shape = tfrt_dht.get_tensor_shape %labels
  %all = ts.get_num_elements %shape
  %hundred = tfrt.constant.f64 100.0
  %right_f64 = "tfrt.cast.i64_to_f64"(%right) : (i64) -> f64
  %all_f64 = "tfrt.cast.i64_to_f64"(%all) : (i64) -> f64
  %share = "tfrt.div.f64"(%right_f64, %all_f64) : (f64, f64) -> f64
  %percent = "tfrt.multiply.f64"(%share, %hundred) : (f64, f64) -> f64
  tfrt.print_text "accuracy: %.2f %% (%d of %d)" (%percent, %right, %all) : f64, i64, i64
  tfrt.return %right, %all : i64, i64
}

// This host's part of the digits: from rank * N / n up to (rank + 1) * N / n. Parts differ by one
// digit at most, and hosts beyond the N-th have none.
func.func @share(%images: !tfrt_tensor.tensor, %labels: !tfrt_tensor.tensor, %w1: !tfrt_tensor.tensor, %b1: !tfrt_tensor.tensor, %w2: !tfrt_tensor.tensor, %b2: !tfrt_tensor.tensor, %w3: !tfrt_tensor.tensor, %b3: !tfrt_tensor.tensor, %w4: !tfrt_tensor.tensor, %b4: !tfrt_tensor.tensor) -> i64 {
  %me = tfrt_dist.rank
  %n = tfrt_dist.num_hosts
  %one = tfrt.constant.i32 1
  %minus_one = tfrt.constant.i32 -1
  %after_me = tfrt.add.i32 %me, %one
  %all = tfrt_tensor.common_dim %images, %labels axis 0
  %scaled_first = tfrt.mul.i32 %me, %all
  %scaled_end = tfrt.mul.i32 %after_me, %all
  %first, %unused0 = tfrt.div.i32 %scaled_first, %n
  %end, %unused1 = tfrt.div.i32 %scaled_end, %n
  %minus_first = tfrt.mul.i32 %first, %minus_one
  %count = tfrt.add.i32 %end, %minus_first
  %my_images = tfrt_tensor.slice %images, %first, %count
  %my_labels = tfrt_tensor.slice %labels, %first, %count
  %right = tfrt.call @classify(%my_images, %my_labels, %w1, %b1, %w2, %b2, %w3, %b3, %w4, %b4) : (!tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor, !tfrt_tensor.tensor) -> i64
  tfrt.return %right : i64
}

// How many of the digits the network gets right, in batches of 50.
func.func @classify(%images: !tfrt_tensor.tensor, %labels: !tfrt_tensor.tensor, %w1: !tfrt_tensor.tensor, %b1: !tfrt_tensor.tensor, %w2: !tfrt_tensor.tensor, %b2: !tfrt_tensor.tensor, %w3: !tfrt_tensor.tensor, %b3: !tfrt_tensor.tensor, %w4: !tfrt_tensor.tensor, %b4: !tfrt_tensor.tensor) -> i64 {
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

  tfrt.return %done#1 : i64
}

// The network: ten scores for each image (bytes, [N, 28, 28]). ../mnist/README.md says how it
// was trained and what the weights are.
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
