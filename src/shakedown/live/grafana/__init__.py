"""Dashboards for Grafana, as JSON: one for each kind of server that holds what we tell it."""
