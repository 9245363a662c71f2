"""Folds of our own are scikit-learn's, draw for draw."""

from __future__ import annotations

import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from adgcl.data.folds import Random, plain_folds, shuffled, stratified_folds_of, taken_out

SEEDS = st.none() | st.integers(0, 2**32 - 1)


def folds_of(splitter, count, labels=None):
    folds = np.empty(count, dtype=np.intp)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for k, (_, test) in enumerate(splitter.split(np.zeros(count), labels)):
            folds[test] = k
    return folds


@settings(max_examples=200, deadline=None)
@given(count=st.integers(2, 60), num_folds=st.integers(2, 12), seed=SEEDS)
def test_plain_folds(count, num_folds, seed):
    num_folds = min(num_folds, count)
    theirs = folds_of(KFold(num_folds, shuffle=seed is not None, random_state=seed), count)
    assert np.array_equal(plain_folds(count, num_folds, shuffled(seed)), theirs)


@settings(max_examples=200, deadline=None)
@given(
    labels=st.lists(st.sampled_from([0.0, 1.0, 2.0, 7.0, -1.0]), min_size=4, max_size=60), seed=SEEDS, data=st.data()
)
def test_stratified_folds(labels, seed, data):
    """Also where classes appear in another order than they sort, and where some are smaller than the folds."""
    largest = int(np.unique(labels, return_counts=True)[1].max())
    num_folds = data.draw(st.integers(2, max(2, largest)))
    if largest < num_folds:
        return
    theirs = folds_of(StratifiedKFold(num_folds, shuffle=seed is not None, random_state=seed), len(labels), labels)
    assert np.array_equal(stratified_folds_of(labels, num_folds, shuffled(seed)), theirs)


@settings(max_examples=100, deadline=None)
@given(count=st.integers(3, 80), share=st.floats(0.05, 0.6), seed=st.integers(0, 2**32 - 1))
def test_taken_out_goes_on_with_the_same_random_numbers(count, share, seed):
    rows, ours, theirs = np.arange(count) * 3, Random(seed), Random(seed)
    for _ in range(2):
        expected = train_test_split(rows, test_size=share, random_state=theirs)
        for mine, other in zip(taken_out(rows, share, ours), expected):
            assert np.array_equal(mine, other)
