"""What comes from elsewhere: the job history of a machine, as its scheduler's accounting or an archive wrote it."""
