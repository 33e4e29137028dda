#!/usr/bin/env python3
"""Trains the decision trees with which crates/content/src/main_content/classifier.rs scores blocks of text.

  crates/content/score/train.py CORPUS

Builds the example `samples` (with the release profile, in CARGO_TARGET_DIR), reads the blocks of every page of the
corpus, prints scores, trains on all pages and writes classifier.trees. Needs numpy and lightgbm 4.7 besides
requirements.txt. The seed is fixed: the same corpus and code give the same trees.

The scores are computed from blocks, without the rules that follow the trees. "unseen" is what to expect on other sites: the
trees that decide on a page were trained without any page of its site (three groups of sites). "seen" uses the final
trees, which know every page.
"""
import collections
import gzip
import hashlib
import json
import math
import os
import re
import struct
import subprocess
import sys
from urllib.parse import urlparse

os.environ["OMP_NUM_THREADS"] = "1"
import lightgbm as lgb  # noqa: E402
import numpy as np  # noqa: E402

(corpus,) = sys.argv[1:]
sys.path.insert(0, corpus)
import score as S  # noqa: E402

PROJECT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
TARGET = os.path.join(PROJECT, "crates/content/src/main_content/classifier.trees")
SUITES = ("article", "typed", "traps", "phrases")
GROUPS = 3
WORDS, TAG, H1, TITLED = 1, 11, 3, 16  # features used in this file
UNIT = 4096
PHRASE_WEIGHT = 0.1  # a page whose text is known weighs about 1.5, one of phrases PHRASE_WEIGHT for each phrase
PARAMETERS = dict(
    objective="cross_entropy", learning_rate=0.12, num_leaves=10, min_data_in_leaf=150, feature_fraction=0.4,
    bagging_fraction=0.7, bagging_freq=1, lambda_l2=5.0, max_bin=63, min_sum_hessian_in_leaf=3, seed=1,
    num_threads=1, force_col_wise=True, verbose=-1)
ROUNDS = 100


def fold(text):
    return re.sub(r"\s+", " ", text).strip()


def site_group(page, url):
    """Returns the group of a page's site: the last two or three labels of its host."""
    archived = re.match(r"https?://web\.archive\.org/web/[^/]*/(?:https?://)?([^/:]+)", url)
    named = re.match(r"\w+::([a-z0-9.-]+\.[a-z]{2,})", url)
    host = (archived or named).group(1) if archived or named else urlparse(url).hostname or page
    labels = host.lower().split(".")
    short = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in ("ac", "co", "com", "edu", "gov", "net", "org")
    site = ".".join(labels[-3 if short else -2:])
    site = page if site == "example.com" else site  # the traps are pages of their own
    return int(hashlib.md5(site.encode()).hexdigest(), 16) % GROUPS


def labels(texts, truth):
    """Returns the words of each block, and the share of them that is content."""
    known = set(S.shingles(S.words(truth)))
    joined = " %s " % " ".join(S.words(truth))
    words = [S.words(text) for text in texts]
    stream = [w for ws in words for w in ws]
    share, start = [], 0
    for ws in words:
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
        start += len(ws)
    return words, np.array(share)


def known_text(answer, texts, features):
    words, share = labels(texts, answer["text"])
    sizes = np.array([len(w) for w in words])
    length = len(S.words(answer["text"]))
    weight = np.minimum(sizes, 400) / (0.5 * length + 0.5 * min(max(sizes.sum(), 1), 3 * length) + 30)
    titles = (features[:, TAG] == H1) & (features[:, TITLED] > 0)
    weight = np.where(titles, np.maximum(weight * 6, weight.mean() * 3), weight)
    kind = answer["type"] if answer["suite"] == "typed" else answer["suite"]
    return dict(kind=kind if answer["suite"] != "article" else "news", words=words, share=share, weight=weight,
                truth=S.shingles(S.words(answer["text"])))


def known_phrases(answer, texts):
    """Only blocks with a phrase are learned from: what the others are is not known."""
    share, weight = np.zeros(len(texts)), np.zeros(len(texts))
    for phrases, content in ((answer["with"], 1.0), (answer["without"], 0.0)):
        for phrase in map(fold, phrases):
            hits = [i for i, text in enumerate(texts) if phrase in text]
            for i in hits:
                share[i] = content
                weight[i] += PHRASE_WEIGHT / len(hits)
    return dict(kind="phrases", texts=texts, share=share, weight=weight, wanted=[*map(fold, answer["with"])],
                unwanted=[*map(fold, answer["without"])])


