"""Readability: how hard sentences and texts are for a kind of reader, learned from comparisons, and why."""
