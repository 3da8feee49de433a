"""A local Hugging Face config.json as a model."""
