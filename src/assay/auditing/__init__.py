"""The audit of a dataset: is it what it claims to be, and can its labels be had without its concepts?"""
