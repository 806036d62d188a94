"""Symbolic learners: programs, rules, trees and other learners on concepts. No module here imports torch by itself."""
