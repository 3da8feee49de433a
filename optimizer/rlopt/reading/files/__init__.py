"""YAML files with the place of every key: layers, overrides, complaints."""
