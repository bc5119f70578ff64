"""The page of `platobridge app`: caption, classify, search, and the bridge's own report card.

Safe by default: this machine alone, nothing fetched, no analytics, no history, uploads limited in
bytes and pixels and deleted. One model runs at a time, whoever asks.
"""

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # before Gradio is loaded

import gradio as gr
from PIL import Image

from bridge import console, world
from bridge.classes import LISTS, read_classes, written_classes
from bridge.errors import InputError
from bridge.files import existing
from bridge.images import read_upload
from bridge.opened import Choice, open_bridge
from eval import answers, cards
from eval.answers import Shown, Wish
from eval.gallery import (
    MEASURED,
    Gallery,
    default_bridges,
    embedding_map,
    gallery,
    measured,
    quickstart_beside,
)

MOST_BYTES = "10mb"
MOST_PIXELS = 40_000_000
SIDE = 1024  # pixels; no encoder looks at more
MOST_CLASSES = 1000
WAITING = 64  # requests in the queue before the next is turned away
KEPT_SECONDS = 1800  # of uploads
EXAMPLES = {  # scenes of a world that no bridge was fitted on
    2: "a red train",
    6: "a sailing boat and a ship",
    13: "a teddy bear",
    21: "a giraffe",
    37: "an airplane",
}
EXAMPLE_SEED = 1
OWN, LOOPBACK = "my own, above", ("127.0.0.1", "localhost", "::1")
FEW_CLASSES = "train\nsailing boat\nteddy bear\ngiraffe\nairplane"

NAME_EXAMPLES = """() => {  // for those who hear the page: pictures are named by their files
  const name = () => document.querySelectorAll('[id$=-examples] img[alt=""]').forEach((picture) => {
    picture.alt = 'example: ' + decodeURIComponent(picture.src.split('/').pop().split('.')[0]);
  });
  new MutationObserver(name).observe(document.body, { childList: true, subtree: true });
  name();
}"""

Answer = dict[str, Any]


class Loading(threading.Thread):
    """Loads the models behind the page, and says how far it is."""

    def __init__(self, shown: Sequence[Shown], busy: threading.Lock):
        super().__init__(daemon=True)
        self.shown, self.busy, self.problems = shown, busy, []

    def run(self) -> None:
        for each in self.shown:
            with self.busy:
                try:
                    answers.warm(each)
                except InputError as error:
                    self.problems.append(f"{each.name}: {error}")

    @property
    def message(self) -> str:
        if self.ident is None or self.is_alive():
            return "Loading the models; what you ask for now is answered as soon as they are there."
        return " ".join(self.problems)


class Page:
    """The answers behind the page: reads what came in, asks each chosen bridge, one at a time."""

    def __init__(self, shown: Sequence[Shown]):
        self.shown = list(shown)
        self.busy = threading.Lock()
        self.loading = Loading(self.shown, self.busy)
        self.reports: dict[str, str] = {}

    def each(self, bridges: Sequence[str] | None, ask: Callable[[Shown], Answer]) -> list[Answer]:
        """An answer a bridge; what keeps one from answering stands under `error`, if others do."""
        wanted, found, errors = answers.chosen(self.shown, bridges), [], []
        with self.busy:
            for one in wanted:
                try:
                    found.append(ask(one))
                except InputError as error:
                    errors.append(error)
                    found.append({"bridge": one.name, "error": str(error)})
        if len(errors) == len(wanted):
            raise errors[0]
        return found

    def caption(
        self,
        image: str | None,
        bridges: list[str] | None = None,
        decoder: str = "writes",
        candidates: float = 3,
        beams: float = 4,
        length_penalty: float = 1.0,
        max_tokens: float = 24,
    ) -> list[Answer]:
        picture = opened_image(image)
        wish = Wish(
            candidates=int(candidates),
            write=decoder == "writes",
            beams=int(beams),
            length_penalty=float(length_penalty),
            max_tokens=int(max_tokens),
        )
        return self.each(bridges, lambda one: answers.caption(one, picture, wish))

    def classify(
        self,
        image: str | None,
        classes: str = "",
        ready_list: str = OWN,
        top: float = 5,
        bridges: list[str] | None = None,
    ) -> list[Answer]:
        if ready_list == OWN:
            offered = written_classes(classes or "", MOST_CLASSES)
        else:
            offered = read_classes(ready_list)
        picture = opened_image(image)
        return self.each(bridges, lambda one: answers.classified(one, picture, offered, int(top)))

    def search(
        self,
        text: str = "",
        image: str | None = None,
        top: float = 10,
        bridges: list[str] | None = None,
    ) -> list[Answer]:
        """Pictures for a text, or captions for an image."""
        if image and (text or "").strip():
            raise InputError("expected either a text or an image to look for, got both")
        if image:
            picture = opened_image(image)
            return self.each(bridges, lambda one: answers.found_texts(one, picture, int(top)))
        query = answers.query_of(text)
        return self.each(bridges, lambda one: answers.found_images(one, query, int(top)))

    def found_card(self, answer: Answer) -> str:
        if "texts" in answer:
            return cards.texts_card(answer)
        (one,) = answers.chosen(self.shown, [answer["bridge"]])
        return cards.images_card(answer, one.gallery)

    def report_cards(self, bridges: Sequence[str] | None) -> str:
        """Measured when it is first looked at, and kept."""
        made = []
        for one in answers.chosen(self.shown, bridges):
            with self.busy:
                if one.name not in self.reports:
                    self.reports[one.name] = report_card(one)
            made.append(cards.column(one.name, self.reports[one.name]))
        return cards.columns(made)


