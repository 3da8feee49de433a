"""Prices from outside the shipped catalogs: read, matched to machines, judged, kept, and laid over the shipped ones."""
