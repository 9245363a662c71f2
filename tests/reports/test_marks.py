"""Parts of a page between marks."""

from __future__ import annotations

import pytest

from adgcl.reports.formats.marks import is_marked, put_between

PAGE = "before\n<!-- a:begin -->\nold\n<!-- a:end -->\nafter <!-- b:end --> <!-- b:begin -->\n"


def test_only_what_is_between_the_marks_changes():
    made = put_between(PAGE, "a", "new")
    assert made == PAGE.replace("old", "new") and put_between(made, "a", "old") == PAGE


@pytest.mark.parametrize("name", ["b", "c"])
def test_a_page_without_the_marks_in_order_is_left_alone(name):
    assert not is_marked(PAGE, name)
    with pytest.raises(ValueError, match=f"no <!-- {name}:begin -->"):
        put_between(PAGE, name, "new")
