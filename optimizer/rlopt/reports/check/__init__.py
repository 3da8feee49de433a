"""The sentences of `rlopt check`: what follows from a request, and what is left at a default."""
