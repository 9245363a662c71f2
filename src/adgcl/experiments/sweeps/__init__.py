"""Sweeps: any setting over a grid, on several data sets with several seeds, every trial kept; presets as TOML."""
