"""Implementations of published algorithms that share no code with elephan, as independent checks."""
