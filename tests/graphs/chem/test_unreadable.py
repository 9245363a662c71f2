"""Every text that is no SMILES has a reason, and stops nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adgcl.graphs.chem.molecules import NoMoleculesError, molecules_to_store
from adgcl.graphs.chem.unreadable import shown, why_unreadable


@pytest.mark.parametrize(
    "text, reason",
    [
        ("C" + "\u2014" * 300, "'—' at position 2 is not a SMILES character"),
        ("C\u2014C", "'—' at position 2 is not a SMILES character"),
        ("CC\u2019", "'’' at position 3 is not a SMILES character"),
        ("C\u200bC", r"'\u200b' at position 2 is not a SMILES character"),
        ("C\udcffC", r"'\udcff' at position 2 is not a SMILES character"),
        ("CCx " + "\u2014" * 300, "syntax error around position 3"),
        ("[" * 200_000, "longer than 6,000 characters"),
    ],
    ids=ascii,
)
def test_texts_that_once_stopped_a_table(text, reason):
    read = molecules_to_store(["CC", text, "CCC"])
    assert read.kept.tolist() == [0, 2]
    assert read.failures[0].reason == reason
    assert read.failures[0].smiles == text.replace("\udcff", "?")


def test_a_title_may_have_any_letters():
    assert molecules_to_store(["CCO Äthanol — rein"]).failures == ()


@settings(deadline=None, max_examples=200)
@given(st.text(st.sampled_from("CNOc1()[]=#@/\\+-.%*:|$ \t—é\udc80\0\n"), max_size=30))
def test_any_text_is_a_molecule_or_has_a_reason(text):
    read = molecules_to_store(["C", text])
    assert len(read.store) + len(read.failures) == 2
    for failure in read.failures:
        assert failure.reason and failure.smiles.encode("utf-8") is not None


def test_long_texts_are_shown_short():
    assert shown("CC") == "'CC'" and len(shown("C" * 1000)) < 70
    with pytest.raises(NoMoleculesError) as caught:
        molecules_to_store(["C" * 100_000])
    assert len(str(caught.value)) < 300
    assert caught.value.failures[0].smiles == "C" * 100_000


def test_objects_that_are_no_text():
    assert why_unreadable(7) == "not text but int" and why_unreadable(float("nan")) == "missing"
