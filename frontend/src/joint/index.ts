// The map of a head's queries and keys, on its page: drawn on a canvas, with pan, zoom, hover and lasso.

import { type By, type Coloured, coloured } from "./colours";
import { type Points, read } from "./data";
import { draw, mixed, ordered, widthOf } from "./raster";
import { type Frame, inside, nearest, panned, whole, zoomed } from "./space";
import { listed, sentence } from "./telling";

const REACH = 8; // pixels within which a point is under the pointer
const STEP = 40; // pixels that an arrow key moves
const FAINT = 0x28000000; // the opacity of points that were not chosen
const FASTER = 1.25; // closer, with a key

class Canvas {
  private frame: Frame = { left: 0, top: 0, zoom: 1 };
  private image: ImageData | null = null;
  private paint: Coloured;
  private colours: Uint32Array; // in the order of drawing
  private line: number[] = []; // around which points, while it is drawn
  private chosen: number[] = [];
  private under = -1;
  private waiting = false;
  private readonly order: Uint32Array;
  private readonly x: Float32Array; // in this order
  private readonly y: Float32Array;
  private readonly canvas: HTMLCanvasElement;
  private readonly brush: CanvasRenderingContext2D;

  constructor(
    private readonly root: HTMLElement,
    private readonly points: Points,
  ) {
    this.canvas = part(root, "canvas") as HTMLCanvasElement;
    this.brush = this.canvas.getContext("2d") as CanvasRenderingContext2D;
    this.order = mixed(points.x.length);
    this.x = ordered(points.x, this.order);
    this.y = ordered(points.y, this.order);
    this.paint = coloured(points, "side");
    this.colours = ordered(this.paint.colours, this.order);
    this.listen();
    this.legend();
    new ResizeObserver(() => this.fit()).observe(this.canvas);
    this.fit();
    this.now();
    root.dataset.drawn = performance.now().toFixed(0); // milliseconds since the page was opened
  }

  private get ratio(): number {
    return Math.min(2, devicePixelRatio || 1);
  }

  /** As many pixels as the page gives; the whole map is shown again if they have changed. */
  private fit(): void {
    const width = Math.max(1, Math.round(this.canvas.clientWidth * this.ratio));
    const height = Math.max(1, Math.round(this.canvas.clientHeight * this.ratio));
    if (this.image?.width === width && this.image.height === height) return;
    this.canvas.width = width;
    this.canvas.height = height;
    this.image = new ImageData(width, height);
    this.frame = whole(width, height);
    this.soon();
  }

