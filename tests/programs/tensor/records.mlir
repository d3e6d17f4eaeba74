// Records of training data: {label: 7, image: "ab", many: [1, 2], old: 5}.

func.func @records() -> (i64, i64, !tfrt.string) {
  %c0 = tfrt.new.chain
  %bytes = "tfrt_test.get_string"() {value = "\0A\3E\0A\0E\0A\05label\12\05\1A\03\0A\01\07\0A\0F\0A\05image\12\06\0A\04\0A\02ab\0A\0E\0A\04many\12\06\1A\04\0A\02\01\02\0A\0B\0A\03old\12\04\1A\02\08\05"} : () -> !tfrt.string
  %example = tfrt_test.parse_example_from_bytes %bytes
  %image_key = "tfrt_test.get_string"() {value = "image"} : () -> !tfrt.string
  %image = tfrt_test.get_bytes_field_from_example %example, %image_key
  %c1 = "tfrt_test.print_string"(%image, %c0) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  %label_key = "tfrt_test.get_string"() {value = "label"} : () -> !tfrt.string
  %label = tfrt_test.get_int64_field_from_example %example, %label_key
  %many_key = "tfrt_test.get_string"() {value = "many"} : () -> !tfrt.string
  %many = tfrt_test.get_int64_field_from_example %example, %many_key
  %none = tfrt_test.get_bytes_field_from_example %example, %label_key
  tfrt.return %label, %many, %none : i64, i64, !tfrt.string
}

func.func @no_record() -> !proto.example {
  %bytes = "tfrt_test.get_string"() {value = "image"} : () -> !tfrt.string
  %example = tfrt_test.parse_example_from_bytes %bytes
  tfrt.return %example : !proto.example
}
