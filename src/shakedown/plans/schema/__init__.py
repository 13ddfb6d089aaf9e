"""The tables that say what each kind of file may hold; reading, errors and JSON Schema come from them."""
