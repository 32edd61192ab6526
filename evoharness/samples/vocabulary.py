"""The words that recordings are made of: fields of work, colours, shapes and places.

No step, caption or label contains a colour or a shape, so that a word read on the screen is never
mistaken for a thing seen there. Numbers avoid the digits that small print confuses.
"""

from dataclasses import dataclass

COLOURS: dict[str, tuple[int, int, int]] = {
    "red": (214, 44, 44),
    "orange": (242, 138, 28),
    "yellow": (242, 216, 48),
    "green": (44, 158, 68),
    "blue": (44, 92, 216),
    "purple": (136, 58, 176),
    "pink": (244, 134, 188),
    "brown": (122, 74, 38),
    "white": (246, 246, 246),
    "black": (18, 18, 18),
}
"""Ordinary colour names and their RGB values (0-255)."""

UNSEEN = {"dark": ("black", "brown"), "light": ("white",)}
"""Colours that do not stand out against a background of each tone."""

SHAPES = ("circle", "square", "triangle", "star", "diamond", "hexagon", "ring", "cross", "heart", "arrow")
"""Everyday names of the outlines that a thing can have."""

COLUMNS = {"left": 0.17, "centre": 0.5, "right": 0.83}
"""Centre of each column, as a fraction of the width."""
ROWS = {"top": 0.23, "middle": 0.49, "bottom": 0.74}
"""Centre of each row, as a fraction of the height."""

PLACES: dict[str, tuple[float, float]] = {
    "top left": (COLUMNS["left"], ROWS["top"]),
    "top centre": (COLUMNS["centre"], ROWS["top"]),
    "top right": (COLUMNS["right"], ROWS["top"]),
    "middle left": (COLUMNS["left"], ROWS["middle"]),
    "centre": (COLUMNS["centre"], ROWS["middle"]),
    "middle right": (COLUMNS["right"], ROWS["middle"]),
    "bottom left": (COLUMNS["left"], ROWS["bottom"]),
    "bottom centre": (COLUMNS["centre"], ROWS["bottom"]),
    "bottom right": (COLUMNS["right"], ROWS["bottom"]),
}
"""Nine places of the picture and their centres, as fractions of width and height."""

NUMBERS = tuple(n for n in range(12, 98) if not set(str(n)) & set("015"))
"""Two-digit numbers whose digits stay apart in small print."""

BLINK_NOUNS = ("Check", "Batch", "Code", "Take", "Scan", "Page", "Signal", "Round")
"""What a text that blinks for a moment begins with."""


@dataclass(frozen=True)
class Field:
    """One field of work: what is done there, with what, and what is measured."""

    name: str
    """How one would name the field: "workshop work"."""
    titles: tuple[str, ...]
    verbs: tuple[str, ...]
    adjectives: tuple[str, ...]
    things: tuple[str, ...]
    quantities: tuple[tuple[str, str, int, int], ...]
    """Name, unit, lowest and highest value of what a gauge shows."""
    labels: tuple[str, ...]
    """Nouns that small labels begin with."""
    troubles: tuple[str, ...]
    """What can be wrong with one thing: "is loose"."""

    def quantity(self, reading: str) -> tuple[int, int]:
        """Lowest and highest value of what a reading such as "Pressure 240 kPa" measures."""
        return next(
            (low, high)
            for name, unit, low, high in self.quantities
            if reading.startswith(f"{name} ") and reading.endswith(f" {unit}")
        )


