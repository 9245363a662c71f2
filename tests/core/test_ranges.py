"""Ranges beside settings: found through classes, written by users, and always wide enough for the start."""

from __future__ import annotations

from typing import Literal

import pytest
from pydantic import Field

from adgcl.core.config import Config
from adgcl.core.errors import ConfigError
from adgcl.core.ranges import Range, parse_range, ranges_of, searched


class Inner(Config):
    softness: float = Field(1.0, json_schema_extra=searched(0.5, 2.0))


class Outer(Config):
    rate: float = Field(1e-3, json_schema_extra=searched(1e-4, 1e-2, log=True))
    depth: int = Field(3, json_schema_extra=searched(1, 5))
    kind: Literal["a", "b"] = Field("a", json_schema_extra=searched(choices=("a", "b")))
    fixed: int = 7
    inner: Inner = Inner()


class Heir(Outer):
    rate: float = Field(1e-2, description="another default")


def test_ranges_stand_beside_settings():
    assert dict(ranges_of(Outer)) == {
        "rate": Range(1e-4, 1e-2, log=True),
        "depth": Range(1, 5, integer=True),
        "kind": Range(choices=("a", "b")),
        "inner.softness": Range(0.5, 2.0),
    }
    assert dict(ranges_of(Heir)) == dict(ranges_of(Outer)), "another default loses no range"


@pytest.mark.parametrize(
    ("range_", "value", "wider"),
    [
        (Range(1, 5, integer=True), 9, Range(1, 9, integer=True)),
        (Range(0.1, 1.0, log=True), 0.01, Range(0.01, 1.0, log=True)),
        (Range(0.1, 1.0, log=True), 0.0, Range(0.1, 1.0, log=True)),
        (Range(choices=(16, 32)), 300, Range(choices=(16, 32, 300))),
        (Range(0.0, 1.0), None, Range(0.0, 1.0)),
    ],
)
def test_the_start_belongs_to_a_range_where_it_can(range_: Range, value: object, wider: Range):
    assert range_.including(value) == wider
    assert wider.holds(value) == (value not in (0.0, None))


def test_values_are_short_and_stay_inside():
    range_ = Range(0.12341, 0.5)
    assert range_.tidy(0.234567891) == 0.2346
    assert range_.tidy(0.123411) == 0.12341, "rounding never leaves the range"
    assert Range(choices=("a",)).tidy("a") == "a" and Range(1, 5, integer=True).tidy(3) == 3


@pytest.mark.parametrize(
    ("text", "like", "read"),
    [
        ("0.5..2", Range(0.1, 1.0, log=True), Range(0.5, 2.0, log=True)),
        ("2..4", Range(1, 9, integer=True), Range(2, 4, integer=True)),
        ("16,64", Range(choices=(32, 64)), Range(choices=(16, 64))),
        ("mean,max", Range(choices=("sum", "mean")), Range(choices=("mean", "max"))),
        ("true", Range(choices=(False, True)), Range(choices=(True,))),
        ("0.1, 0.2", Range(0.0, 1.0), Range(choices=(0.1, 0.2))),
        ("2,3", Range(1, 9, integer=True), Range(choices=(2, 3))),
    ],
)
def test_users_write_ranges(text: str, like: Range, read: Range):
    found = parse_range(text, like)
    assert found == read and list(map(type, found.choices)) == list(map(type, read.choices))


@pytest.mark.parametrize("text", ["", "5..1", "0..1", "a..b", ",", "1..", "x,y"])
def test_what_is_no_range_is_an_error(text: str):
    with pytest.raises(ConfigError, match="Cannot read the range"):
        parse_range(text, Range(0.1, 10.0, log=True))
