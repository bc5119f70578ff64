"""Speed of captioning and of scoring: python benchmarks/captioning.py CAPTIONS [--decoder DECODER]

CAPTIONS is a captions file with several captions an image. Scoring takes the first caption of up
to 5,000 images against the others; writing takes remembered rows of the decoder, all in batches and
some one by one.
"""

import argparse
import time
from itertools import islice

import torch

from bridge.captions import iter_captions
from bridge.decode import Decoding, load_decoder
from eval.captioning import measure_captions
from eval.ptb import chosen


def scoring(path: str, images: int) -> None:
    told: dict[str, list[str]] = {}
    for caption in iter_captions(path):
        told.setdefault(caption.image_id, []).append(caption.text)
    several = {key: texts for key, texts in told.items() if len(texts) > 1}
    some = dict(islice(several.items(), images))
    first = {image_id: texts[0] for image_id, texts in some.items()}
    for tokenizer in dict.fromkeys([chosen("auto"), "python"]):
        start = time.perf_counter()
        report = measure_captions({"captions": first}, some, tokenizer=tokenizer)
        seconds = time.perf_counter() - start
        mean = report.settings["references_per_image"][1]
        print(
            f"scoring {len(some)} images x {mean:.1f} references, CIDEr BLEU ROUGE and levels, "
            f"{tokenizer} tokens: {seconds:.1f} s"
        )


def writing(folder: str, rows: int, alone: int) -> None:
    decoder = load_decoder(folder)
    some = decoder.memory.table.rows[:rows].float()
    for beams in (1, 4):
        how = Decoding(beams=beams)
        list(decoder.captions(some[:8], how))
        start = time.perf_counter()
        together = [found[0].text for found in decoder.captions(some, how)]
        batched = rows / (time.perf_counter() - start)
        start = time.perf_counter()
        each = [next(decoder.captions(row[None], how))[0].text for row in some[:alone]]
        singly = alone / (time.perf_counter() - start)
        same = sum(one == other for one, other in zip(each, together, strict=False))
        print(
            f"writing with {beams} beams: {batched:.0f} captions/s in batches, {singly:.0f} one by "
            f"one; {same} of {alone} the same"
        )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("captions")
    arguments.add_argument("--decoder")
    arguments.add_argument("--images", type=int, default=5000, help="0: no scoring")
    arguments.add_argument("--rows", type=int, default=512)
    arguments.add_argument("--alone", type=int, default=64)
    asked = arguments.parse_args()
    print(f"{torch.get_num_threads()} threads")
    if asked.images:
        scoring(asked.captions, asked.images)
    if asked.decoder:
        writing(asked.decoder, asked.rows, asked.alone)


if __name__ == "__main__":
    main()
