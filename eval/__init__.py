"""Measurements: pure functions of a text table and an image table, and the report they end in."""
