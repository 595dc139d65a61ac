// What marks draw with: the same calls paint a canvas on the screen and write the SVG of a saved picture.

export interface Ink {
  colour: string;
  alpha?: number;
  dashed?: boolean; // lines and curves only
}

const DASHES = [5, 4];

export interface Lettering extends Ink {
  size?: number;
  align?: "start" | "middle" | "end";
  turned?: boolean; // written upwards
  mono?: boolean;
  bold?: boolean;
}

export interface Pen {
  /** Lines x1, y1, x2, y2, ... */
  lines(segments: ArrayLike<number>, count: number, width: number, ink: Ink): void;
  /** A cubic curve: its start, two handles, its end. Only the sentence asks for it. */
  curve?(points: readonly number[], width: number, ink: Ink): void;
  rect(x: number, y: number, width: number, height: number, ink: Ink): void;
  /** Text whose middle height is y. */
  text(x: number, y: number, text: string, lettering: Lettering): void;
  /** Enlarged, its pixels stay squares, unless it is to be smooth. */
  image(
    source: HTMLCanvasElement,
    x: number,
    y: number,
    width: number,
    height: number,
    smooth?: boolean,
  ): void;
}

/** The same pen with its origin somewhere else. */
export function shifted(pen: Pen, dx: number, dy: number): Pen {
  return {
    lines(segments, count, width, ink) {
      const moved = Float32Array.from({ length: 4 * count }, (_, i) => segments[i] + (i % 2 ? dy : dx));
      pen.lines(moved, count, width, ink);
    },
    curve: (points, width, ink) =>
      pen.curve?.(
        points.map((value, i) => value + (i % 2 ? dy : dx)),
        width,
        ink,
      ),
    rect: (x, y, width, height, ink) => pen.rect(x + dx, y + dy, width, height, ink),
    text: (x, y, text, lettering) => pen.text(x + dx, y + dy, text, lettering),
    image: (source, x, y, width, height, smooth) => pen.image(source, x + dx, y + dy, width, height, smooth),
  };
}

const MONO = "ui-monospace, 'SF Mono', 'JetBrains Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace";
const SANS = "Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
const SIZE = 13;

const INDEX = /([₀-₉]+)/;

/** A text with the positions that it carries by themselves, at odd places: these are set in a proportional face. */
const runsOf = (text: string, mono: boolean): string[] => (mono ? text.split(INDEX) : [text]);

/** Write a text, run by run, from where it is to begin, end or have its middle. */
function write(context: CanvasRenderingContext2D, text: string, x: number, y: number, look: Lettering): void {
  const { align = "start", mono = true } = look;
  const runs = runsOf(text, mono);
  context.font = fontOf(look);
  context.textAlign = runs.length > 1 ? "left" : ALIGNED[align];
  if (runs.length === 1) {
    context.fillText(text, x, y);
    return;
  }
  const fonts = [fontOf(look), fontOf({ ...look, mono: false })];
  const widths = runs.map((run, i) => {
    context.font = fonts[i % 2];
    return context.measureText(run).width;
  });
  const whole = widths.reduce((sum, one) => sum + one, 0);
  let at = x - (align === "end" ? whole : align === "middle" ? whole / 2 : 0);
  runs.forEach((run, i) => {
    context.font = fonts[i % 2];
    context.fillText(run, at, y);
    at += widths[i];
  });
}

const ALIGNED = { start: "left", middle: "center", end: "right" } as const;

const fontOf = (lettering: Lettering): string =>
  `${lettering.bold ? "600 " : ""}${lettering.size ?? SIZE}px ${lettering.mono === false ? SANS : MONO}`;

/** A pen on a canvas. */
export function canvasPen(context: CanvasRenderingContext2D): Pen {
  return {
    lines(segments, count, width, { colour, alpha = 1, dashed = false }) {
      context.setLineDash(dashed ? DASHES : []);
      context.globalAlpha = alpha;
      context.strokeStyle = colour;
      context.lineWidth = width;
      // One stroke a line: browsers draw single lines much faster than paths of many (6 times at 6000 lines).
      for (let i = 0; i < 4 * count; i += 4) {
        context.beginPath();
        context.moveTo(segments[i], segments[i + 1]);
        context.lineTo(segments[i + 2], segments[i + 3]);
        context.stroke();
      }
      context.setLineDash([]);
      context.globalAlpha = 1;
    },
    curve([x1, y1, a, b, c, d, x2, y2], width, { colour, alpha = 1, dashed = false }) {
      context.setLineDash(dashed ? DASHES : []);
      context.globalAlpha = alpha;
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.beginPath();
      context.moveTo(x1, y1);
      context.bezierCurveTo(a, b, c, d, x2, y2);
      context.stroke();
      context.setLineDash([]);
      context.globalAlpha = 1;
    },
    rect(x, y, width, height, { colour, alpha = 1 }) {
      context.globalAlpha = alpha;
      context.fillStyle = colour;
      context.fillRect(x, y, width, height);
      context.globalAlpha = 1;
    },
    text(x, y, text, lettering) {
      context.globalAlpha = lettering.alpha ?? 1;
      context.fillStyle = lettering.colour;
      context.textBaseline = "middle";
      if (lettering.turned) {
        context.save();
        context.translate(x, y);
        context.rotate(-Math.PI / 2);
        write(context, text, 0, 0, lettering);
        context.restore();
      } else write(context, text, x, y, lettering);
      context.globalAlpha = 1;
    },
    image(source, x, y, width, height, smooth = false) {
      context.imageSmoothingEnabled = smooth || width < source.width;
      context.drawImage(source, x, y, width, height);
    },
  };
}

