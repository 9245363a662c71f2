"""The command in a Record: what matters of what was typed."""

from __future__ import annotations

import pytest

from adgcl.cli.typed import public_words


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("evaluate MUTAG --method adgcl --out /home/me/r --seeds 3", "evaluate MUTAG --method adgcl --seeds 3"),
        ("evaluate --work=/home/me/runs MUTAG --quiet --json", "evaluate MUTAG"),
        (
            "--debug evaluate runs/mine my.csv --set update=simultaneous",
            "evaluate runs/mine my.csv --set update=simultaneous",
        ),
        (
            "reproduce table1-tu --formats txt md --datasets MUTAG DD --jobs 2 --max-hours 0.5 --mode both",
            "reproduce table1-tu --datasets MUTAG DD --mode both",
        ),
        ("sweep -q -o /home/me/s -j 2 --grid reg_lambda=1,2 -s lr=-1", "sweep --grid reg_lambda=1,2 -s lr=-1"),
        ("evaluate MUTAG -m adgcl -o/home/me/r -j2 --seeds 3", "evaluate MUTAG -m adgcl --seeds 3"),
        ("tune x.csv --label-column -5 -q", "tune x.csv --label-column -5"),
    ],
)
def test_folders_and_noise_are_left_out(typed, kept):
    assert public_words(typed.split()) == kept.split()
