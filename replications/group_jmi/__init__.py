"""K. Sechidis, E. Spyromitros-Xioufis and I. Vlahavas (2019): multi-target feature selection by output space quantization."""
