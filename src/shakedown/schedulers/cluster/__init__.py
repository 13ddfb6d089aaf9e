"""What every batch scheduler shares: job scripts, marks, packs of outputs, targets."""
