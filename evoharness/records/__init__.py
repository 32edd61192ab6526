"""The data that rooms pass to each other: types only, imported by every room, importing none."""
