"""Make the page of a report: one file that loads nothing and runs nothing but its own scripts.

The content security policy of the page names the digest of each script and style, so a browser
refuses any other. Text of documents reaches the page in two ways: through Jinja2, which escapes it,
and as JSON, from which the scripts make text nodes.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from beam_topics.model.errors import BeamTopicsError
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.reporting.figures import Sources, figures_of
from beam_topics.model.reporting.mixtures import Limits
from beam_topics.model.reporting.now import Newest
from beam_topics.model.reporting.shown import Shown

SCRIPTS = (
    "dom",
    "data",
    "table",
    "charts",
    "map",
    "tree",
    "overview",
    "topic_view",
    "word_view",
    "document_view",
    "time_view",
    "health_view",
    "search",
    "main",
)
# Change the catalogue of the service, and listen to it, where it serves the page.
SERVED = ("edit", "follow")
# Characters that could end a script element or a line of a script.
_ESCAPED = "<>&\u2028\u2029"


def check_installed() -> None:
    """Refuse to go on without Jinja2."""
    if importlib.util.find_spec("jinja2") is None:
        raise BeamTopicsError("a report needs Jinja2. Run: pip install 'jinja2>=3.1,<4'")


def page_of_store(
    store: ModelStore, shown: Shown, served: bool = False, newest: Newest | None = None
) -> str:
    """Return the page of a version, with the newest trends and stories and no texts."""
    history, limits = store.with_models(shown.manifest), Limits.of(len(shown.topics))
    told = (newest or Newest()).told(shown, history, limits.name)
    sources = Sources(history, shown, store.get_snapshot, told=told)
    return render(figures_of(sources, limits), "Topics", served)


def render(figures: Mapping[str, Any], title: str, served: bool = False) -> str:
    """Return the page as HTML; one that is served follows the versions of its service."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    own = "\n".join(_part(f"static/{name}.js") for name in (*SCRIPTS, *SERVED * served))
    scripts = [_part("vendor/uPlot.iife.min.js"), f"(() => {{\n{own}\n}})();\n"]
    styles = [_part("vendor/uPlot.min.css"), _part("static/report.css")]
    pages = Environment(
        loader=PackageLoader("beam_topics.pipelines.pages"),
        autoescape=True,
        undefined=StrictUndefined,
    )
    return pages.get_template("report.html").render(
        title=title,
        figures=figures,
        policy=policy(scripts, styles, served),
        data=Markup(json_for_script(figures)),
        scripts=list(map(Markup, scripts)),
        styles=list(map(Markup, styles)),
    )


def policy(scripts: Sequence[str], styles: Sequence[str], served: bool) -> str:
    """Return a content security policy: these scripts and styles alone, and the service if any."""
    allowed = {
        "default-src": ["'none'"],
        "script-src": list(map(_hash, scripts)),
        "style-src": list(map(_hash, styles)),
        "img-src": ["data:"],
        **({"connect-src": ["'self'"]} if served else {}),
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }
    return "; ".join(" ".join([name, *values]) for name, values in allowed.items())


def json_for_script(value: Any) -> str:
    r"""Return JSON that may stand in a script element, whatever texts it holds.

    >>> print(json_for_script("</script>"))
    "\u003c/script\u003e"
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in _ESCAPED:
        text = text.replace(character, f"\\u{ord(character):04x}")
    # A lone surrogate cannot be written as UTF-8.
    return text.encode("utf-8", "replace").decode()


def _part(path: str) -> str:
    return files("beam_topics.pipelines.pages").joinpath(path).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
