"""Figures of sweeps by matplotlib (an extra), the paper's claims about them, and whether our numbers agree."""
