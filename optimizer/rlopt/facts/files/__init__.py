"""The files of the catalogs, read into facts."""
