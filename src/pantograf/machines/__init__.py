"""Each file or folder here is a machine, named as the machine."""
