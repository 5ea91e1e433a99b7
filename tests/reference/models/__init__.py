"""Models of HSTCP and of queues implemented a second time, from the papers' text, in plain Python and by other
methods."""
