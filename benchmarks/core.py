"""The forty benchmarks of `python3 dev.py bench`, and what it says of the machine that ran them."""

import html
import os
import statistics
import sys
import time

import plots

BENCHMARKS = {
    "small_ops": [
        "add", "x * 2.0", "matmul", "softmax", "reduce_sum", "reduce_mean, axis", "reshape", "concat", "x[1:, None]",
        "where", "gather", "convert a list",
    ],
    "variables": ["assign", "scatter_add", "gradient", "function, assign_add 16 bytes"],
    "gradients": ["w*w + 2.*w + 5.", "10-layer MLP", "20-step tanh RNN"],
    "functions": [
        "a one-op function", "elementwise chain, 1024x1024", "10-layer MLP train step", "LSTM cell",
        "5,000-iteration while", "tracing and first call",
    ],
    "vectorized": ["jacobian, in a function", "Hessian, in a function", "gradients of 64 images, in a function"],
    "mnist_step": ["MNIST conv net, Adam"],
    "keras": ["LSTMCell, eager call", "Fashion-MNIST step in a tf.function", "fit, an epoch of 2,048 images"],
    "models": ["MobileNetV2 96x96: predict", "ViT 32x32: train_on_batch", "causal transformer 4x128: predict"],
    "data": [
        "slices, shuffle(1000), batch(32): 4096 rows", "range, map, batch(32): 8192 numbers",
        "lower, regex_replace, batch(32): 2000 words", "TFRecords, batch(32), parse_example: 1024 records",
    ],
    "checkpoints": ["write 2000 small"],
}  # fmt: skip
BUSY = 0.3  # of the processors, before anything is measured
NOISY = 0.15  # of a ratio, between the middle half of the rounds


def load():
    """Returns the share of the processors that is at work, of the last minute; None where the system does not tell."""
    return os.getloadavg()[0] / (os.cpu_count() or 1) if hasattr(os, "getloadavg") else None


def state_of_machine(busy, spreads):
    """Returns a line on the load and the noise, and one more if the figures should be measured again.

    Args:
        busy: what `load` returned before the first measurement.
        spreads: of each benchmark, the range of the middle half of the rounds' ratios over their median.
    """
    lines = []
    if busy is not None:
        lines.append(f"Before the first measurement, {busy:.0%} of the processors were at work.")
    spread = statistics.median(spreads) if spreads else None
    if spread is not None:
        lines.append(f"Half of the rounds' ratios lie within {spread:.0%} of each other.")
    if (busy or 0) > BUSY or (spread or 0) > NOISY:
        lines.append("The machine is too busy for these figures to be quoted: measure again when it is idle.")
    return lines


class Progress:
    """A bar that shows how much is done, and how long the rest may take; lines where there is no terminal."""

    def __init__(self, total, stream=sys.stderr):
        self.total, self.done, self.stream = total, 0, stream
        self.start, self.told = time.monotonic(), -1

    def step(self, text):
        """Counts a measurement."""
        self.done += 1
        share = self.done / self.total
        rest = (time.monotonic() - self.start) * (1 - share) / share
        left = f"{int(rest) // 60}:{int(rest) % 60:02} left"
        if self.stream.isatty():
            bar = "#" * round(30 * share)
            end = "\n" if self.done == self.total else ""
            self.stream.write(f"\r[{bar:<30}] {share:4.0%}  {left:>10}  {text[:40]:<40}{end}")
        elif int(10 * share) > self.told:
            self.told = int(10 * share)
            self.stream.write(f"{share:4.0%}  {left}  {text}\n")
        self.stream.flush()


def page(heading, tables, markdown):
    """Returns the results as a page of HTML, with a plot of the ratios.

    Args:
        heading: lines of Markdown, of which the first is the title.
        tables: the tables.
        markdown: the tables in Markdown, of which the plot is drawn.
    """
    title = heading[0].removeprefix("# ")
    about = html.escape("\n".join(heading[1:])).replace("\n\n", "</p><p>")
    drawn = plots.svg(["tensorflow"], markdown, names=True) if plots.groups(markdown, ["tensorflow"]) else ""
    style = "body{font:15px sans-serif;max-width:60em;margin:2em auto}td,th{padding:2px 12px;text-align:right}"
    style += "td:first-child,th:first-child{text-align:left}"
    return "\n".join([
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
        f"<style>{style}</style></head><body><h1>{title}</h1><p>{about}</p>", drawn,
        *(table.html() for table in tables), "</body></html>", "",
    ])  # fmt: skip
