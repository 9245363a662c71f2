"""Settings as the text of a TOML file, which `--config` reads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any


def to_toml(tree: Mapping[str, Any], comment: str = "") -> str:
    """Nested settings as TOML; what has no value is left out, since TOML has no word for that."""
    lines = [f"# {line}" for line in comment.splitlines()]
    for name, section in tree.items():
        lines += _section(name, section)
    return "\n".join(lines).strip() + "\n"


def _section(name: str, tree: Mapping[str, Any]) -> Iterator[str]:
    plain = {key: value for key, value in tree.items() if not isinstance(value, Mapping) and value is not None}
    if plain:
        yield from ("", f"[{name}]")
        yield from (f"{_key(key)} = {_value(value)}" for key, value in plain.items())
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _section(f"{name}.{_key(key)}", value)


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    # JSON writes text, numbers, true and false as TOML does, apart from one character that it leaves as it is.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
