"""Commands that people give to a campaign: each becomes one event, or a refusal. ``registry`` lists them."""
