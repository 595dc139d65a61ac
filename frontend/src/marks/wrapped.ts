// Sentences in a picture, broken into lines.

const wide = /[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60]/;

/** About how wide a text is in the sans face: ideographs take a square, other letters little more than half of one. */
const widthOf = (text: string, size: number): number =>
  [...text].reduce((sum, letter) => sum + (wide.test(letter) ? 1 : 0.53) * size, 0);

/** A text in lines of a width, broken between words, and between ideographs. */
export function wrapped(text: string, width: number, size: number): string[] {
  const pieces = text.match(/[\u2e80-\u9fff\uff00-\uff60]|[^\s\u2e80-\u9fff\uff00-\uff60]+\s*|\s+/g) ?? [];
  const lines = [""];
  for (const piece of pieces) {
    const line = lines[lines.length - 1];
    if (line && widthOf(line + piece.trimEnd(), size) > width) lines.push(piece);
    else lines[lines.length - 1] = line + piece;
  }
  return lines.map((line) => line.trimEnd());
}
