"""Commands by which people steer a campaign: each leaves a request in its inbox, one file a command."""
