"""Verbs that this distribution adds to the command line of elephan."""
