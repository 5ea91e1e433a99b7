"""The running kernel behind a TUN device: scripts in real time, and recorded connections."""
