// SPDX-License-Identifier: Apache-2.0
//
// Images: one grey pixel in a JPEG file, and the same file cut.

func.func @a_pixel() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %file = "tfrt_test.get_string"() {value = "\FF\D8\FF\DB\00\43\00\02\01\01\01\01\01\02\01\01\01\02\02\02\02\02\04\03\02\02\02\02\05\04\04\03\04\06\05\06\06\06\05\06\06\06\07\09\08\06\07\09\07\06\06\08\0B\08\09\0A\0A\0A\0A\0A\06\08\0B\0C\0B\0A\0C\09\0A\0A\0A\FF\C0\00\0B\08\00\01\00\01\01\01\11\00\FF\C4\00\14\00\01\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\08\FF\C4\00\14\10\01\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\FF\DA\00\08\01\01\00\00\3F\00\19\BF\FF\D9"} : () -> !tfrt.string
  %image = tfrt_test.decode_jpeg %file
  %c1 = tfrt_dht.print_tensor %image, %c0
  tfrt.return %c1 : !tfrt.chain
}

func.func @half_a_pixel() -> !tfrt_tensor.tensor {
  %file = "tfrt_test.get_string"() {value = "\FF\D8\FF\DB\00\43\00\02\01\01\01\01\01\02\01\01\01\02\02\02\02\02\04\03\02\02\02\02\05\04\04\03\04\06\05\06\06\06\05\06\06\06\07\09\08\06\07\09\07\06\06\08\0B\08\09\0A\0A\0A\0A\0A\06\08\0B\0C\0B\0A\0C\09\0A\0A\0A\FF\C0\00\0B\08\00\01\00\01"} : () -> !tfrt.string
  // expected-error @+1 {{the JPEG image can't be decoded: Premature end of JPEG file}}
  %image = tfrt_test.decode_jpeg %file
  tfrt.return %image : !tfrt_tensor.tensor
}
