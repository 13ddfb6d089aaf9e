"""What a session reads and stores for its campaign: documents, environments, differences, entries in the register."""
