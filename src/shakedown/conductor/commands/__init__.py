"""What people may ask of a running campaign: each command becomes one event, or a refusal. ``registry`` lists them."""
