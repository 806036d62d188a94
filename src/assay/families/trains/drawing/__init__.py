"""Toy trains and rows of blocks in three dimensions: cars, loads, roofs, engine, rails, backgrounds, scenes.

Lengths are those of a car's own modelling: a long car takes 3.54 along x, is 1.67 wide, and z = 0 is the ground that
the rails lie on. The scene scales them down.
"""
