"""Interventions: which concepts to ask about, who answers, and what the answers do to the labels."""
