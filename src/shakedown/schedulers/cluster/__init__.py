"""What every batch scheduler shares: job scripts, marks, targets."""
