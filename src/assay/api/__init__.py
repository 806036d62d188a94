"""What a notebook calls: one function for each verb of the command line, with plain Python in and out."""
