"""Plans, frontiers and catalogs for people and spreadsheets: text for the terminal, CSV for tables.

One module per form; each is a pure function from a finished object to text or to Rich renderables, and
`console` alone knows the terminal.
"""
