"""The exact search over joint columns, its bounds, its oracle, and the program that proves the choice."""
