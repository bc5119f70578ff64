"""A report as one HTML file that holds its pictures: opens anywhere, can be sent by mail."""

import base64
import io
from collections.abc import Sequence
from html import escape
from pathlib import Path

from PIL import Image

from bridge.files import replacing

STYLE = """
:root { color-scheme: light dark; --line: #8885; --soft: #8882; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { padding: .3rem .8rem; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { text-align: left; }
th { vertical-align: bottom; }
figure { margin: 1.5rem 0; }
figure > img { max-width: 100%; height: auto; background: white; border-radius: 6px; }
figcaption, .note { opacity: .75; font-size: .9rem; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: 1rem; }
.card { border: 1px solid var(--line); border-radius: 8px; overflow: hidden; }
.card img { width: 100%; display: block; }
.card ol { margin: .5rem .8rem .8rem; padding-left: 1.2rem; }
.card li.right { font-weight: 600; }
.card p { margin: .6rem .8rem; font-size: 1.05rem; }
.card ol { font-size: .9rem; opacity: .85; }
"""


class Page:
    """Collects parts in order; `save` writes them."""

    def __init__(self, title: str, about: str):
        self.title = title
        self.parts = [f"<h1>{escape(title)}</h1>", f"<p>{escape(about)}</p>"]

    def heading(self, text: str) -> None:
        self.parts.append(f"<h2>{escape(text)}</h2>")

    def note(self, text: str) -> None:
        self.parts.append(f'<p class="note">{escape(text)}</p>')

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        cells = "".join(f"<th>{escape(name)}</th>" for name in head)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
        )
        self.parts.append(f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>")

    def figure(self, path: Path, alt: str, caption: str) -> None:
        self.parts.append(
            f'<figure><img src="{as_png(path)}" alt="{escape(alt)}">'
            f"<figcaption>{escape(caption)}</figcaption></figure>"
        )

    def cards(self, cards: Sequence[tuple[Image.Image, str, Sequence[tuple[str, bool]]]]) -> None:
        """Pictures, each with a line and a ranked list of texts; right ones stand out."""
        html = []
        for picture, line, texts in cards:
            items = "".join(
                f'<li class="{"right" if right else ""}">{escape(text)}</li>'
                for text, right in texts
            )
            html.append(
                f'<div class="card"><img src="{as_jpeg(picture)}" alt="{escape(line)}">'
                f"<p>{escape(line)}</p><ol>{items}</ol></div>"
            )
        self.parts.append(f'<div class="cards">{"".join(html)}</div>')

    def save(self, path: Path) -> None:
        html = (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.title)}</title><style>{STYLE}</style></head><body>"
            f"{''.join(self.parts)}</body></html>\n"
        )
        with replacing(path) as temporary:
            temporary.write_text(html, encoding="utf-8")


def as_jpeg(picture: Image.Image) -> str:
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=88)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode()


def as_png(path: Path) -> str:
    return "data:image/png;base64," + base64.b64encode(Path(path).read_bytes()).decode()
