#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Copies what was built to where it is installed; tools/install.sh builds it before.

    install_tree.py --prefix DIR [--destdir DIR] [--libdir lib] [--source ROOT] --built FOLDER

  PREFIX/include/tfrt/            tfrt.h, kernel_library.h, device_library.h, and the headers that they
                                  include;
                                  async_value_ref.hpp for C++
  PREFIX/include/tfrt/mlir_async/ what C needs to know of MLIR's async runtime; mgpu/ likewise
  PREFIX/LIBDIR/                  libtfrt.so.VERSION and its links, libtfrt.a, tfrt/; in the same
                                  way libtfrt_mlir_async_runtime.so and libtfrt_mgpu.so
  PREFIX/LIBDIR/pkgconfig/        tfrt.pc, tfrt-kernels.pc, tfrt-mgpu.pc, tfrt-mlir-async.pc
  PREFIX/bin/                     the tools
  PREFIX/share/tfrt/python/       the Python package, for pip
  PREFIX/share/tfrt/              the kernels of tfrt_device_conformance
  PREFIX/share/doc/tfrt/          docs, licence, some examples

The set of headers is closed: each public header that one of the three includes is there, and
includes are rewritten so that only PREFIX/include has to be searched. The tree may be moved.
"""

import argparse
import os
import re
import shutil
import stat
import sys

ROOT_HEADERS = ["embedding/tfrt.h", "embedding/kernel_library.h", "embedding/device_library.h"]
# For C++ alone; includes some of the others.
CXX_HEADERS = ["embedding/async_value_ref.hpp"]
# Headers of other libraries, which include nothing of the project.
OTHER_HEADERS = ["embedding/mgpu/mgpu.h", "embedding/mlir_async/mlir_async_runtime.h"]
SHARED_LIBRARIES = ["libtfrt.so", "mgpu/libtfrt_mgpu.so",
                    "mlir_async/libtfrt_mlir_async_runtime.so"]
PACKAGES = ["tfrt", "tfrt-kernels", "tfrt-mgpu", "tfrt-mlir-async"]
TOOLS = ["bef_executor", "bef_executor_debug_tracing", "bef_executor_lite", "bef_to_mlir",
         "btf_info/btf_info", "kernel_docs", "mlir_to_bef", "tfrt",
         "tfrt_device_conformance", "tfrt_opt", "tfrt_translate", "tfrt_worker"]
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
INSTALLED_EXAMPLE_LINK = re.compile(r"\]\(\.\./(examples/(?:async_value|eager|kernel_library|magika|mlir_async|null_device)/)")
# The guides are for the source tree.
FOREIGN_LINK = re.compile(r"\[([^\]]*)\]\((?:\.\./(?!\.\.)|guides/)[^)]*\)")
VERSION = re.compile(r'^#define TFRT_VERSION "([^"]+)"', re.MULTILINE)


class InstallError(Exception):
    """What the user has to know."""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def public_headers(source):
    """Paths, from the root, of the headers to install, sorted."""
    found, left = set(), list(ROOT_HEADERS)
    while left:
        path = left.pop()
        if path not in found:
            found.add(path)
            left += INCLUDE.findall(read(os.path.join(source, path)))
    return sorted(found)


def installed_path(header):
    """Where a header lies below include/: the room `embedding` is the front door."""
    if header.startswith("embedding/"):
        return "tfrt/" + header[len("embedding/"):]
    return "tfrt/" + header


def installed_text(text):
    """A header with its includes as they are below include/."""
    return INCLUDE.sub(lambda match: f'#include "{installed_path(match.group(1))}"', text)


def installed_page(text):
    """A page with its links as files lie below share/doc/tfrt; what isn't there is no link."""
    text = INSTALLED_EXAMPLE_LINK.sub(r"](\1", text).replace("](../../docs/", "](../../")
    text = text.replace("](../../embedding/python", "](../../../../tfrt/python")
    return FOREIGN_LINK.sub(r"\1", text)


