"""Japanese for reading assistance: conjugation, forms of changed trees, checks and readings."""
