"""What every record shares: frozen, strict about unknown fields, documented field by field."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """An immutable value that is passed between rooms or written to disk."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
