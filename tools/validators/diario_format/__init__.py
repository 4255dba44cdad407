"""Rows, hashes, blocks and the log of Diario, written a second time from `schema/format/`.

Each module says which document it follows. Nothing here was taken from the
program, so that an error in one of the two shows as a difference between them.
"""
