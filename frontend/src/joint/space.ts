// Where points are on the screen, which one is under the pointer, and which ones a line goes around.

/** Screen x = left + zoom * x, and y alike; in pixels of the canvas. */
export interface Frame {
  left: number;
  top: number;
  zoom: number;
}

const CLOSEST = 400; // times the whole

/** All points, with room around them. */
export function whole(width: number, height: number): Frame {
  const zoom = 0.92 * Math.min(width, height);
  return { left: (width - zoom) / 2, top: (height - zoom) / 2, zoom };
}

export function panned({ left, top, zoom }: Frame, dx: number, dy: number): Frame {
  return { left: left + dx, top: top + dy, zoom };
}

/** Closer by a factor, around a point of the screen that stays where it is. */
export function zoomed(frame: Frame, factor: number, x: number, y: number, least: number): Frame {
  const zoom = Math.min(Math.max(frame.zoom * factor, least / 2), least * CLOSEST);
  const by = zoom / frame.zoom;
  return { left: x - by * (x - frame.left), top: y - by * (y - frame.top), zoom };
}

/** The point nearest to a place on the screen, no farther than `reach` pixels; -1 if there is none. */
export function nearest(
  xs: Float32Array,
  ys: Float32Array,
  frame: Frame,
  x: number,
  y: number,
  reach: number,
): number {
  const px = (x - frame.left) / frame.zoom;
  const py = (y - frame.top) / frame.zoom;
  let best = (reach / frame.zoom) ** 2;
  let found = -1;
  for (let i = 0; i < xs.length; i++) {
    const gap = (xs[i] - px) ** 2 + (ys[i] - py) ** 2;
    if (gap <= best) {
      best = gap;
      found = i;
    }
  }
  return found;
}

/** The points inside a closed line of screen places x, y, x, y, … */
export function inside(xs: Float32Array, ys: Float32Array, frame: Frame, line: number[]): number[] {
  const px: number[] = [];
  const py: number[] = [];
  for (let i = 0; i + 1 < line.length; i += 2) {
    px.push((line[i] - frame.left) / frame.zoom);
    py.push((line[i + 1] - frame.top) / frame.zoom);
  }
  const [left, right] = [Math.min(...px), Math.max(...px)];
  const [top, bottom] = [Math.min(...py), Math.max(...py)];
  const found: number[] = [];
  for (let i = 0; i < xs.length; i++) {
    const x = xs[i];
    const y = ys[i];
    if (x < left || x > right || y < top || y > bottom) continue;
    let odd = false;
    for (let a = 0, b = px.length - 1; a < px.length; b = a++)
      if (py[a] > y !== py[b] > y && x < ((px[b] - px[a]) * (y - py[a])) / (py[b] - py[a]) + px[a])
        odd = !odd;
    if (odd) found.push(i);
  }
  return found;
}
