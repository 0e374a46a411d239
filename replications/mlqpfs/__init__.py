"""M. Soheili and A. M. Eftekhari Moghadam: multi-label feature selection by quadratic programming."""
