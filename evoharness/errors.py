"""Mistakes of the user, told in one line."""


class UserError(Exception):
    """Something the user can put right; entry points print the message and exit with 2."""
