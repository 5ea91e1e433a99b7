"""Gentle HighSpeed TCP and gentle adaptive RED: the tables and figures of Zhang, Hasegawa and Murata (2005)."""
