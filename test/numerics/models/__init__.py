"""Small programs of the kinds that people train, each a function of a mesh."""
from . import attention, control, experts, lookup, manual, mlp, order, random_bits, recurrent, vision


def cases():
    found = []
    for module in (mlp, attention, vision, recurrent, experts, lookup, manual, control, order, random_bits):
        found += module.CASES
    return found
