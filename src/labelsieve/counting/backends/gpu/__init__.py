"""Counting on NVIDIA GPUs: ``backend="gpu"``. Codes go to the GPU once; sums come back, or stay there for the scores.

Read ``backend`` first; ``counting`` has what is in the memory of the GPU, ``kernels`` launches the CUDA code.
"""
