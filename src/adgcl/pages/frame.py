"""The frame of every page: style, scripts and data inside, a policy that lets nothing in or out."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from adgcl.core.safe_text import printable_value
from adgcl.pages.drawing.scale import scale_css

_STYLE = "style.css"


def render(template: str, *, title: str, scripts: Sequence[str] = (), data: Any = None, **content: Any) -> str:
    """A page from `templates/{template}.html`; `scripts` are files of the same folder, `data` is what they read.

    Whatever comes from files is escaped by the template engine. Should anything slip through, the policy stops it: a
    script runs only if its checksum is in the policy, and nothing can be requested.
    """
    style = f"{_file(_STYLE)}\n{scale_css()}"
    code = "\n".join(map(_file, scripts))
    frame = _environment().get_template(f"{template}.html")
    page: str = frame.render(
        title=title,
        style=_safe(style),
        script=_safe(code) if code else "",
        policy=_policy(code),
        data=_safe(as_json(data)) if data is not None else "",
        **content,
    )
    return page


def as_json(value: Any) -> str:
    """JSON that can stand inside a page: no character of it can end a script or begin a tag."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def picture(svg: str) -> Any:
    """An SVG made by `drawing`, which has escaped what it was given."""
    return _safe(svg)


def _policy(code: str) -> str:
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    scripts = f"script-src 'sha256-{digest}'; " if code else ""
    return f"default-src 'none'; {scripts}style-src 'unsafe-inline'; img-src data:"


@cache
def _file(name: str) -> str:
    return files("adgcl.pages").joinpath(f"templates/{name}").read_text(encoding="utf-8")


@cache
def _environment() -> Any:
    from jinja2 import Environment, FunctionLoader

    made = Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(_file),
        finalize=printable_value,
    )
    made.filters |= {"percent": _percent, "short": _short, "thousands": lambda number: f"{number:,}"}
    return made


def _percent(value: float, digits: int = 0) -> str:
    return "–" if value != value else f"{100 * value:.{digits}f}%"


def _short(value: float, digits: int = 3) -> str:
    return "–" if value is None or value != value else f"{value:.{digits}f}"


def _safe(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)


def attributes(values: Mapping[str, Any]) -> Any:
    """`data-` attributes of an element, escaped."""
    from markupsafe import Markup, escape

    shown = ((name, escape(printable_value(value))) for name, value in values.items())
    return Markup(" ").join(Markup('data-{}="{}"').format(name, value) for name, value in shown)
