"""The compiled step: a whole update of a narrow network without autograd, in loops over flat buffers.

At the paper's width (32) a step in torch is some two thousand small calls, and they take longer than the arithmetic.
Here it is a dozen. `choice.py` says which methods and settings have a compiled step; everything else is trained by the
method's own `step`, which also stays the definition that tests hold this folder against.
"""
