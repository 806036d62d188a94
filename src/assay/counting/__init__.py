"""How many readings of the concepts keep every training label right? One is the truth; every other is a shortcut."""
