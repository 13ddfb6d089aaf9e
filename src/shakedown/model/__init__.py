"""Floor 1: the frozen nouns, their units, the errors and the protocols. Imports nothing of ours but itself."""
