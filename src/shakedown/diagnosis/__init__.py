"""Findings about the machine from the record, with their certainty and evidence. Pure functions.

``node_report.examine_nodes`` finds the nodes that are over-represented among failed runs and among slow runs.
"""
