"""What a node holds beside its GPUs: host memory and disk."""
