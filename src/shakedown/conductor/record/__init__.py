"""What a session reads and keeps of its campaign: documents, environments, differences."""
