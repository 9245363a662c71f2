"""What is written as TOML reads back as it was."""

from __future__ import annotations

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from adgcl.core.toml_text import to_toml

_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_number = st.floats(allow_nan=False, allow_infinity=False)
_plain = st.one_of(_text, st.booleans(), st.integers(-(2**63), 2**63 - 1), _number)
_values = st.one_of(_plain, st.lists(_plain, max_size=3))
_section = st.dictionaries(_text, _values, min_size=1, max_size=4)


@given(st.dictionaries(st.sampled_from(["method", "encoder"]), _section, max_size=2), _section)
def test_settings_read_back(tree: dict, inner: dict):
    whole = {**tree, "training": {"epochs": 3, "nested": inner}}
    assert tomllib.loads(to_toml(whole, "a comment\nof two lines")) == whole


def test_what_has_no_value_is_left_out():
    assert to_toml({"method": {"name": "adgcl", "budget": None, "empty": {}}}) == '[method]\nname = "adgcl"\n'