def pages():
    truth = {t["id"]: t for t in S.rows(os.path.join(corpus, "truth.jsonl.gz"))}
    truth.update((t["id"], t) for t in S.rows(os.path.join(corpus, "truth-phrases.jsonl.gz")))
    for suite in SUITES:
        packed = os.path.join(corpus, "pages-%s.jsonl.gz" % suite)
        urls = {row["id"]: row.get("url") or "" for row in S.rows(packed)}
        command = ["cargo", "run", "--quiet", "--release", "--package", "harvestman-content", "--example", "samples"]
        html = gzip.open(packed).read()
        lines = subprocess.run(command, cwd=PROJECT, input=html, stdout=subprocess.PIPE, check=True).stdout
        for row in map(json.loads, lines.splitlines()):
            answer = truth[row["id"]]
            if not row["blocks"] or (suite != "phrases" and answer.get("text") is None):
                continue
            texts = [fold(text) for text, _ in row["blocks"]]
            features = np.array([f for _, f in row["blocks"]], dtype=np.int32)
            page = known_phrases(answer, texts) if suite == "phrases" else known_text(answer, texts, features)
            yield dict(page, features=features, group=site_group(row["id"], urls[row["id"]]))


def grow(chosen):
    known = [p["weight"] > 0 for p in chosen]
    column = lambda name: np.concatenate([p[name][k] for p, k in zip(chosen, known)])  # noqa: E731
    weight = column("weight")
    # Of the many blocks of very small weight a part is enough; those weigh more instead.
    chance = np.minimum(1, weight / (0.5 * weight.mean()) + 0.05)
    some = np.random.default_rng(1).random(len(weight)) < chance
    weight = (weight / chance)[some]
    data = lgb.Dataset(column("features")[some].astype(np.float32), column("share")[some], weight=weight / weight.mean())
    return lgb.train(PARAMETERS, data, num_boost_round=ROUNDS)


def kept(page, chances):
    """Returns which blocks are kept with the cut of best expected F1, as in classifier.rs."""
    sizes = np.maximum(page["features"][:, WORDS], 1)
    order = np.argsort(-chances, kind="stable")
    right, taken = np.cumsum((chances * sizes)[order]), np.cumsum(sizes[order])
    return chances >= chances[order][int(np.argmax(2 * right / (taken + right[-1])))]


def scores(every, chances):
    found, counts = collections.defaultdict(list), collections.Counter()
    for page, of_page in zip(every, chances):
        keep = kept(page, of_page)
        if page["kind"] == "phrases":
            text = " ".join(text for text, stays in zip(page["texts"], keep) if stays)
            counts["wanted"] += len(page["wanted"])
            counts["right"] += sum(phrase in text for phrase in page["wanted"])
            counts["wrong"] += sum(phrase in text for phrase in page["unwanted"])
        else:
            words = [w for stays, ws in zip(keep, page["words"]) if stays for w in ws]
            found[page["kind"]].append(S.prf(S.shingles(words), page["truth"])[2])
    out = {kind: np.mean(found[kind]) for kind in ("news", "traps", *S.TYPES)}
    out["typed macro"] = np.mean([np.mean(found[t]) for t in S.TYPES])
    out["typed not article"] = np.mean([f for t in S.TYPES[1:] for f in found[t]])
    out["phrases precision"] = counts["right"] / (counts["right"] + counts["wrong"])
    out["phrases recall"] = counts["right"] / counts["wanted"]
    out["phrases F1"] = 2 * counts["right"] / (counts["right"] + counts["wrong"] + counts["wanted"])
    return out


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
    with open(TARGET, "wb") as out:
        out.write(struct.pack("<%di" % len(numbers), *numbers))


def main():
    every = list(pages())
    unseen = [None] * len(every)
    for group in range(GROUPS):
        model = grow([p for p in every if p["group"] != group])
        for i, page in enumerate(every):
            if page["group"] == group:
                unseen[i] = model.predict(page["features"])
    model = grow(every)
    seen = scores(every, [model.predict(page["features"]) for page in every])
    print("%-20s %7s %7s" % ("", "unseen", "seen"))
    for name, value in scores(every, unseen).items():
        print("%-20s %7.4f %7.4f" % (name, value, seen[name]))
    write(model)


main()
