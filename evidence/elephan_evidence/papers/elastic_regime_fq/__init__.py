"""Augé and Roberts 2006: buffers for elastic traffic, HighSpeed TCP, and per-flow fair queueing."""
