"""Configurations of others: files, saved plans, launch scripts."""
