"""What an author of algorithms touches: the vocabulary, and the front ends that turn a program's source into GraphIR."""
