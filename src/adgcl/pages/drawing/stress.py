"""A layout for any graph: distances on paper as near as possible to distances in the graph, always the same."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Places = npt.NDArray[np.float64]
_ROUNDS = 60
_GAP = 1.2


def stress_layout(num_nodes: int, pairs: npt.NDArray[np.integer]) -> Places:
    """Positions `[nodes, 2]` with neighbours about 1 apart; components stand beside one another, largest first."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(len(pairs))
    adjacency = coo_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(num_nodes, num_nodes)).tocsr()
    count, part = connected_components(adjacency, directed=False)
    sizes = np.bincount(part, minlength=count)
    shelf = max(4.0, 1.6 * np.sqrt(num_nodes))
    places, x, y, row = np.zeros((num_nodes, 2)), 0.0, 0.0, 0.0
    for number in np.argsort(-sizes, kind="stable"):
        nodes = np.flatnonzero(part == number)
        own = _one_component(adjacency[nodes][:, nodes])
        own -= own.min(axis=0)
        width, height = own.max(axis=0)
        if x > 0 and x + width > shelf:
            x, y, row = 0.0, y + row + _GAP, 0.0
        places[nodes] = own + np.array([x, y])
        x, row = x + width + _GAP, max(row, height)
    return places


def _one_component(adjacency: object) -> Places:
    """Stress majorisation (Gansner et al. 2004) from the directions of classical scaling."""
    from scipy.sparse.csgraph import shortest_path

    distance = shortest_path(adjacency, directed=False, unweighted=True)
    count = len(distance)
    if count == 1:
        return np.zeros((1, 2))
    places = _classical(distance)
    weight = np.zeros_like(distance)
    np.divide(1.0, distance**2, out=weight, where=distance > 0)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    # One node stays where it is: the rest of the system can be solved.
    factor = np.linalg.inv(laplacian[1:, 1:])
    pull = weight * distance
    for _ in range(_ROUNDS):
        gap = places[:, None] - places[None]
        length = np.sqrt((gap**2).sum(axis=2))
        share = np.divide(pull, length, out=np.zeros_like(length), where=length > 1e-9)
        target = (share[:, :, None] * gap).sum(axis=1)
        moved = np.zeros_like(places)
        moved[1:] = factor @ target[1:]
        if np.abs(moved - moved.mean(axis=0) - places + places.mean(axis=0)).max() < 1e-3:
            places = moved
            break
        places = moved
    return _turned(places)


def _classical(distance: Places) -> Places:
    """Principal coordinates; where they coincide, a small fixed shift per node tells nodes apart."""
    centred = distance**2
    centred = -0.5 * (centred - centred.mean(0) - centred.mean(1)[:, None] + centred.mean())
    values, vectors = np.linalg.eigh(centred)
    places = vectors[:, -2:][:, ::-1] * np.sqrt(np.maximum(values[-2:][::-1], 0.0))
    if places.shape[1] < 2:
        places = np.pad(places, ((0, 0), (0, 2 - places.shape[1])))
    angle = 2.4 * np.arange(len(places))  # the golden angle
    return places + 0.05 * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _turned(places: Places) -> Places:
    """The long side lies across, and signs do not depend on the solver."""
    centred = places - places.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    turned = centred @ axes.T
    for column in range(2):
        if turned[np.abs(turned[:, column]).argmax(), column] < 0:
            turned[:, column] *= -1
    result: Places = turned
    return result
