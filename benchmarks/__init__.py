"""Long measurements, run by `make verify`."""
