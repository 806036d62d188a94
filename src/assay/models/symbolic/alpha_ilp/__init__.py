"""Differentiable inductive logic programming: clauses by beam search, weighed by gradients on uncertain concepts."""
