"""How the rows of the first layer enter the equations; start with `interface`."""
