// SPDX-License-Identifier: Apache-2.0
//
// The operations of neural networks, each once: X(name, summary, attributes, results, work). From
// this list come the op table, the kernels and the declarations of what they compute.
//
//   attributes   attributes_<that>[] in ops.c
//   results      ONE: always one; MANY: as many as the program asks for
//   work         elementary operations for each element of the operands, about
//
// Operands are tensors, in ONNX's order; the attribute `present` says which of the optional ones
// are there (bit i: operand i of ONNX), where one is left out before another.
//
// Thread rule: constant data. Failure rule: none fails.
#ifndef TFRT_KERNELS_NN_OPS_OP_LIST_H_
#define TFRT_KERNELS_NN_OPS_OP_LIST_H_

#define TFRT_NN_OP_LIST(X)                                                                         \
  X(sqrt, "The square root, of each element.", none, ONE, 4)                                       \
  X(exp, "e to the power of each element, of each element.", none, ONE, 4)                         \
  X(log, "The natural logarithm, of each element.", none, ONE, 4)                                  \
  X(sin, "The sine, of each element.", none, ONE, 4)                                               \
  X(cos, "The cosine, of each element.", none, ONE, 4)                                             \
  X(tan, "The tangent, of each element.", none, ONE, 4)                                            \
  X(asin, "The inverse sine, of each element.", none, ONE, 4)                                      \
  X(acos, "The inverse cosine, of each element.", none, ONE, 4)                                    \
  X(atan, "The inverse tangent, of each element.", none, ONE, 4)                                   \
  X(sinh, "The hyperbolic sine, of each element.", none, ONE, 4)                                   \
  X(cosh, "The hyperbolic cosine, of each element.", none, ONE, 4)                                 \
  X(tanh, "The hyperbolic tangent, of each element.", none, ONE, 4)                                \
  X(asinh, "The inverse hyperbolic sine, of each element.", none, ONE, 4)                          \
  X(acosh, "The inverse hyperbolic cosine, of each element.", none, ONE, 4)                        \
  X(atanh, "The inverse hyperbolic tangent, of each element.", none, ONE, 4)                       \
  X(erf, "The error function, of each element.", none, ONE, 4)                                     \
  X(sigmoid, "1 / (1 + e^-x), of each element.", none, ONE, 4)                                     \
  X(softplus, "log(1 + e^x), of each element.", none, ONE, 4)                                      \
  X(mish, "x * tanh(log(1 + e^x)), of each element.", none, ONE, 4)                                \
  X(abs, "The absolute value, of each element.", none, ONE, 1)                                     \
  X(neg, "The negative, of each element.", none, ONE, 1)                                           \
  X(sign, "-1, 0 or 1, of each element.", none, ONE, 1)                                            \
  X(relu, "The element, or 0 if it is negative, of each element.", none, ONE, 1)                   \
  X(ceil, "The whole number above, of each element.", none, ONE, 1)                                \
  X(floor, "The whole number below, of each element.", none, ONE, 1)                               \
  X(round, "The nearest whole number, of two the even one, of each element.", none, ONE, 1)        \
  X(reciprocal, "1 / x, of each element.", none, ONE, 1)                                           \
  X(softsign, "x / (1 + |x|), of each element.", none, ONE, 1)                                     \
  X(hard_swish, "x * max(0, min(1, x / 6 + 0.5)), of each element.", none, ONE, 1)                 \
  X(not, "The opposite, of each element.", none, ONE, 1)                                           \
  X(bitwise_not, "All bits turned, of each element.", none, ONE, 1)                                \
  X(is_nan, "Whether it is no number, of each element.", none, ONE, 1)                             \
  X(is_inf, "Whether each element is infinite.", is_inf, ONE, 1)                                   \
  X(hard_sigmoid, "max(0, min(1, alpha * x + beta)), of each element.", hard_sigmoid, ONE, 1)      \
  X(leaky_relu, "The element, or `alpha` times it if it is negative.", leaky_relu, ONE, 1)         \
  X(elu, "The element, or alpha * (e^x - 1) if it is negative.", elu, ONE, 4)                      \
  X(selu, "gamma * x, or gamma * alpha * (e^x - 1) if it is negative.", selu, ONE, 4)              \
  X(celu, "max(0, x) + min(0, alpha * (e^(x / alpha) - 1)), of each element.", celu, ONE, 4)       \
  X(thresholded_relu, "The element, or 0 if it is not above `alpha`.", thresholded_relu, ONE, 1)   \
  X(shrink, "Elements nearer to 0 than `lambd` become 0; `bias` brings the others nearer.",        \
    shrink, ONE, 1)                                                                                \
  X(gelu, "x * the normal distribution's share below x, exactly or by tanh.", gelu, ONE, 6)        \
  X(clip, "Each element, brought into the range from operand 1 to operand 2.", present, ONE, 1)    \
  X(cast, "The elements as another type.", cast, ONE, 1)                                           \
  X(cast_like, "The elements as the type of operand 1.", none, ONE, 1)                             \
  X(identity, "The operand.", none, ONE, 1)                                                        \
  X(dropout, "The operand, and a mask of what was kept: all.", present, MANY, 1)                   \
  X(add, "The sum, of two tensors, stretched to each other.", none, ONE, 1)                        \
  X(sub, "The difference, of two tensors, stretched to each other.", none, ONE, 1)                 \
  X(mul, "The product, of two tensors, stretched to each other.", none, ONE, 1)                    \
  X(div, "The quotient, of two tensors, stretched to each other.", none, ONE, 1)                   \
  X(pow, "The power, of two tensors, stretched to each other.", none, ONE, 1)                      \
  X(bitwise_and, "The bits that both have, of two tensors, stretched to each other.", none, ONE,   \
    1)                                                                                             \
  X(bitwise_or, "The bits that one has, of two tensors, stretched to each other.", none, ONE, 1)   \
  X(bitwise_xor, "The bits in which they differ, of two tensors, stretched to each other.", none,  \
    ONE, 1)                                                                                        \
  X(equal, "Whether both are equal, of two tensors, stretched to each other.", none, ONE, 1)       \
  X(less, "Whether the first is less, of two tensors, stretched to each other.", none, ONE, 1)     \
  X(less_or_equal, "Whether the first is less or equal, of two tensors, stretched to each other.", \
    none, ONE, 1)                                                                                  \
  X(greater, "Whether the first is greater, of two tensors, stretched to each other.", none, ONE,  \
    1)                                                                                             \
  X(greater_or_equal,                                                                              \
    "Whether the first is greater or equal, of two tensors, stretched to each other.", none, ONE,  \
    1)                                                                                             \
  X(and, "Whether both are true, of two tensors, stretched to each other.", none, ONE, 1)          \
  X(or, "Whether one is true, of two tensors, stretched to each other.", none, ONE, 1)             \
  X(xor, "Whether one alone is true, of two tensors, stretched to each other.", none, ONE, 1)      \
  X(mod, "The remainder, with the sign of the divisor; with `fmod`, of the dividend.", mod, ONE,   \
    1)                                                                                             \
  X(bit_shift, "The bits of the first operand moved by the second.", bit_shift, ONE, 1)            \
  X(prelu, "The element, or its product with operand 1 if it is negative.", none, ONE, 1)          \
  X(max, "The greatest of any number of tensors, stretched to each other.", none, ONE, 1)          \
  X(min, "The least of any number of tensors, stretched to each other.", none, ONE, 1)             \
  X(sum, "The sum of any number of tensors, stretched to each other.", none, ONE, 1)               \
  X(mean, "The mean of any number of tensors, stretched to each other.", none, ONE, 1)             \
  X(where, "Operand 1 where operand 0 is true, operand 2 elsewhere.", none, ONE, 1)                \
  X(shape, "The lengths of the axes from `start` to `end`.", shape, ONE, 1)                        \
  X(size, "The number of elements.", none, ONE, 1)                                                 \
  X(reshape,                                                                                       \
    "The same elements with the shape that operand 1 says; -1: what is left, 0: as before.",       \
    reshape, ONE, 1)                                                                               \
  X(flatten, "The same elements as a matrix: the axes before `axis`, and the others.", flatten,    \
    ONE, 1)                                                                                        \
  X(squeeze, "The tensor without the axes of length 1, or those of them that operand 1 names.",    \
    none, ONE, 1)                                                                                  \
  X(unsqueeze, "The tensor with axes of length 1 where operand 1 names them.", none, ONE, 1)       \
  X(transpose, "The tensor with its axes in the order `perm`; without, in reverse.", perm, ONE, 1) \
  X(depth_to_space, "Blocks of channels become blocks of pixels.", depth_to_space, ONE, 1)         \
  X(space_to_depth, "Blocks of pixels become channels.", space_to_depth, ONE, 1)                   \
  X(slice,                                                                                         \
    "The part from operand 1 to operand 2, along the axes of operand 3, in steps of operand 4.",   \
    present, ONE, 1)                                                                               \
  X(split, "The parts along `axis`, as long as operand 1 says, or equally long.", axis_0, MANY, 1) \
  X(concat, "The operands, one after the other along `axis`.", axis_0, ONE, 1)                     \
  X(expand, "The tensor stretched to the shape that operand 1 says.", none, ONE, 1)                \
  X(tile, "The tensor as often along each axis as operand 1 says.", none, ONE, 1)                  \
  X(pad, "The tensor with operand 1 more elements around it.", pad, ONE, 1)                        \
  X(gather, "The rows along `axis` at the indices of operand 1.", axis_0, ONE, 1)                  \
  X(gather_elements, "The elements along `axis` at the indices of operand 1.", axis_0, ONE, 1)     \
  X(gather_nd, "The parts at the tuples of indices of operand 1.", batch_dims, ONE, 1)             \
  X(scatter_elements, "Operand 0 with the elements of operand 2 at the indices of operand 1.",     \
    scatter_elements, ONE, 1)                                                                      \
  X(scatter_nd, "Operand 0 with the parts of operand 2 at the tuples of indices of operand 1.",    \
    scatter_nd, ONE, 1)                                                                            \
  X(one_hot, "One of two values for each of `depth` places: the second one at the index.",         \
    axis_last, ONE, 1)                                                                             \
  X(non_zero, "The indices of the elements that aren't 0.", none, ONE, 1)                          \
  X(compress, "The parts along `axis` where operand 1 is true.", compress, ONE, 1)                 \
  X(reverse_sequence,                                                                              \
    "The first elements of each sequence, as many as operand 1 says, in reverse.",                 \
    reverse_sequence, ONE, 1)                                                                      \
  X(constant_of_shape,                                                                             \
    "A tensor with the shape that operand 0 says, filled with operand 1, or 0.", none, ONE, 1)     \
  X(argument, "The operand, if it is of `dtype` and has the lengths `dims`; -1: any.", argument,   \
    ONE, 0)                                                                                        \
  X(argument_of_any_shape, "The operand, if it is of `dtype`.", argument, ONE, 0)                  \
  X(range, "The numbers from operand 0 to operand 1, in steps of operand 2.", none, ONE, 1)        \
  X(eye_like, "1 on diagonal `k`, 0 elsewhere, with the shape of the operand.", eye_like, ONE, 1)  \
  X(trilu, "The upper or lower triangle from diagonal operand 1 on, 0 elsewhere.", trilu, ONE, 1)  \
  X(reduce_sum, "The sum along the axes of operand 1.", reduce, ONE, 1)                            \
  X(reduce_mean, "The mean along the axes of operand 1.", reduce, ONE, 1)                          \
  X(reduce_prod, "The product along the axes of operand 1.", reduce, ONE, 1)                       \
  X(reduce_max, "The greatest element along the axes of operand 1.", reduce, ONE, 1)               \
  X(reduce_min, "The least element along the axes of operand 1.", reduce, ONE, 1)                  \
  X(reduce_l1, "The sum of the absolute values along the axes of operand 1.", reduce, ONE, 1)      \
  X(reduce_l2, "The square root of the sum of squares along the axes of operand 1.", reduce, ONE,  \
    1)                                                                                             \
  X(reduce_log_sum, "The logarithm of the sum along the axes of operand 1.", reduce, ONE, 1)       \
  X(reduce_log_sum_exp, "The logarithm of the sum of e^x along the axes of operand 1.", reduce,    \
    ONE, 1)                                                                                        \
  X(reduce_sum_square, "The sum of squares along the axes of operand 1.", reduce, ONE, 1)          \
  X(cum_sum, "The sums of the elements so far along the axis operand 1.", cum_sum, ONE, 1)         \
  X(arg_max, "The index of the greatest element along `axis`.", arg, ONE, 1)                       \
  X(arg_min, "The index of the least element along `axis`.", arg, ONE, 1)                          \
  X(hardmax, "1 for the greatest element along `axis`, 0 for the others.", axis_last, ONE, 1)      \
  X(top_k, "The operand 1 greatest (or least) elements along `axis`, and their indices.", top_k,   \
    MANY, 1)                                                                                       \
  X(softmax, "e^x by the sum of that along `axis`.", axis_last, ONE, 8)                            \
  X(log_softmax, "The logarithm of the softmax along `axis`.", axis_last, ONE, 8)                  \
  X(negative_log_likelihood_loss,                                                                  \
    "How unlikely the labels, operand 1, are by the logarithms of the classes' shares.", loss,     \
    ONE, 1)                                                                                        \
  X(softmax_cross_entropy_loss,                                                                    \
    "The same by scores of the classes; result 1 is the logarithm of their softmax.", loss, MANY,  \
    16)                                                                                            \
  X(layer_normalization,                                                                           \
    "The tensor with mean 0 and variance 1 over the axes from `axis` on, scaled and shifted.",     \
    layer_norm, MANY, 4)                                                                           \
  X(rms_normalization,                                                                             \
    "The tensor by its root of the mean square over the axes from `axis` on, scaled.", rms_norm,   \
    ONE, 4)                                                                                        \
  X(batch_normalization, "Each channel brought to a common scale by operands 1 to 4.", batch_norm, \
    MANY, 2)                                                                                       \
  X(instance_normalization,                                                                        \
    "Each channel of each picture with mean 0 and variance 1, scaled and shifted.", epsilon, ONE,  \
    4)                                                                                             \
  X(group_normalization, "Each group of channels with mean 0 and variance 1, scaled and shifted.", \
    group_norm, ONE, 4)                                                                            \
  X(lrn, "Each element by the squares of its neighbours in other channels.", lrn, ONE, 16)         \
  X(conv, "The convolution with the weights operand 1, plus the bias operand 2.", conv, ONE, 256)  \
  X(fused_conv,                                                                                    \
    "`conv`, plus operand 3, stretched to each other, and then `activation` of each element.",     \
    fused_conv, ONE, 256)                                                                          \
  X(conv_transpose,                                                                                \
    "The transposed convolution with the weights operand 1, plus the bias operand 2.",             \
    conv_transpose, ONE, 256)                                                                      \
  X(max_pool, "The greatest element of each window, and its index.", max_pool, MANY, 9)            \
  X(average_pool, "The mean of each window.", average_pool, ONE, 9)                                \
  X(lp_pool, "The root of the sum of powers `p` of each window.", lp_pool, ONE, 32)                \
  X(global_average_pool, "The mean of each channel.", layout, ONE, 1)                              \
  X(global_max_pool, "The greatest element of each channel.", none, ONE, 1)                        \
  X(mat_mul, "The product of two stacks of matrices.", none, ONE, 64)                              \
  X(fused_mat_mul,                                                                                 \
    "`mat_mul` with one matrix, plus operands 2, a bias, and 3, and then `activation`.",           \
    fused_mat_mul, ONE, 64)                                                                        \
  X(lookup,                                                                                        \
    "`mat_mul` of 1 where operands 0 and 1 are equal, 0 elsewhere, and the matrix operand 2.",     \
    none, ONE, 16)                                                                                 \
  X(gemm, "alpha * A * B + beta * C, where A and B may be transposed.", gemm, ONE, 64)             \
  X(resize, "The picture with other lengths, between whose pixels it is interpolated.", resize,    \
    ONE, 16)                                                                                       \
  X(append, "The rows of operand 0 and, behind them, operand 1 as one more.", none, ONE, 1)        \
  X(move_axis, "The tensor with its first axis at `axis`.", axis_0, ONE, 1)                        \
  X(common_length, "How long all operands are, each along its own one of the `axes`, or 0.", axes, \
    ONE, 0)                                                                                        \
  X(align_axes, "Operand 1 with more axes of length 1, so that it begins at `axis` of operand 0.", \
    axis_0, ONE, 0)                                                                                \
  X(attention,                                                                                     \
    "Scaled products of queries and keys, masked, their softmax, and its products with the "       \
    "values.",                                                                                     \
    attention, MANY, 64)                                                                           \
  X(share_heads,                                                                                   \
    "Operand 0 for `attention`, which shares heads: itself, if operands 1 and 2, the shapes "      \
    "[b, g, n, t, d] and [b, g * n, t, d], only repeat its heads; else stretched and reshaped "    \
    "so.",                                                                                         \
    reshape, ONE, 1)                                                                               \
  X(rotary_embedding, "Each pair of elements turned by the angles of its place.", rotary, ONE, 4)  \
  X(tensor_scatter,                                                                                \
    "Operand 0 with operand 1 along `axis`, for each part of the batch from operand 2 on.",        \
    tensor_scatter, ONE, 1)                                                                        \
  X(grid_sample,                                                                                   \
    "The elements of operand 0 at the places of operand 1, from -1 to 1 along each axis.",         \
    grid_sample, ONE, 16)                                                                          \
  X(affine_grid,                                                                                   \
    "The places of a picture of the size operand 1, moved by the matrices operand 0.",             \
    align_corners, ONE, 8)                                                                         \
  X(non_max_suppression, "The boxes with the greatest scores that don't cover each other.",        \
    suppression, ONE, 64)                                                                          \
  X(quantize_linear, "Operand 0 by the scale operand 1, rounded, plus the zero point operand 2.",  \
    blocks, ONE, 8)                                                                                \
  X(dequantize_linear, "Operand 0 less the zero point operand 2, times the scale operand 1.",      \
    blocks, ONE, 8)                                                                                \
  X(dynamic_quantize_linear,                                                                       \
    "The elements as u8, and the scale and the zero point that fit them.", none, MANY, 8)          \
  X(mat_mul_integer,                                                                               \
    "The product of two stacks of matrices less their zero points, operands 2 and 3.", present,    \
    ONE, 64)                                                                                       \
  X(lstm, "A recurrent network with long short-term memory.", lstm, MANY, 256)                     \
  X(gru, "A recurrent network with gates.", gru, MANY, 256)                                        \
  X(rnn, "A simple recurrent network.", rnn, MANY, 256)                                            \
  X(einsum, "The sum of products that `equation` says.", equation, ONE, 64)

#endif  // TFRT_KERNELS_NN_OPS_OP_LIST_H_
