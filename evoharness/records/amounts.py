"""Numbers of things, in words of English."""


def how_many(number: int, noun: str) -> str:
    """`1 call`, `1,204 calls`: for nouns whose plural ends in s."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def agreeing(number: int, one: str, more: str) -> str:
    """The form of a word that goes with so many: `agreeing(1, "is", "are")` is `is`."""
    return one if number == 1 else more
