"""What the gradient steps leave: spike, alignment and bulk, and the features that they make."""
