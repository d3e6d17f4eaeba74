// SPDX-License-Identifier: Apache-2.0
// RUN: awk 'BEGIN { print "func.func @f(%%n: i32) {"; for (i = 0; i < 200; ++i) print "tfrt.repeat.i32 %%n, %%n : i32 {"; print "tfrt.print.i32 %%n"; for (i = 0; i < 200; ++i) print "tfrt.return %%n : i32\n}"; print "tfrt.return\n}" }' | tfrt_opt --insert-chains --check-chains --canonicalize | FileCheck %s

// Two hundred loops, one in the other, whose lines have an order.
// CHECK: tfrt.print.i32 %{{.*}}, %{{.*}}
