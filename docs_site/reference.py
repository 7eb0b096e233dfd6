"""Make the pages of the Python reference from the docstrings, with griffe.

The code is read and not imported. Each package has a page with its modules, their public classes
and functions. References in docstrings (``:class:`Name```) become links.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

import griffe

_PACKAGE = "beam_topics"
# Programs have the page of options; what beam_topics exports from there is on its own page.
_NO_PAGE = ("kernels", "pipelines")
_ROLE = re.compile(r":(?:attr|class|data|func|meth|mod):`~?([\w.]+)`")
_CODE = re.compile(r"(``?[^`]+``?)")
_LITERAL = re.compile(r"``([^`]+)``")
_EXAMPLE = re.compile(r"^( *>>> .*(?:\n.*\S.*)*)", re.MULTILINE)
_LIST = re.compile(r"^((?![*-] | {2}).*\S)\n(?=[*-] )", re.MULTILINE)
_NAMED = {"parameters": "Arguments", "attributes": "Attributes", "raises": "Raises"}
_MOST = 88
# What declares a field of settings (model/settings/options.py).
_DECLARATIONS = ("nested", "option", "part")


class Reference:
    """The documented names of the project, and where they are on the site.

    Args:
        root: the folder of the packages.
    """

    def __init__(self, root: str) -> None:
        loader = griffe.GriffeLoader(
            search_paths=[root], docstring_parser="google", allow_inspection=False
        )
        loaded = loader.load(_PACKAGE, try_relative_path=False)
        loader.resolve_aliases(implicit=True, external=False)
        self.pages = {page.path: page for page in packages(loaded)}
        self._places = dict(self._iter_places())

    def _iter_places(self) -> Iterator[tuple[str, str]]:
        for path, page in self.pages.items():
            for module in modules(page):
                for name in (module, *members(module)):
                    yield name.canonical_path, path
                    for member in methods(name):
                        yield member.canonical_path, path

    def page(self, path: str) -> str:
        """Return the page of a package as Markdown."""
        package = self.pages[path]
        parts = [f"# `{path}` {{ #{path} }}", self._docstring(package)]
        parts.append(self._members(package))
        for module in modules(package)[1:]:
            parts += [f"## `{module.path}` {{ #{module.path} }}", self._docstring(module)]
            parts += [self._members(module)]
        return "\n\n".join(part for part in parts if part) + "\n"

    def _members(self, module: griffe.Object | griffe.Alias) -> str:
        parts = []
        for one in members(module):
            kind = "class" if one.is_class else "function"
            parts += [f"### {kind} `{one.name}` {{ #{one.canonical_path} }}", signature(one)]
            parts += [self._docstring(one)]
            for member in methods(one):
                parts += [
                    f"#### `{one.name}.{member.name}` {{ #{member.canonical_path} }}",
                    signature(member),
                    self._docstring(member),
                ]
        return "\n\n".join(part for part in parts if part)

    def _docstring(self, found: griffe.Object | griffe.Alias) -> str:
        if found.docstring is None:
            return ""
        return "\n\n".join(
            self._section(section, found)
            for section in found.docstring.parse("google", warnings=False)
        )

    def _section(self, section: griffe.DocstringSection, found: Any) -> str:
        kind = section.kind.value
        if kind == "text":
            return self._prose(section.value, found)
        if kind in _NAMED:
            rows = [self._row(item, found) for item in section.value]
            return f"**{_NAMED[kind]}**\n\n" + "\n".join(rows)
        if kind in ("returns", "yields"):
            rows = [self._prose(item.description, found) for item in section.value]
            return f"**{kind.capitalize()}** " + " ".join(rows)
        return self._prose(str(section.value), found)

    def _row(self, item: Any, found: Any) -> str:
        name = str(getattr(item, "name", item.annotation))
        text = " ".join(self._prose(item.description, found).split())
        return f"- `{name}`: {text}"

    def _prose(self, text: str, found: Any) -> str:
        """Return a part of a docstring as Markdown."""
        # Every second part is an example.
        parts = _EXAMPLE.split(text)
        parts[1::2] = [f"```pycon\n{part}\n```" for part in parts[1::2]]
        parts[::2] = [self._linked(part, found) for part in parts[::2]]
        return "\n".join(parts).strip()

    def _linked(self, text: str, found: Any) -> str:
        text = _LIST.sub(r"\1\n\n", text).replace("::\n", ":\n")
        text = _ROLE.sub(lambda role: self._link(role[1], found), text)
        parts = _CODE.split(_LITERAL.sub(r"`\1`", text))
        parts[::2] = [part.replace("<", "&lt;").replace("$", r"\$") for part in parts[::2]]
        return "".join(parts)

    def _link(self, name: str, found: Any) -> str:
        scopes = [found.canonical_path, found.module.canonical_path, ""]
        for scope in scopes:
            path = f"{scope}.{name}" if scope else name
            if path in self._places:
                return f"[`{name}`]({self._places[path]}.md#{path})"
        return f"`{name}`"


def packages(package: Any) -> Iterator[Any]:
    """Iterate over a package and the packages in it, without kernels and programs."""
    yield package
    for name in sorted(package.modules):
        member = package.modules[name]
        if not member.is_alias and member.is_init_module and name not in _NO_PAGE:
            yield from packages(member)


def modules(package: Any) -> list[Any]:
    """Return a package and its own public modules, in the order of their names."""
    own = [
        package.modules[name]
        for name in sorted(package.modules)
        if not name.startswith("_")
        and not package.modules[name].is_alias
        and not package.modules[name].is_init_module
    ]
    return [package, *own]


def members(module: Any) -> list[Any]:
    """Return the public classes and functions of a module, with those that it exports."""
    exported = module.exports or ()
    found = []
    for name, member in module.members.items():
        if member.is_alias and module.path != "beam_topics":
            continue
        if name.startswith("_") or (member.is_alias and name not in exported):
            continue
        if member.is_class or member.is_function:
            found.append(member)
    return found


def methods(one: Any) -> list[Any]:
    """Return the public methods and properties of a class that have docstrings."""
    if not one.is_class:
        return []
    return [
        member
        for name, member in one.members.items()
        if not name.startswith("_")
        and not member.is_alias
        and (member.is_function or "property" in member.labels)
        and member.docstring is not None
    ]


def signature(one: Any) -> str:
    """Return the signature of a class, a function or a property as a block of code."""
    if one.is_class:
        head, given, returned = f"class {one.name}", _parameters(one), None
    elif one.is_function:
        head, given, returned = one.name, _parameters(one), one.returns
    else:
        return f"```python\n{one.name}: {one.annotation}\n```"
    tail = f" -> {returned}" if returned is not None else ""
    line = f"{head}({', '.join(given)}){tail}"
    if len(line) > _MOST:
        line = f"{head}(\n    " + ",\n    ".join(given) + f",\n){tail}"
    return f"```python\n{line}\n```"


def _parameters(one: Any) -> list[str]:
    given: list[str] = []
    for parameter in one.parameters:
        if parameter.name in ("self", "cls"):
            continue
        kind = parameter.kind
        if kind is griffe.ParameterKind.keyword_only and not any(p.startswith("*") for p in given):
            given.append("*")
        star = {
            griffe.ParameterKind.var_positional: "*",
            griffe.ParameterKind.var_keyword: "**",
        }.get(kind, "")
        text = star + parameter.name
        if parameter.annotation is not None:
            text += f": {parameter.annotation}"
        if parameter.default is not None and not star:
            text += f" = {_default(str(parameter.default))}"
        given.append(text)
    return given


def _default(code: str) -> str:
    """Return a default as it is written; that of a settings field stands in its declaration."""
    call = ast.parse(code, mode="eval").body
    if isinstance(call, ast.Call) and getattr(call.func, "id", "") in _DECLARATIONS and call.args:
        return ast.unparse(call.args[0])
    return code


def pages_of(root: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of a page for each package, and of one that lists them."""
    reference = Reference(root)
    for name in reference.pages:
        yield f"reference/{name}.md", reference.page(name)
    listed = [f"- [`{name}`]({name}.md)" for name in reference.pages]
    yield "reference/python.md", "\n".join(["# Python packages", "", *listed, ""])
