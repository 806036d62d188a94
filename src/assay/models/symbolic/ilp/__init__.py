"""Inductive logic programming: clauses over objects from examples, by our own learner, Aleph or Popper."""