/** A pen that writes SVG. */
export class SvgPen implements Pen {
  private readonly parts: string[] = [];

  lines(segments: ArrayLike<number>, count: number, width: number, ink: Ink): void {
    const { colour, alpha = 1, dashed = false } = ink;
    let path = "";
    for (let i = 0; i < 4 * count; i += 4)
      path += `M${short(segments[i])} ${short(segments[i + 1])}L${short(segments[i + 2])} ${short(segments[i + 3])}`;
    this.parts.push(
      `<path d="${path}" fill="none" stroke="${colour}" stroke-width="${width}" stroke-opacity="${short(alpha)}"${dash(dashed)}/>`,
    );
  }

  curve(points: readonly number[], width: number, { colour, alpha = 1, dashed = false }: Ink): void {
    const [x1, y1, ...rest] = points.map(short);
    this.parts.push(
      `<path d="M${x1} ${y1}C${rest.join(" ")}" fill="none" stroke="${colour}" stroke-width="${width}" stroke-opacity="${short(alpha)}"${dash(dashed)}/>`,
    );
  }

  rect(x: number, y: number, width: number, height: number, { colour, alpha = 1 }: Ink): void {
    const box = `x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"`;
    this.parts.push(`<rect ${box} fill="${colour}" fill-opacity="${short(alpha)}"/>`);
  }

  text(x: number, y: number, text: string, lettering: Lettering): void {
    const { colour, alpha = 1, size = SIZE, align = "start", turned, mono = true, bold } = lettering;
    const turn = turned ? ` transform="rotate(-90 ${short(x)} ${short(y)})"` : "";
    const face = `font-family="${escaped(mono ? MONO : SANS)}" font-size="${size}"${bold ? ' font-weight="600"' : ""}`;
    this.parts.push(
      `<text x="${short(x)}" y="${short(y)}" dominant-baseline="central" text-anchor="${align}"${turn} ${face} ` +
        `fill="${colour}" fill-opacity="${short(alpha)}" xml:space="preserve">${mono ? indexed(escaped(text)) : escaped(text)}</text>`,
    );
  }

  image(
    source: HTMLCanvasElement,
    x: number,
    y: number,
    width: number,
    height: number,
    smooth = false,
  ): void {
    const box = `x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"`;
    const look = smooth || width < source.width ? "" : ' style="image-rendering:pixelated"';
    this.parts.push(`<image ${box} preserveAspectRatio="none"${look} href="${source.toDataURL()}"/>`);
  }

  document(width: number, height: number, ground: string): string {
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">` +
      `<rect width="100%" height="100%" fill="${ground}"/>${this.parts.join("")}</svg>`
    );
  }
}

const dash = (dashed: boolean): string => (dashed ? ` stroke-dasharray="${DASHES.join(" ")}"` : "");

const short = (value: number): string => String(Math.round(value * 100) / 100);

/** A text for SVG with its positions in a proportional face. */
const indexed = (text: string): string =>
  text.replace(/[₀-₉]+/g, (index) => `<tspan font-family="${escaped(SANS)}">${index}</tspan>`);

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text: string): string => visible(text).replace(/[&<>"]/g, (c) => ENTITIES[c]);

/** A text with a sign in place of each character that XML cannot hold (views/lettering.py has the same). */
export const visible = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cs}\ufeff\ufffe\uffff]/gu, (found) => {
    const code = found.codePointAt(0) as number;
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? "␡" : "�";
  });

/** A canvas of `width` by `height` CSS pixels, sharp on dense screens, cleared; null where canvases are missing. */
export function prepare(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = window.devicePixelRatio || 1;
  const w = Math.max(1, Math.round(width * ratio));
  const h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  if (!context) throw new Error("canvas");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

let ruler: CanvasRenderingContext2D | null = null;

/** Width of a text in the face tokens are drawn in. */
export function measure(text: string, size = SIZE, mono = true): number {
  ruler ??= document.createElement("canvas").getContext("2d");
  if (!ruler) return text.length * size * 0.6;
  let width = 0;
  runsOf(text, mono).forEach((run, i) => {
    ruler!.font = fontOf({ colour: "", size, mono: mono && i % 2 === 0 });
    width += ruler!.measureText(run).width;
  });
  return width;
}

const shortened = new Map<string, string>();

/** A text shortened to a width, with an ellipsis where something is missing. */
export function elided(text: string, width: number, size = SIZE): string {
  const key = `${size} ${Math.round(width)} ${text}`;
  let short = shortened.get(key);
  if (short === undefined) {
    if (shortened.size > 20_000) shortened.clear();
    short = shorten(text, width, size);
    shortened.set(key, short);
  }
  return short;
}

function shorten(text: string, width: number, size: number): string {
  if (measure(text, size) <= width) return text;
  const letters = [...text];
  let low = 0;
  let high = letters.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (measure(`${letters.slice(0, middle).join("")}…`, size) <= width) low = middle;
    else high = middle - 1;
  }
  return `${letters.slice(0, low).join("")}…`;
}
