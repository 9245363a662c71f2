"""What was learned, in numbers: which edges an augmenter drops, which graphs are alike, where they lie on a map."""
