"""Pools that sample: engines, alone, mixed, or on the machines that train."""
