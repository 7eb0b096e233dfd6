"""Give a copy of the tree the compiled kernels of the tree.

So a mutant compiles only what its fault changes. Numba keeps the machine code of a function in a
folder that is named after the path of its source (:mod:`beam_topics.model.kernels.jit`). A fault in
a kernel changes the machine code of the functions of its own file, and of every file that imports
it, directly or through others. A source is imported through the link ``beam_topics/model``, so that
is its path.
"""

import ast
import shutil
from pathlib import Path

from numba.core.caching import _CacheLocator

from beam_topics.model.kernels.jit import cache_folder


def kernel_files(root):
    """The sources in folders of kernels, by the name of their module."""
    return {
        ".".join(path.relative_to(root).with_suffix("").parts): path
        for path in sorted((root / "beam_topics" / "model").rglob("*.py"))
        if "kernels" in path.parts
    }


def imported(path):
    """The names of what a module imports: of ``from a import b``, both ``a`` and ``a.b``."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


def users_of(root, changed):
    """The kernel files whose machine code may hold code of one file, itself included."""
    files = kernel_files(root)
    imports = {name: imported(path) & set(files) for name, path in files.items()}
    found = {name for name, path in files.items() if path == root / "beam_topics" / changed}
    while more := {name for name, used in imports.items() if used & found} - found:
        found |= more
    return {files[name] for name in found}


def compiled_in(cache, tree):
    """The folder for the machine code of a tree where ``NUMBA_CACHE_DIR`` is ``cache``."""
    return Path(cache) / cache_folder(tree / "model").name


def copy_compiled(source, tree, target, copy, changed=None):
    """Copy the machine code of a tree to where a copy of the tree looks for it.

    Args:
        source: the folder with the tree's machine code.
        tree: the root of the tree.
        target: the folder for the copy's machine code.
        copy: the root of the copy. The times of its files are those of the tree's.
        changed: a kernel file that differs, relative to the root.
    """
    stale = users_of(copy, changed) if changed else set()
    for path in kernel_files(copy).values():
        place = source / subfolder(tree / path.relative_to(copy))
        if path not in stale and place.is_dir():
            (target / subfolder(path)).mkdir(parents=True, exist_ok=True)
            for file in place.glob(f"{path.stem}.*"):
                shutil.copy2(file, target / subfolder(path))


def subfolder(path):
    """The folder of a source's machine code in a folder of compiled kernels."""
    return _CacheLocator.get_suitable_cache_subpath(str(path))
