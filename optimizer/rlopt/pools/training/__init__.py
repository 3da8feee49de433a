"""Pools that train: layouts, memory and seconds."""
