"""Figures: what a size or a run looks like. Reads results, computes none."""
