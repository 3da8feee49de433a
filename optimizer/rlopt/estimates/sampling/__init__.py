"""Engines that sample: memory, rates, seconds."""
