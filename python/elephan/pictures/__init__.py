"""Pictures and tables as plain data: what they show, in which units, and what is said of it; drawn by other layers."""
