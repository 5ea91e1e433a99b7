"""Readings of published algorithms that share no code with elephan: independent implementations to check it by."""
