"""The values of `proofs-1.json`, computed again."""

import hashlib

from .hashes import compact_range
from .primitives import FormatError
from .proofs import (
    Proof, Refused, Tree, check_consistency, check_inclusion, consistency_path, encode_mark,
    inclusion_path, parse_mark, parse_tile_name, tile_levels, tile_name,
)


def vector_leaves(count):
    return [hashlib.sha256(index.to_bytes(8, "little")).digest() for index in range(count)]


def compare_proofs(compare, vectors):
    tree = Tree(vector_leaves(20))
    roots = [tree.root(0, size) for size in range(21)]
    compare.equal("roots", [root.hex() for root in roots], vectors["roots"])
    for case in vectors["inclusion"]:
        index, size = case["index"], case["size"]
        path = inclusion_path(tree, index, size)
        compare.equal(f"inclusion of {index} in {size}", [step.hex() for step in path],
                      case["path"])
        compare.equal(f"check of {index} in {size}", None,
                      refusal(check_inclusion, index, size, tree.leaves[index], roots[size], path))
    for case in vectors["consistency"]:
        first, size = case["from"], case["size"]
        path = consistency_path(tree, first, size)
        compare.equal(f"consistency of {first} and {size}", [step.hex() for step in path],
                      case["path"])
        compare.equal(f"check of {first} and {size}", None,
                      refusal(check_consistency, first, size, roots[first], roots[size], path))
    compare_tiles(compare, vectors)
    compare_texts(compare, vectors)


def refusal(check, *arguments):
    try:
        check(*arguments)
    except Refused as error:
        return str(error)
    return None


def compare_tiles(compare, vectors):
    for case in vectors["tileNames"]:
        tile = case["level"], int(case["index"]), case["width"]
        compare.equal(f"name of {tile}", tile_name(*tile), case["name"])
        compare.equal(f"tile {case['name']}", parse_tile_name(case["name"]), tile)
    for name in vectors["noTileNames"]:
        compare.refused(name, lambda name=name: parse_tile_name(name))
    for case in vectors["tiles"]:
        leaves = vector_leaves(case["size"])
        levels = [hashlib.sha256(level).hexdigest() for level in tile_levels(leaves)]
        compare.equal(f"levels of {case['size']}", levels, case["levels"])
        current = compact_range(leaves)
        compare.equal(f"mark of {case['size']}", encode_mark(current).hex(), case["mark"])
        mark = parse_mark(bytes.fromhex(case["mark"]))
        compare.equal(f"size of the mark of {case['size']}", mark.size, case["size"])
        compare.equal(f"nodes of the mark of {case['size']}", mark.nodes, current.nodes)


def compare_texts(compare, vectors):
    for case in vectors["texts"]:
        try:
            holds = Proof(case["text"]).holds()
        except FormatError as error:
            holds = str(error)
        compare.equal(f"text: {case['shows']}", holds, case["holds"])
    for case in vectors["noTexts"]:
        compare.refused(f"no text: {case['shows']}", lambda case=case: Proof(case["text"]))