class Installer:
    """Writes files below one prefix, each whole or not at all."""

    def __init__(self, options):
        self.options = options
        self.root = options.destdir.rstrip("/") + options.prefix if options.destdir \
            else options.prefix
        self.version = VERSION.search(
            read(os.path.join(options.source, "host_runtime/base/version.h"))).group(1)
        self.count = 0

    def source(self, path):
        return os.path.join(self.options.source, path)

    def built(self, path):
        path = os.path.join(self.options.built, path)
        if not os.path.exists(path):
            raise InstallError(f"{path} is missing: build //embedding:install_all first")
        return path

    def target(self, path):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        self.count += 1
        return path

    def write(self, text, path):
        path = self.target(path)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path + ".new", 0o644)
        os.replace(path + ".new", path)

    def copy(self, source, path, mode=0o644):
        # Beside the target and then over it: a program that runs keeps the old one.
        path = self.target(path)
        shutil.copyfile(source, path + ".new")
        os.chmod(path + ".new", mode)
        os.replace(path + ".new", path)

    def link(self, name, path):
        path = self.target(path)
        if os.path.lexists(path):
            os.unlink(path)
        os.symlink(name, path)

    def copy_folder(self, source, path):
        for folder, _, names in sorted(os.walk(source)):
            for name in sorted(names):
                file = os.path.join(folder, name)
                if name == "BUILD" or not os.path.isfile(file):
                    continue
                if name.endswith(".md"):
                    self.write(installed_page(read(file)), os.path.join(path, name))
                    continue
                executable = os.stat(file).st_mode & stat.S_IXUSR and not name.endswith(
                    (".c", ".h", ".mlir", "Makefile"))
                self.copy(file, os.path.join(path, os.path.relpath(file, source)),
                          0o755 if executable else 0o644)

    def headers(self):
        for header in public_headers(self.options.source) + CXX_HEADERS + OTHER_HEADERS:
            self.write(installed_text(read(self.source(header))),
                       os.path.join("include", installed_path(header)))

    def shared_library(self, path):
        """Copies a library under its version, with the links that linkers and loaders follow."""
        libdir, name = self.options.libdir, os.path.basename(path)
        real = f"{name}.{self.version}"
        major = f"{name}.{self.version.split('.', maxsplit=1)[0]}"
        self.copy(self.built("embedding/" + path), os.path.join(libdir, real), 0o755)
        self.link(real, os.path.join(libdir, major))
        self.link(major, os.path.join(libdir, name))

    def libraries(self):
        libdir = self.options.libdir
        for path in SHARED_LIBRARIES:
            self.shared_library(path)
        self.copy(self.built("embedding/libtfrt.a"), os.path.join(libdir, "libtfrt.a"))
        self.copy(self.built("embedding/device_api.options"),
                  os.path.join(libdir, "tfrt/device_api.options"))

    def package_files(self):
        folder = os.path.join(self.options.libdir, "pkgconfig")
        for name in PACKAGES:
            text = read(self.source(f"embedding/{name}.pc.in"))
            text = text.replace("@TO_PREFIX@", os.path.relpath(".", folder))
            text = text.replace("@LIBDIR@", self.options.libdir)
            self.write(text.replace("@VERSION@", self.version), os.path.join(folder, name + ".pc"))

    def tools(self):
        for name in TOOLS:
            self.copy(self.built("tools/" + name), "bin/" + os.path.basename(name), 0o755)

    def documents(self):
        folder = "share/doc/tfrt"
        for name in ["LICENSE", "NOTICE"]:
            self.copy(self.source(name), os.path.join(folder, name))
        for pages, target in [("docs", folder), ("docs/kernels", os.path.join(folder, "kernels"))]:
            for name in sorted(os.listdir(self.source(pages))):
                if name.endswith(".md"):
                    self.write(installed_page(read(self.source(f"{pages}/{name}"))),
                               os.path.join(target, name))
        for path in ["async_value/README.md", "async_value/async_value.c", "eager/README.md",
                     "eager/eager.c", "eager/layer.mlir", "magika/README.md", "magika/magika.c",
                     "magika/labels.txt"]:
            text = read(self.source("examples/" + path))
            text = text.replace('#include "embedding/tfrt.h"', "#include <tfrt/tfrt.h>")
            self.write(installed_page(text), os.path.join(folder, "examples", path))
        for name, mode in [("model.onnx", 0o644), ("magika.py", 0o755)]:
            self.copy(self.source("examples/magika/" + name),
                      os.path.join(folder, "examples/magika", name), mode)
        for name in ["kernel_library", "mlir_async", "null_device"]:
            self.copy_folder(self.source("examples/" + name),
                             os.path.join(folder, "examples", name))

    def conformance(self):
        self.copy(self.source("devices/conformance/test_kernels.cu"),
                  "share/tfrt/test_kernels.cu")

    def python(self):
        for path in ["README.md", "pyproject.toml", "wheel_backend.py"]:
            self.copy(self.source("embedding/python/" + path), "share/tfrt/python/" + path)
        for name in sorted(os.listdir(self.source("embedding/python/tfrt"))):
            if name.endswith(".py"):
                self.copy(self.source("embedding/python/tfrt/" + name),
                          "share/tfrt/python/tfrt/" + name)

    def run(self):
        self.headers()
        self.libraries()
        self.package_files()
        self.tools()
        self.conformance()
        self.python()
        self.documents()


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--prefix", required=True, help="an absolute path, such as /usr/local")
    parser.add_argument("--destdir", default="", help="where PREFIX is put for packaging")
    parser.add_argument("--libdir", default="lib", help="below PREFIX (default: lib)")
    parser.add_argument("--source", default=".", help="the root of the project")
    parser.add_argument("--built", required=True, help="Bazel's output folder")
    options = parser.parse_args(arguments)
    if not os.path.isabs(options.prefix):
        parser.error("--prefix wants an absolute path")
    if os.path.isabs(options.libdir):
        parser.error("--libdir is below --prefix: a relative path")
    return options


def main():
    installer = Installer(parse(sys.argv[1:]))
    try:
        installer.run()
    except (InstallError, OSError) as error:
        print(f"install: {error}", file=sys.stderr)
        return 1
    print(f"install: {installer.count} files below {installer.root}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
