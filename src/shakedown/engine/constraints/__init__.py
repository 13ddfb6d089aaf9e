"""What holds work back: budgets, overrides, clocks, held queues; one reason for each queue."""
