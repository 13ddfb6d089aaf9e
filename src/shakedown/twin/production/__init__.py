"""A year of production: the scheduler's core alone, on jobs in columns, with a workload read from a trace or made by a model.

It has neither the twin's ports nor its events: a million jobs leave one record each and nothing else.
"""
