"""The tables of what each kind of file may hold. Reading, error messages and JSON Schema are made from them."""
