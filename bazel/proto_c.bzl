# SPDX-License-Identifier: Apache-2.0
"""C messages from .proto files, by protoc-c."""

def tfrt_proto_c_library(name, srcs, **kwargs):
    """A cc_library of the protobuf-c code that protoc-c generates from .proto files.

    The generated headers are included by the path of their .proto file:

        tfrt_proto_c_library(
            name = "messages",
            srcs = ["//proto:session.proto"],    # #include "proto/session.pb-c.h"
        )

    .proto files import each other by their path from the root too (import "proto/session.proto"),
    and the package that has them exports them (exports_files). protoc-c 1.4 refuses proto3
    `optional` and gives maps as arrays of entries.

    Args:
      name: the cc_library.
      srcs: labels of .proto files, each written as "//package:file.proto", with their imports.
      **kwargs: for the cc_library, such as visibility.
    """
    paths = []
    for src in srcs:
        if not src.startswith("//") or not src.endswith(".proto") or ":" not in src:
            fail("srcs of tfrt_proto_c_library are \"//package:file.proto\", not \"%s\"" % src)
        paths.append(src[2:-len(".proto")].replace(":", "/"))
    sources = [path + ".pb-c.c" for path in paths]
    headers = [path + ".pb-c.h" for path in paths]
    native.genrule(
        name = name + "_generate",
        srcs = srcs,
        outs = sources + headers,
        cmd = "protoc-c -I. --c_out=$(RULEDIR) $(SRCS)",
        message = "Generating protobuf-c messages",
    )
    native.cc_library(
        name = name,
        srcs = sources,
        hdrs = headers,
        copts = ["-std=c11"],
        includes = ["."],
        deps = ["@protobuf_c"],
        **kwargs
    )
