"""Harnesses by fingerprint: immutable folders below one root."""

import shutil
from pathlib import Path

from evoharness.errors import UserError
from evoharness.harness.folder import load_harness, save_harness
from evoharness.harness.harness import Harness


class HarnessStore:
    """Keeps each harness once, in `<root>/<fingerprint>/`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, fingerprint: str) -> Path:
        """Where the harness of that fingerprint lies, or would lie."""
        return self.root / fingerprint

    def put(self, harness: Harness) -> str:
        """Keep a harness, and return its fingerprint; nothing is written when it is there already.

        UserError when it cannot be written.
        """
        folder = self.path(harness.fingerprint)
        try:
            if not folder.exists():
                self._save(harness, folder)
        except OSError as error:
            raise UserError(f"cannot keep a harness in {self.root}: {error.strerror or error}") from error
        return harness.fingerprint

    def _save(self, harness: Harness, folder: Path) -> None:
        try:
            save_harness(harness, folder)
        except UserError:
            if not folder.exists():  # else another process was first with the same content
                raise
            for stray in self.root.glob(f".{folder.name}.*"):
                shutil.rmtree(stray, ignore_errors=True)

    def get(self, fingerprint: str) -> Harness:
        """The harness of that fingerprint; UserError when there is none, or when it was changed."""
        harness = load_harness(self.path(fingerprint))
        if harness.fingerprint != fingerprint:
            raise UserError(f"{self.path(fingerprint)} holds the harness {harness.fingerprint}")
        return harness
