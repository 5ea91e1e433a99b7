"""Andrew et al. 2005: buffers for Reno flows whose round-trip times differ."""
