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

def _system_library_impl(ctx):
    folder = _include_folder(ctx)
    for header in ctx.attr.headers:
        path = ctx.path(folder + "/" + header)
        if not path.exists:
            _missing(ctx, "The header %s of the library '%s'" % (path, ctx.name))
        ctx.symlink(path, "include/" + header)
    ctx.file("BUILD", _BUILD.format(
        name = ctx.name,
        linkopts = repr(["-l" + library for library in ctx.attr.libraries]),
    ))

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
