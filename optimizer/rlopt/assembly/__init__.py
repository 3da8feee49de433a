"""A chosen joint column as a plan, with its bill; and the audit that no solver has met."""