def report_card(shown: Shown) -> str:
    bridge, beside = shown.opened.bridge, shown.unseen
    reports, pairs = measured(bridge, beside), beside.pairs(MEASURED)
    return cards.report(
        cards.about_card(bridge, shown.gallery.known)
        + cards.figures_table(reports, len(pairs[1]) if pairs else 0)
        + cards.curve(reports),
        cards.map_card(embedding_map(bridge, beside), beside),
    )


def opened_image(path: str | None) -> Image.Image:
    if not path:
        raise InputError("there is no image yet; drop one in, or take an example")
    return read_upload(path, most_pixels=MOST_PIXELS, side=SIDE)


def plain(answer: Callable) -> Callable:
    """A bad input becomes a message on the page, and an error of the client, in its own words."""

    @wraps(answer)
    def answering(*given):
        try:
            return answer(*given)
        except InputError as error:
            raise gr.Error(str(error), duration=None, print_exception=False) from error

    return answering


def build(shown: Sequence[Shown]) -> gr.Blocks:
    """The page for these bridges; `launch` serves it."""
    page = Page(shown)
    with gr.Blocks(
        title="platobridge", analytics_enabled=False, delete_cache=(300, KEPT_SECONDS)
    ) as blocks:
        gr.HTML(f"<h1>platobridge</h1><p>{cards.known_line(shown)}</p>", elem_classes="pb head")
        status_line(page)
        names = [each.name for each in shown]
        bridges = gr.CheckboxGroup(
            names,
            value=names[:2],
            label="Bridges, side by side",
            visible=len(names) > 1,
            elem_id="bridges",
        )
        with gr.Tab("Caption", id="caption"):
            caption_tab(page, bridges)
        with gr.Tab("Classify", id="classify"):
            classify_tab(page, bridges)
        with gr.Tab("Search", id="search"):
            search_tab(page, bridges)
        with gr.Tab("Bridge", id="bridge") as tab:
            card = gr.HTML(
                '<p class="note">Measuring …</p>',
                elem_classes="pb",
                elem_id="report",
                js_on_load=cards.SHOW_POINT.read_text(encoding="utf-8"),
            )
            gr.on(
                [tab.select, bridges.change],
                plain(page.report_cards),
                bridges,
                card,
                api_visibility="private",
                concurrency_id="models",
            )
    blocks.queue(max_size=WAITING, default_concurrency_limit=1)
    blocks.page = page
    return blocks


def status_line(page: Page) -> None:
    line = gr.HTML(elem_classes="pb status", elem_id="status", visible=False)
    timer = gr.Timer(1)

    def look():
        message = page.loading.message
        alive = page.loading.ident is None or page.loading.is_alive()
        shown = f'<p class="note" role="status">{cards.escape(message)}</p>' if message else ""
        return gr.HTML(shown, visible=bool(shown)), gr.Timer(active=alive)

    timer.tick(
        look, None, [line, timer], api_visibility="private", queue=False, show_progress="hidden"
    )


def image_input(label: str, elem_id: str) -> gr.Image:
    made = gr.Image(
        label=label,
        type="filepath",
        sources=["upload", "clipboard"],
        height=300,
        alt_text="the image that was put in",
        elem_id=elem_id,
        buttons=[],
    )
    made.preprocess = lambda given: given.path if given else None  # opened by us, not by Gradio
    return made


