"""The viewer: a local web page to look through datasets and runs, to change a concept by hand and see what follows."""
