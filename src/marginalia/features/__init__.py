"""Feature templates: our language, CRF++'s, Wapiti's and ready-made sets, compiled for the native core.

Tagging needs only `program` and `compiling`; the parsers in `loading` and beside it are for training.
"""