def examples_for(image: gr.Image, elem_id: str) -> None:
    folder = Path(os.environ["GRADIO_TEMP_DIR"]) / "examples"
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for index, said in EXAMPLES.items():
        paths.append(folder / f"{said}.png")
        if not paths[-1].exists():
            world.draw(world.scene(EXAMPLE_SEED, index), 224).save(paths[-1])
    gr.Examples(
        [[str(path)] for path in paths],
        image,
        label="Drawn examples",
        elem_id=elem_id,
        api_visibility="private",
    )


def offer(
    page: Page,
    button: gr.Button,
    answer: Callable[..., list[Answer]],
    card: Callable[[Answer], str],
    inputs: Sequence[gr.components.Component],
    panel: gr.HTML,
) -> None:
    """The button fills the panel; the same answer as plain values is `/<name of the answer>`."""

    def shown(*given):
        return cards.side_by_side(answer(*given), card)

    button.click(plain(shown), inputs, panel, api_visibility="private", concurrency_id="models")
    gr.Button(visible=False).click(
        plain(answer),
        inputs,
        gr.JSON(label="answers", visible=False),
        api_name=answer.__name__,
        concurrency_id="models",
    )


def panel_for(what: str, elem_id: str) -> gr.HTML:
    return gr.HTML(f'<p class="note">{what}</p>', elem_classes="pb answer", elem_id=elem_id)


def caption_tab(page: Page, bridges: gr.CheckboxGroup) -> None:
    writes = any(each.has_decoder for each in page.shown)
    with gr.Row():
        with gr.Column(scale=2, min_width=280):
            image = image_input("Image to caption", "caption-image")
            button = gr.Button("Write a caption", variant="primary", elem_id="caption-go")
            examples_for(image, "caption-examples")
            with gr.Accordion("Decoder settings", open=False, visible=writes):
                decoder = gr.Radio(
                    [("writes a sentence", "writes"), ("remembers the nearest", "remembers")],
                    value="writes",
                    label="The decoder",
                )
                candidates = gr.Slider(1, 8, 3, step=1, label="Candidates")
                beams = gr.Slider(1, 8, 4, step=1, label="Beams")
                penalty = gr.Slider(-2, 4, 1, step=0.1, label="Length penalty")
                tokens = gr.Slider(4, 48, 24, step=1, label="Most tokens")
        with gr.Column(scale=3, min_width=280):
            panel = panel_for("The caption will stand here.", "caption-answer")
    inputs = [image, bridges, decoder, candidates, beams, penalty, tokens]
    offer(page, button, page.caption, cards.caption_card, inputs, panel)


def classify_tab(page: Page, bridges: gr.CheckboxGroup) -> None:
    with gr.Row():
        with gr.Column(scale=2, min_width=280):
            image = image_input("Image to classify", "classify-image")
            examples_for(image, "classify-examples")
            classes = gr.Textbox(
                FEW_CLASSES, label="Classes, one a line", lines=5, max_lines=12, elem_id="classes"
            )
            ready = gr.Dropdown([OWN, *LISTS], value=OWN, label="Or a ready list of 100")
            top = gr.Slider(1, 20, 5, step=1, label="Classes to show")
            button = gr.Button("Classify", variant="primary", elem_id="classify-go")
        with gr.Column(scale=3, min_width=280):
            panel = panel_for("The classes will stand here.", "classify-answer")
            gr.HTML(
                '<p class="note">Scores are cosines. They rank the classes that were offered and '
                "are no probabilities: the right class may not be among them.</p>",
                elem_classes="pb",
            )
    inputs = [image, classes, ready, top, bridges]
    offer(page, button, page.classify, cards.classes_card, inputs, panel)


def search_tab(page: Page, bridges: gr.CheckboxGroup) -> None:
    with gr.Row():
        with gr.Column(scale=2, min_width=280):
            text = gr.Textbox(
                "",
                label="Text, to find images",
                placeholder="a white horse in the snow",
                elem_id="search-text",
                max_length=answers.LONGEST_QUERY,
            )
            image = image_input("Or an image, to find captions", "search-image")
            examples_for(image, "search-examples")
            top = gr.Slider(1, 30, 10, step=1, label="Results to show")
            button = gr.Button("Search", variant="primary", elem_id="search-go")
        with gr.Column(scale=3, min_width=280):
            panel = panel_for("What is found will stand here.", "search-answer")
    offer(page, button, page.search, page.found_card, [text, image, top, bridges], panel)
    text.submit(
        plain(lambda *given: cards.side_by_side(page.search(*given), page.found_card)),
        [text, image, top, bridges],
        panel,
        api_visibility="private",
        concurrency_id="models",
    )


