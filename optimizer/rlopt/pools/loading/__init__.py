"""How samples of a data set reach the pools that train."""