  private soon(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.now();
    });
  }

  private now(): void {
    const { image, points, frame, brush } = this;
    if (!image) return;
    const start = performance.now();
    const closer = frame.zoom / whole(image.width, image.height).zoom;
    const size = widthOf(points.x.length, closer, this.ratio);
    const pixels = new Uint32Array(image.data.buffer);
    draw(pixels, image.width, image.height, this.x, this.y, this.colours, frame, size);
    brush.putImageData(image, 0, 0);
    if (this.under >= 0 || this.line.length) this.marks(size);
    this.canvas.dispatchEvent(new CustomEvent("drawn", { detail: performance.now() - start }));
  }

  /** The lasso, and a ring around the point under the pointer. */
  private marks(size: number): void {
    const { brush, points, frame } = this;
    brush.strokeStyle = getComputedStyle(this.canvas).color;
    brush.lineWidth = 1.5 * this.ratio;
    brush.beginPath();
    if (this.under >= 0) {
      const x = frame.left + frame.zoom * points.x[this.under];
      const y = frame.top + frame.zoom * points.y[this.under];
      brush.arc(x, y, size + 3 * this.ratio, 0, 2 * Math.PI);
    }
    for (let i = 0; i + 1 < this.line.length; i += 2)
      if (i) brush.lineTo(this.line[i], this.line[i + 1]);
      else brush.moveTo(this.line[i], this.line[i + 1]);
    brush.stroke();
  }

  /** Colours of points; if some are chosen, the others are faint. */
  private colour(chosen: number[] = []): void {
    const faint = (colour: number) => ((colour & 0xffffff) | FAINT) >>> 0;
    const colours = chosen.length ? this.paint.colours.map(faint) : this.paint.colours;
    for (const point of chosen) colours[point] = this.paint.colours[point];
    this.colours = ordered(colours, this.order);
    this.soon();
  }

  private listen(): void {
    const { canvas } = this;
    let pressed: "pan" | "lasso" | null = null;
    canvas.addEventListener("pointerdown", (event) => {
      const lasso = event.shiftKey || (part(this.root, "lasso") as HTMLInputElement).checked;
      pressed = lasso ? "lasso" : "pan";
      this.line = [];
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = this.place(event);
      if (pressed === "pan")
        this.frame = panned(this.frame, event.movementX * this.ratio, event.movementY * this.ratio);
      else if (pressed === "lasso") this.line.push(x, y);
      else return this.hover(x, y);
      this.soon();
    });
    const end = () => {
      if (pressed === "lasso") this.choose(inside(this.points.x, this.points.y, this.frame, this.line));
      pressed = null;
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
    canvas.addEventListener("pointerleave", () => this.hover(-1e9, -1e9));
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const [x, y] = this.place(event);
        this.closer(Math.exp(-event.deltaY / 400), x, y);
      },
      { passive: false },
    );
    canvas.addEventListener("keydown", (event) => this.key(event));
    const by = part(this.root, "colour") as HTMLSelectElement;
    by.addEventListener("change", () => {
      this.paint = coloured(this.points, by.value as By);
      this.legend();
      this.colour(this.chosen);
    });
    part(this.root, "reset").addEventListener("click", () => this.reset());
  }

  private reset(): void {
    this.frame = whole(this.canvas.width, this.canvas.height);
    this.line = [];
    this.choose([]);
  }

  private key(event: KeyboardEvent): void {
    const moves: Record<string, [number, number]> = {
      ArrowLeft: [STEP, 0],
      ArrowRight: [-STEP, 0],
      ArrowUp: [0, STEP],
      ArrowDown: [0, -STEP],
    };
    const move = moves[event.key];
    const { width, height } = this.canvas;
    if (move) this.frame = panned(this.frame, move[0] * this.ratio, move[1] * this.ratio);
    else if (event.key === "+" || event.key === "=") this.closer(FASTER, width / 2, height / 2);
    else if (event.key === "-") this.closer(1 / FASTER, width / 2, height / 2);
    else if (event.key === "0" || event.key === "Escape") this.reset();
    else return;
    event.preventDefault();
    this.soon();
  }

  private closer(factor: number, x: number, y: number): void {
    const least = whole(this.canvas.width, this.canvas.height).zoom;
    this.frame = zoomed(this.frame, factor, x, y, least);
    this.soon();
  }

  private hover(x: number, y: number): void {
    const { points, frame } = this;
    const found = nearest(points.x, points.y, frame, x, y, REACH * this.ratio);
    if (found === this.under) return;
    this.under = found;
    const tip = part(this.root, "tip");
    tip.replaceChildren(...(found < 0 ? [] : [sentence(points, found)]));
    this.soon();
  }

  private choose(found: number[]): void {
    this.line = [];
    this.chosen = found;
    part(this.root, "list").replaceChildren(...(found.length ? [listed(this.points, found)] : []));
    this.colour(found);
  }

  private legend(): void {
    const items = this.paint.legend.map(({ name, colour }) => {
      const item = document.createElement("span");
      const dot = document.createElement("i");
      dot.style.background = colour;
      item.append(dot, name);
      return item;
    });
    part(this.root, "legend").replaceChildren(...items);
  }

  private place(event: MouseEvent): [number, number] {
    const box = this.canvas.getBoundingClientRect();
    return [(event.clientX - box.left) * this.ratio, (event.clientY - box.top) * this.ratio];
  }
}

function part(root: HTMLElement, name: string): HTMLElement {
  const found = root.querySelector<HTMLElement>(`[data-part=${name}]`);
  if (!found) throw new Error(`the map has no ${name}`);
  return found;
}

for (const root of document.querySelectorAll<HTMLElement>("[data-joint]")) {
  const data = root.querySelector("script[type='text/plain']")?.textContent ?? "";
  read(data).then((points) => new Canvas(root, points));
}
