# SPDX-License-Identifier: Apache-2.0
"""A repository rule for a C library that the system's package manager installed."""

_BUILD = """# SPDX-License-Identifier: Apache-2.0
cc_library(
    name = "{name}",
    hdrs = glob(["include/**/*.h"]),
    includes = ["include"],
    linkopts = {linkopts},
    visibility = ["//visibility:public"],
)
"""

_HEADERS = """
# For programs that open the library when they need it.
cc_library(
    name = "headers",
    hdrs = glob(["include/**/*.h"]),
    defines = ["{define}"],
    includes = ["include"],
    visibility = ["//visibility:public"],
)
"""

def _missing(ctx, what):
    fail(("{what} is not on this machine. Run tools/install_deps.sh, or install the Debian " +
          "package that has it: apt-get install {package}").format(
        what = what,
        package = ctx.attr.debian_package,
    ))

def _include_folder(ctx):
    """The folder the library's headers live under: pkg-config's word, else /usr/include."""
    if not ctx.attr.pkg_config:
        return "/usr/include"
    tool = ctx.which("pkg-config")
    if not tool:
        fail("pkg-config is not on this machine. Run tools/install_deps.sh, or: " +
             "apt-get install pkg-config")
    if ctx.execute([tool, "--exists", ctx.attr.pkg_config]).return_code != 0:
        _missing(ctx, "The library '%s' (%s.pc)" % (ctx.name, ctx.attr.pkg_config))
    folder = ctx.execute([tool, "--variable=includedir", ctx.attr.pkg_config]).stdout.strip()
    return folder or "/usr/include"

def _file_name(ctx):
    """The name that the loader knows the library by, as the one to link against says."""
    # grpc.pc of Debian names a folder that the library isn't in; the compiler knows better.
    found = ctx.execute(["cc", "-print-file-name=lib%s.so" % ctx.attr.opened])
    path = found.stdout.strip()
    dump = ctx.execute(["objdump", "-p", path])
    for line in dump.stdout.split("\n"):
        words = [word for word in line.split(" ") if word]
        if len(words) == 2 and words[0] == "SONAME":
            return words[1]
    return _missing(ctx, "The library %s" % path)

def _system_library_impl(ctx):
    folder = _include_folder(ctx)
    for header in ctx.attr.headers:
        path = ctx.path(folder + "/" + header)
        if not path.exists:
            _missing(ctx, "The header %s of the library '%s'" % (path, ctx.name))
        ctx.symlink(path, "include/" + header)
    build = _BUILD.format(
        name = ctx.name,
        linkopts = repr(["-l" + library for library in ctx.attr.libraries]),
    )
    if ctx.attr.opened:
        define = 'TFRT_%s_FILE_NAME=\\\\\\"%s\\\\\\"' % (ctx.name.upper(), _file_name(ctx))
        build += _HEADERS.format(define = define)
    ctx.file("BUILD", build)

system_library = repository_rule(
    implementation = _system_library_impl,
    doc = """Makes @<name>//:<name> (or just @<name>) a cc_library over an installed library.

It fails, naming the Debian package, where the library is absent; since Bazel fetches a
repository only when a target needs it, a missing library hurts only those who use it.""",
    attrs = {
        "debian_package": attr.string(
            mandatory = True,
            doc = "The package to name in the error when the library is absent.",
        ),
        "headers": attr.string_list(
            mandatory = True,
            doc = "Header files and folders, as an #include would name them.",
        ),
        "libraries": attr.string_list(
            mandatory = True,
            doc = "What to link, without the -l.",
        ),
        "opened": attr.string(
            doc = "The library, without lib and .so, that programs may open by the name " +
                  "TFRT_<NAME>_FILE_NAME, which @<name>//:headers defines; empty: none.",
        ),
        "pkg_config": attr.string(
            doc = "The library's name in pkg-config; empty where it has no .pc file.",
        ),
    },
    environ = [
        "PATH",
        "PKG_CONFIG_PATH",
    ],
    local = True,
)
