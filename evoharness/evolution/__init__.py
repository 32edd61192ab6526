"""Evolution of a harness: rounds of diagnosis, proposals, screening and a gate."""