FIELDS: tuple[Field, ...] = (
    Field(
        "workshop work",
        ("Servicing a bench drill", "Rebuilding a hand pump", "Truing a bicycle wheel",
         "Fitting a gearbox seal",
         "Setting up a lathe", "Repairing a garage door"),
        ("Tighten", "Loosen", "Oil", "Align", "Remove", "Mount", "File", "Clamp", "Sand", "Measure"),
        ("front", "rear", "upper", "lower", "spare", "worn"),
        ("bearing", "bracket", "spindle", "gasket", "pulley", "valve", "washer", "axle", "clutch", "hinge",
         "sleeve", "spring", "lever", "flange"),
        (("Torque", "Nm", 12, 97), ("Speed", "rpm", 220, 980), ("Pressure", "kPa", 120, 970)),
        ("Bolt", "Bin", "Shaft", "Drawer"),
        ("is loose", "is cracked", "is too hot", "is bent", "is leaking"),
    ),
    Field(
        "kitchen work",
        ("Baking a country loaf", "Making fresh noodles", "Preserving summer fruit", "Filling a layer cake",
         "Cooking a fish stew", "Rolling thin pastry"),
        ("Whisk", "Chop", "Fold", "Strain", "Knead", "Season", "Chill", "Warm", "Slice", "Stir"),
        ("fresh", "dried", "warm", "coarse", "sweet", "second"),
        ("dough", "onions", "butter", "broth", "carrots", "batter", "cream", "lentils", "herbs", "sauce",
         "noodles", "flour", "pears", "glaze"),
        (("Oven", "C", 120, 240), ("Weight", "g", 120, 980), ("Timer", "min", 12, 97)),
        ("Jar", "Shelf", "Bowl", "Tin"),
        ("is too thin", "is burning", "is still raw", "is too salty", "has split"),
    ),
    Field(
        "laboratory work",
        ("Preparing a cell culture", "Running a gel", "Titrating an acid", "Purifying a protein",
         "Calibrating a balance", "Growing salt crystals"),
        ("Store", "Rinse", "Seal", "Dilute", "Weigh", "Filter", "Shake", "Heat", "Cool", "Discard"),
        ("first", "clean", "sterile", "empty", "diluted", "outer"),
        ("flask", "pipette", "beaker", "sample", "buffer", "membrane", "funnel", "vial", "stopper", "burner",
         "syringe", "solvent", "pellet", "thermometer"),
        (("Temperature", "C", 22, 97), ("Voltage", "mV", 120, 980), ("Mass", "mg", 220, 970)),
        ("Tube", "Rack", "Plate", "Vessel"),
        ("is contaminated", "is empty", "is too warm", "has cracked", "is blocked"),
    ),
    Field(
        "garden work",
        ("Planting a rose bed", "Pruning an apple tree", "Laying a gravel path", "Raising tomato seedlings",
         "Building a compost bin", "Restoring a lawn"),
        ("Water", "Prune", "Dig", "Rake", "Plant", "Mulch", "Stake", "Weed", "Trim", "Cover"),
        ("young", "tall", "dry", "sunny", "northern", "crowded"),
        ("hedge", "seedlings", "border", "trench", "shrub", "soil", "ivy", "lawn", "bulbs", "vines",
         "compost", "branches", "pots", "fern"),
        (("Moisture", "percent", 12, 97), ("Depth", "mm", 120, 480), ("Spacing", "cm", 22, 96)),
        ("Bed", "Plot", "Pot", "Crate"),
        ("is too dry", "is rotting", "is full of slugs", "has wilted", "is flooded"),
    ),
    Field(
        "office work",
        ("Archiving a year of files", "Setting up a meeting room", "Preparing a mailing",
         "Closing the monthly books",
         "Moving a help desk", "Onboarding a colleague"),
        ("Sort", "Print", "Staple", "Scan", "Copy", "File away", "Shred", "Update", "Sign", "Archive"),
        ("monthly", "missing", "final", "signed", "old", "spare"),
        ("invoice", "folder", "contract", "badge", "envelope", "calendar", "ledger", "receipt",
         "keyboard", "drawer",
         "report", "binder", "memo", "printer"),
        (("Queue", "jobs", 12, 97), ("Budget", "units", 220, 980), ("Progress", "percent", 12, 97)),
        ("Desk", "Cabinet", "Room", "Locker"),
        ("is out of date", "is jammed", "is missing", "is unsigned", "is locked"),
    ),
    Field(
        "surgery training",
        ("Closing a skin wound", "Placing a chest drain", "Tying surgical knots", "Removing a gallbladder",
         "Draping for a hip repair", "Suturing a tendon"),
        ("Clip", "Retract", "Divide", "Suture", "Irrigate", "Expose", "Clamp", "Dissect", "Inspect", "Dress"),
        ("deep", "outer", "torn", "distal", "proximal", "cystic"),
        ("artery", "duct", "fascia", "wound", "tendon", "vein", "margin", "nerve", "ligament", "drain",
         "stump", "muscle", "tissue", "port"),
        (("Pulse", "bpm", 62, 124), ("Pressure", "mmHg", 72, 147), ("Suction", "ml", 120, 480)),
        ("Needle", "Probe", "Tray", "Swab"),
        ("is bleeding", "is under tension", "is unclear", "has slipped", "is swollen"),
    ),
    Field(
        "electronics work",
        ("Soldering a radio kit", "Replacing a phone battery", "Wiring a control cabinet",
         "Testing a power supply",
         "Assembling a drone", "Repairing an amplifier"),
        ("Solder", "Unplug", "Test", "Replace", "Strip", "Insulate", "Connect", "Crimp", "Desolder",
         "Shield"),
        ("main", "blown", "second", "outer", "tiny", "charged"),
        ("capacitor", "resistor", "cable", "fuse", "antenna", "battery", "connector", "relay", "speaker",
         "sensor",
         "terminal", "switch", "heatsink", "diode"),
        (("Current", "mA", 120, 980), ("Voltage", "mV", 220, 970), ("Charge", "percent", 12, 97)),
        ("Pin", "Slot", "Socket", "Module"),
        ("is short-circuited", "is overheating", "is unplugged", "has corroded", "is reversed"),
    ),
    Field(
        "painting and decorating",
        ("Restoring a sash window", "Papering a stairwell", "Plastering a ceiling", "Varnishing an oak floor",
         "Tiling a splashback", "Rendering a garden wall"),
        ("Mask", "Prime", "Scrape", "Varnish", "Fill", "Wipe", "Smooth", "Paste", "Grout", "Dust"),
        ("inner", "bare", "damp", "narrow", "upper", "flaking"),
        ("frame", "skirting", "ceiling", "panel", "corner", "doorway", "plaster", "sill", "floorboards",
         "trim",
         "wallpaper", "tiles", "ladder", "radiator"),
        (("Humidity", "percent", 22, 97), ("Thickness", "mm", 12, 97), ("Coverage", "ml", 220, 980)),
        ("Wall", "Sheet", "Tile", "Tub"),
        ("is peeling", "is still wet", "is uneven", "has cracked", "is stained"),
    ),
)  # fmt: skip
"""The fields that recordings are drawn from."""


def field_named(name: str) -> Field:
    """The field of that name; StopIteration when there is none."""
    return next(field for field in FIELDS if field.name == name)


REMARKS = (
    "Keep the {thing} in view",
    "Do not rush the {thing}",
    "Two people hold the {thing}",
    "Look closely at the {thing}",
    "Put the {thing} first here",
    "Mind the {thing} from now on",
    "Ask about the {thing} later",
    "Give the {thing} a rest",
)
"""Captions that a presenter adds; each names one thing of the field."""


def plural(noun: str) -> str:
    """The plural of a shape: "cross" gives "crosses"."""
    return noun + ("es" if noun.endswith(("s", "x")) else "s")


def is_plural(thing: str) -> bool:
    """Whether a thing of a field is more than one, as "onions" are."""
    return thing.endswith("s")


def wrong_with(thing: str, trouble: str) -> str:
    """What is wrong, in the number of the thing: "is loose" gives "are loose" for "tiles"."""
    verb, _, rest = trouble.partition(" ")
    return f"{ {'is': 'are', 'has': 'have'}[verb] if is_plural(thing) else verb } {rest}"


def with_article(words: str) -> str:
    """The words with "a" or "an" before them."""
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"
