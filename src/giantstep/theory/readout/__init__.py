"""What a fit of the readout on these features gives: fixed points, losses, errors."""
