"""Readings of published algorithms that share no code with the laboratory: the second hand of its checks."""
