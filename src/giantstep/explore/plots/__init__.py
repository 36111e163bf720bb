"""The plots of the page, one module for each tab: made for a view, then updated by answers."""
