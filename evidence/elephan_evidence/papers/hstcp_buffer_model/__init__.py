"""HighSpeed TCP and the size of a router's buffer: Figures 3 to 8, and the fixed points beside them.

*Source*: Barman2004.
"""
