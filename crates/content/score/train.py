#!/usr/bin/env python3
"""Trains the decision trees with which crates/content/src/main_content/classifier.rs scores blocks of text.

  crates/content/score/train.py CORPUS

Builds the example `samples` (with the release profile, in CARGO_TARGET_DIR), reads the blocks of every page of the
corpus, trains on all pages, writes classifier.trees and prints scores. Needs numpy and lightgbm 4.7 besides
requirements.txt. The seed is fixed: the same corpus and code give the same trees.

The scores are those of the Markdown (`cargo xtask score`). "unseen" is what to expect on other sites: the trees that
decide on a page were trained without any page of its site (five groups of sites). "seen" uses the final trees, which
know every page.
"""
import gzip
import hashlib
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
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
GROUPS = 5
TAG, H1, TITLED = 11, 3, 16  # features used in this file
UNIT = 4096
PHRASE_WEIGHT = 0.1  # a page whose text is known weighs about 1.5, one of phrases PHRASE_WEIGHT for each phrase
PARAMETERS = dict(
    objective="cross_entropy", learning_rate=0.12, num_leaves=10, min_data_in_leaf=150, feature_fraction_bynode=0.2,
    bagging_fraction=0.7, bagging_freq=1, lambda_l2=5.0, max_bin=63, min_sum_hessian_in_leaf=3,
    num_threads=1, force_col_wise=True, verbose=-1)
ROUNDS = 100
SEEDS = (1, 3)  # the mean of several runs is steadier on unseen sites
FIGURES = ("article.f1", "traps.f1", *("typed.%s.f1" % kind for kind in S.TYPES), "typed.macro_f1", "typed.nonarticle.f1",
           "typed.with", "typed.without", "typed.struct", "traps.struct", "phrases.precision", "phrases.recall",
           "phrases.f1")


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
    return [lgb.train(dict(PARAMETERS, seed=seed), data, num_boost_round=ROUNDS) for seed in SEEDS]


def convert(group, trees):
    """Converts the pages of a group of sites (all with None) with other trees; returns lines of JSON."""
    command = ["cargo", "run", "--quiet", "--release", "--package", "harvestman-content", "--example", "convert", "--",
               "--main", "--fragments", "--trees", trees]
    lines = b""
    for suite in SUITES:
        rows = gzip.open(os.path.join(corpus, "pages-%s.jsonl.gz" % suite)).readlines()
        chosen = [row for row in rows if group in (None, group_of(row))]
        lines += subprocess.run(command, cwd=PROJECT, input=b"".join(chosen), stdout=subprocess.PIPE, check=True).stdout
    return lines


def group_of(row):
    page = json.loads(row)
    return site_group(page["id"], page.get("url") or "")


def scores(lines):
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as results:
        results.write(lines)
        results.flush()
        got = {row["id"]: row for row in S.rows(results.name)}
        phrases = [sys.executable, "-B", os.path.join(corpus, "phrases.py"), results.name, "--json"]
        out = json.loads(subprocess.run(phrases, stdout=subprocess.PIPE, check=True).stdout)
    out.update(S.score(list(S.rows(os.path.join(corpus, "truth.jsonl.gz"))), got)[0])
    return out


def write(models, path):
    numbers = []
    trees = [tree for model in models for tree in model.dump_model()["tree_info"]]
    for tree in trees:
        splits, leaves = [], []

        def walk(node):
            if "split_feature" not in node:
                leaves.append(round(node["leaf_value"] * UNIT / len(models)))
                return -len(leaves)
            at = len(splits)
            splits.append(None)
            left, right = walk(node["left_child"]), walk(node["right_child"])
            splits[at] = (node["split_feature"], left, right, math.floor(node["threshold"]))
            return at

        walk(tree["tree_structure"])
        numbers += [len(splits), *(n for split in splits for n in split), *leaves]
    numbers.insert(0, len(trees))
    with open(path, "wb") as out:
        out.write(struct.pack("<%di" % len(numbers), *numbers))


def main():
    every = list(pages())
    lines = b""
    with tempfile.TemporaryDirectory() as folder:
        trees = os.path.join(folder, "unseen.trees")
        for group in range(GROUPS):
            write(grow([page for page in every if page["group"] != group]), trees)
            lines += convert(group, trees)
    write(grow(every), TARGET)
    unseen, seen = scores(lines), scores(convert(None, TARGET))
    print("%-20s %7s %7s" % ("", "unseen", "seen"))
    for name in FIGURES:
        print("%-20s %7.4f %7.4f" % (name, unseen[name], seen[name]))


main()
