#!/usr/bin/env python3
"""Trains the decision trees with which crates/content/src/main_content/classifier.rs scores blocks of text.

  cargo build --release -p harvestman-content --example samples
  for suite in article typed traps; do zcat CORPUS/pages-$suite.jsonl.gz | target/release/examples/samples; done > samples.jsonl
  train.py CORPUS samples.jsonl crates/content/src/main_content/classifier.trees

Prints the F1 of the pages in each third of the corpus with trees trained on the other two thirds (the F1 to expect on
unseen pages; `cargo xtask score` only uses pages that the trees were trained on), then trains the trees on all pages.
Needs numpy and lightgbm 4.7; the same samples give the same trees.
"""
import collections
import hashlib
import math
import os
import struct
import sys

import lightgbm as lgb
import numpy as np

corpus, samples, target = sys.argv[1:]
sys.path.insert(0, corpus)
import score as S  # noqa: E402

WORDS, TAG, H1, TITLED = 1, 11, 3, 16  # features used in this file
UNIT = 4096
PARAMETERS = dict(
    objective="cross_entropy", learning_rate=0.12, num_leaves=10, min_data_in_leaf=150, feature_fraction=0.4,
    bagging_fraction=0.7, bagging_freq=1, lambda_l2=5.0, max_bin=63, min_sum_hessian_in_leaf=3, seed=1,
    num_threads=1, force_col_wise=True, verbose=-1)
ROUNDS = 100


def labels(blocks, truth):
    """Returns the words of each block, and the share of them that is content."""
    known = set(S.shingles(S.words(truth)))
    joined = " %s " % " ".join(S.words(truth))
    words = [S.words(text) for text, _ in blocks]
    flat = [(i, w) for i, ws in enumerate(words) for w in ws]
    starts, at = [], 0
    for ws in words:
        starts.append(at)
        at += len(ws)
    stream = [w for _, w in flat]
    share = []
    for ws, start in zip(words, starts):
        if not ws:
            share.append(0.5)
        elif len(ws) >= S.N:
            own = S.shingles(ws)
            share.append(sum(s in known for s in own) / len(own))
        elif " %s " % " ".join(ws) not in joined:
            share.append(0.0)
        else:  # too short on its own: its neighbours must be adjacent in the reference text, too
            around = range(max(0, start - S.N + 1), start + len(ws))
            share.append(1.0 if any(tuple(stream[i:i + S.N]) in known for i in around) else 0.15)
    return words, np.array(share)


def pages():
    truth = {t["id"]: t for t in S.rows(os.path.join(corpus, "truth.jsonl.gz"))}
    for row in S.rows(samples):
        answer = truth[row["id"]]
        if answer.get("text") is None or not row["blocks"]:
            continue
        words, share = labels(row["blocks"], answer["text"])
        features = np.array([f for _, f in row["blocks"]], dtype=np.int32)
        sizes = np.array([len(w) for w in words])
        length = len(S.words(answer["text"]))
        weight = np.minimum(sizes, 400) / (0.5 * length + 0.5 * min(max(sizes.sum(), 1), 3 * length) + 30)
        titles = (features[:, TAG] == H1) & (features[:, TITLED] > 0)
        weight = np.where(titles, np.maximum(weight * 6, weight.mean() * 3), weight)
        kind = answer["type"] if answer["suite"] == "typed" else answer["suite"].upper()
        part = int(hashlib.md5(row["id"].encode()).hexdigest(), 16) % 3
        yield dict(kind=kind, part=part, words=words, share=share, features=features, weight=weight,
                   truth=S.shingles(S.words(answer["text"])))


def grow(chosen):
    weight = np.concatenate([p["weight"] for p in chosen])
    data = lgb.Dataset(np.concatenate([p["features"] for p in chosen]), np.concatenate([p["share"] for p in chosen]),
                       weight=weight / weight.mean())
    return lgb.train(PARAMETERS, data, num_boost_round=ROUNDS)


def f1(page, chances):
    """Returns the F1 of a page with the cut of best expected F1, as in classifier.rs."""
    sizes = np.maximum(page["features"][:, WORDS], 1)
    order = np.argsort(-chances, kind="stable")
    right, taken = np.cumsum((chances * sizes)[order]), np.cumsum(sizes[order])
    best = int(np.argmax(2 * right / (taken + right[-1])))
    kept = chances >= chances[order][best]
    words = [w for keep, ws in zip(kept, page["words"]) if keep for w in ws]
    return S.prf(S.shingles(words), page["truth"])[2]


def write(model):
    numbers = []
    trees = model.dump_model()["tree_info"]
    for tree in trees:
        splits, leaves = [], []

        def walk(node):
            if "split_feature" not in node:
                leaves.append(round(node["leaf_value"] * UNIT))
                return -len(leaves)
            at = len(splits)
            splits.append(None)
            left, right = walk(node["left_child"]), walk(node["right_child"])
            splits[at] = (node["split_feature"], left, right, math.floor(node["threshold"]))
            return at

        walk(tree["tree_structure"])
        numbers += [len(splits), *(n for split in splits for n in split), *leaves]
    numbers.insert(0, len(trees))
    with open(target, "wb") as out:
        out.write(struct.pack("<%di" % len(numbers), *numbers))


def main():
    every = list(pages())
    found = collections.defaultdict(list)
    for part in range(3):
        model = grow([p for p in every if p["part"] != part])
        for page in (p for p in every if p["part"] == part):
            found[page["kind"]].append(f1(page, model.predict(page["features"])))
    for kind in sorted(found):
        print("%-16s %.4f" % (kind, np.mean(found[kind])))
    print("%-16s %.4f" % ("typed macro", np.mean([np.mean(found[t]) for t in S.TYPES])))
    print("%-16s %.4f" % ("typed not article", np.mean([f for t in S.TYPES[1:] for f in found[t]])))
    write(grow(every))


main()