def launch(
    blocks: gr.Blocks,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    auth: Sequence[tuple[str, str]] | None = None,
    share: bool = False,
) -> str:
    """Serve the page and load its models; returns its address at once."""
    warnings.simplefilter("error", Image.DecompressionBombWarning)
    _, local, public = blocks.launch(
        server_name=host,
        server_port=port,
        auth=list(auth) if auth else None,
        share=share,
        prevent_thread_lock=True,
        quiet=True,
        max_file_size=MOST_BYTES,
        allowed_paths=[],
        enable_monitoring=False,
        mcp_server=False,
        ssr_mode=False,
        pwa=False,
        run_history=False,
        footer_links=["api"],
        theme=theme(),
        css_paths=[cards.STYLE],
        js=NAME_EXAMPLES,
    )
    blocks.page.loading.start()
    return public or local


def theme() -> gr.themes.Default:
    """Teal, dark enough to be read on white, in fonts that the machine has."""
    base = gr.themes.Default(
        primary_hue="teal", neutral_hue="slate", font=["system-ui", "sans-serif"]
    )
    return base.set(
        color_accent="*primary_700",
        button_primary_background_fill="*primary_700",
        button_primary_background_fill_hover="*primary_800",
        button_primary_background_fill_dark="*primary_700",
        body_text_color_subdued="#475569",
        body_text_color_subdued_dark="#b4c0d0",
        block_label_text_color="#334155",
        block_title_text_color="#334155",
    )


@contextmanager
def temporary_files() -> Iterator[None]:
    """A folder for uploads that is gone when the page is."""
    with TemporaryDirectory(prefix="platobridge-") as folder:
        os.environ["GRADIO_TEMP_DIR"] = folder
        yield


def run(
    bridges: Sequence[Path],
    *,
    host: str,
    port: int,
    auth_file: Path | None,
    share: bool,
    images: Path | None,
    pictures: Path | None,
    texts: Path | None,
    captions: Path | None,
    decoder: Path | None,
    text_encoder: str | None,
    image_encoder: str | None,
    device: str,
) -> None:
    """Open the page and keep it open until it is interrupted."""
    pool: dict[str, Any] = {}
    choice = Choice(image_encoder, text_encoder, decoder, device)
    named = gallery(images, pictures, texts, captions) if images or texts else None
    auth = read_auth(auth_file) if auth_file else None
    folders = list(bridges) or default_bridges()
    shown = [
        Shown(
            name, open_bridge(folder, choice, pool), named or quickstart_beside(folder) or Gallery()
        )
        for name, folder in zip(short_names(folders), folders, strict=True)
    ]
    if auth is None and (share or host not in LOOPBACK):
        console.warn("others can open this page, and nobody is asked who they are; --auth-file F")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # so that uploads are removed then too
    with temporary_files(), suppress(KeyboardInterrupt):
        blocks = build(shown)
        try:
            address = launch(blocks, host=host, port=port, auth=auth, share=share)
        except OSError as error:
            raise InputError(f"port {port} at {host} cannot be had; name another --port") from error
        console.note(f"{address} (loading the models; Ctrl-C ends it)")
        blocks.page.loading.join()
        for problem in blocks.page.loading.problems:
            console.warn(problem)
        console.note("ready")
        blocks.block_thread()


def read_auth(path: Path) -> list[tuple[str, str]]:
    """Names and passwords; raises InputError that repeats none of them."""
    found = []
    for number, line in enumerate(existing(path).read_text(encoding="utf-8").splitlines(), 1):
        name, colon, password = line.strip().partition(":")
        if line.strip() and not (name and colon and password):
            raise InputError(f"{path}: line {number}: expected NAME:PASSWORD")
        if line.strip():
            found.append((name, password))
    if not found:
        raise InputError(f"{path}: expected lines of NAME:PASSWORD, got none")
    return found


def short_names(folders: Sequence[Path]) -> list[str]:
    """The last part of each path, with more of it where two are called the same."""
    for parts in range(1, max(len(folder.resolve().parts) for folder in folders)):
        names = ["/".join(folder.resolve().parts[-parts:]) for folder in folders]
        if len(set(names)) == len(names):
            return names
    raise InputError(f"{folders[0]} is named twice")
