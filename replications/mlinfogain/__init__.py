"""R. Pereira, A. Plastino, B. Zadrozny and L. Merschmann (2015): information gain for multi-label feature selection."""
