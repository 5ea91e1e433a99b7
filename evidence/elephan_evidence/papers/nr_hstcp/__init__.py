"""The fifth paper: NR-HSTCP."""
