"""Models of HSTCP and of queues read a second time, from the papers' text, in plain Python and by other methods."""
