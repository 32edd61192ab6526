"""The common form of a word's inflections: *closes*, *closed* and *closing* are one."""

import re
from functools import lru_cache

_IRREGULAR = {
    "came": "come", "went": "go", "gone": "go", "became": "become", "began": "begin", "begun": "begin",
    "fell": "fall", "fallen": "fall", "took": "take", "taken": "take", "held": "hold", "wrote": "write",
    "written": "write", "said": "say", "spoke": "speak", "spoken": "speak", "drew": "draw", "drawn": "draw",
    "gave": "give", "given": "give", "made": "make", "kept": "keep", "men": "man", "women": "woman",
    "people": "person", "children": "child", "ran": "run", "sat": "sit", "stood": "stand", "rose": "rise",
    "risen": "rise", "grew": "grow", "grown": "grow", "shrank": "shrink", "shrunk": "shrink", "told": "tell",
    "brought": "bring", "caught": "catch", "thrown": "throw", "threw": "throw", "ate": "eat", "eaten": "eat",
    "found": "find", "lost": "lose", "hid": "hide", "hidden": "hide", "chosen": "choose", "chose": "choose",
    "broke": "break", "broken": "break", "drove": "drive", "driven": "drive", "flew": "fly", "flown": "fly",
    "bought": "buy", "sold": "sell", "built": "build", "cutting": "cut", "putting": "put", "lying": "lie",
    "dying": "die", "tying": "tie",
    "moving": "move", "leaving": "leave", "leaves": "leave", "colour": "color",
    "colours": "color", "coloured": "color", "colored": "color", "colors": "color", "grey": "gray",
    "centre": "center", "centres": "center", "knives": "knife", "reappears": "reappear",
}  # fmt: skip


def _strip_suffix(word: str) -> str:
    for suffix, least in (("ing", 3), ("ed", 3), ("es", 3), ("s", 3)):
        if not word.endswith(suffix) or len(word) - len(suffix) < least or word.endswith("ss"):
            continue
        root = word[: -len(suffix)]
        if suffix in ("ing", "ed") and not re.search(r"[aeiouy]", root):
            continue
        if suffix == "es" and not re.search(r"(?:s|x|z|ch|sh|o)$", root):
            return root + "e"
        if suffix in ("ing", "ed") and len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz":
            root = root[:-1]
        return root
    return word


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The common form of a word's inflections; not always a word itself."""
    word = _IRREGULAR.get(word, word)
    if len(word) <= 3 or not word.isalpha():
        return word
    if (word.endswith("ies") and len(word) > 4) or (word.endswith("ied") and len(word) > 4):
        word = word[:-3] + "y"
    else:
        word = _strip_suffix(word)
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    return word
