"""Bytes that stay: copies, tiers, backups, compression."""
