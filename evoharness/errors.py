"""Mistakes of the user, told in one line."""


class UserError(Exception):
    """Something the user can put right; entry points print the message and exit with 2."""


class StoppedEarly(Exception):
    """Work that ended where it was asked to; what it had done is kept, and it can be taken up again."""
