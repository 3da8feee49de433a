"""Fits of the shipped constants on the published measurements, and their errors out of sample."""
