"""Figures and tables as plain data: contents, units and descriptions; other layers draw them."""
