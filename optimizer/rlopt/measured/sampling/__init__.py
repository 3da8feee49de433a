"""Measured generation."""
