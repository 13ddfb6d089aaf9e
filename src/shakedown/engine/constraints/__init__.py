"""What holds work back: budgets, overrides, clocks, held queues. For each queue there is one reason."""
