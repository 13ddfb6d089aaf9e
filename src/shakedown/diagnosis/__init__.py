"""What the record says about the machine beyond verdicts: findings, with how sure they are and the evidence. Pure.

``node_report.examine_nodes`` asks which nodes are over-represented among the runs that failed, and among the slow ones.
"""
