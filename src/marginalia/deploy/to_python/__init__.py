"""The parts of an exported Python program: joined into one file, with a model's data at its end.

They import the standard library and one another only; `deploy/export.py` leaves out the latter imports.
"""
