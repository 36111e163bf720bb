"""Features and target given the projection of an input on the spike: Result 3.2."""
