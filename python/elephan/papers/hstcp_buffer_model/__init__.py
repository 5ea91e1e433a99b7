"""The first paper."""
