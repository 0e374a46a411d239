"""K. Sechidis, N. Nikolaou and G. Brown (2014): composite likelihood for multi-label feature selection."""
