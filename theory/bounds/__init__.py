"""The bounds as plain functions, by subject; nothing here knows the claims."""
