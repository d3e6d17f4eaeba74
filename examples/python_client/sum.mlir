// SPDX-License-Identifier: Apache-2.0
//
// What tfrt_client.py runs: function 0 adds and prints, function 1 divides.

func.func @sum(%a: i32, %b: i32) -> i32 {
  %sum = tfrt.add.i32 %a, %b
  tfrt.print.i32 %sum
  tfrt.return %sum : i32
}

func.func @divide(%a: i32, %b: i32) -> (i32, i32) {
  %quotient, %remainder = tfrt.div.i32 %a, %b
  tfrt.return %quotient, %remainder : i32, i32
}
