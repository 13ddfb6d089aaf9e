"""Dashboards for Grafana, as JSON: one for each kind of server that holds our data."""
