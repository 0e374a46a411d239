"""L. Sun and M. Kudo (2017): optimization of classifier chains via conditional likelihood maximization."""
