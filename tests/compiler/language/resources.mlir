// SPDX-License-Identifier: Apache-2.0
// RUN: tfrt_opt --allow-unregistered-dialect %s | FileCheck %s
// RUN: tfrt_opt --allow-unregistered-dialect %s | tfrt_opt --allow-unregistered-dialect | FileCheck %s
// RUN: tfrt_opt --allow-unregistered-dialect --mlir-print-op-generic %s | FileCheck %s --check-prefix=GENERIC

// Resources are read wherever they stand, and written at the end: those of the dialect that an
// attribute uses, in order of use, and all those of tools.
{-#
  external_resources: {
    first_tool: { threads: "4", "odd name": true, fast: false, empty: "" },
    nothing: {}
  },
  dialect_resources: { builtin: {
    unused: "0x0400000001",
    late: "0x080000000a0B",
    early: "0x00000000"
  } }
#-}

// CHECK: "foo.a"() {x = dense_resource<early> : tensor<0xi8>, y = [{z = dense_resource<"a b"> : vector<2xi8>}]} : () -> ()
"foo.a"() {y = [{z = dense_resource<"a b"> : vector<2xi8>}], x = dense_resource<early> : tensor<0xi8>} : () -> ()
// CHECK: "foo.b"() {x = dense_resource<nowhere> : tensor<1xi8>}
"foo.b"() {x = dense_resource<nowhere> : tensor<1xi8>} : () -> ()
// In generic form the attributes of an op stand behind its regions, but for its properties.
"foo.c"() <{p = dense_resource<first> : tensor<1xi8>}> ({
  "foo.d"() {x = dense_resource<inner> : tensor<1xi8>} : () -> ()
}) {x = dense_resource<late> : tensor<1xi8>} : () -> ()

// A later one takes the place of an earlier one; a tool may use a name again.
{-#
  dialect_resources: { builtin: {
    late: "0x020000000A0C",
    "a b": "0x0400000002ff",
    inner: "0x0400000003",
    first: "0x0400000004"
  } },
  external_resources: { first_tool: { threads: "5" }, second_tool: { raw: "0x01000000AB" } }
#-}
{-# #-}

// CHECK:      {-#
// CHECK-NEXT:   dialect_resources: {
// CHECK-NEXT:     builtin: {
// CHECK-NEXT:       early: "0x00000000",
// CHECK-NEXT:       "a b": "0x0400000002FF",
// CHECK-NEXT:       first: "0x0400000004",
// CHECK-NEXT:       late: "0x020000000A0C",
// CHECK-NEXT:       inner: "0x0400000003"
// CHECK-NEXT:     }
// CHECK-NEXT:   },
// CHECK-NEXT:   external_resources: {
// CHECK-NEXT:     first_tool: {
// CHECK-NEXT:       threads: "4",
// CHECK-NEXT:       "odd name": true,
// CHECK-NEXT:       fast: false,
// CHECK-NEXT:       empty: "",
// CHECK-NEXT:       threads: "5"
// CHECK-NEXT:     },
// CHECK-NEXT:     second_tool: {
// CHECK-NEXT:       raw: "0x01000000AB"
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: #-}

// GENERIC:      first: "0x0400000004",
// GENERIC-NEXT: inner: "0x0400000003",
// GENERIC-NEXT: late: "0x020000000A0C"
