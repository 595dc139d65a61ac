// A formula as MathML; each symbol has the colour of its matrix.

import type { ComponentChildren } from "preact";

const PIECE =
  /([A-Z]|[xwb])(?:_([A-Z0-9]))?([₀-₉]+)?(ᵀ)?(?![\p{L}])|√(\p{L}+|\d+)|\p{L}+|\d+|\s+|[^\p{L}\d\s]/gu;

/** The class that gives a symbol its colour; X, D and E are states, W and b are learned. */
export const inkOf = (symbol: string): string =>
  `ink-${symbol.replace(/_.*/, "").replace(/[^A-Za-z]/g, "") || "none"}`;

const plain = (subscript: string): string =>
  subscript.replace(/[₀-₉]/g, (digit) => String("₀₁₂₃₄₅₆₇₈₉".indexOf(digit)));

function symbol([, letter, below, number, turned]: RegExpMatchArray, key: number): ComponentChildren {
  const base = <mi class={inkOf(letter)}>{letter}</mi>;
  const low = below ?? (number && plain(number));
  if (low && turned)
    return (
      <msubsup key={key}>
        {base}
        <mi>{low}</mi>
        <mi>{"⊤"}</mi>
      </msubsup>
    );
  if (low)
    return (
      <msub key={key} class={inkOf(letter)}>
        {base}
        <mi>{low}</mi>
      </msub>
    );
  if (turned)
    return (
      <msup key={key}>
        {base}
        <mi>{"⊤"}</mi>
      </msup>
    );
  return <mrow key={key}>{base}</mrow>;
}

/** The pieces of a formula, from left to right. */
function pieces(text: string): ComponentChildren[] {
  return [...text.matchAll(PIECE)].map((found, i) => {
    const [whole, letter, , , , under] = found;
    if (letter) return symbol(found, i);
    if (under)
      return (
        <msqrt key={i}>
          <mi>{under}</mi>
        </msqrt>
      );
    if (/^\s+$/.test(whole)) return <mspace key={i} width={whole.length > 1 ? "1.2em" : "0.25em"} />;
    if (/^(\p{L}{2,}|a)$/u.test(whole)) return <mtext key={i}>{whole}</mtext>;
    if (/^[^\P{L}a]$/u.test(whole)) return <mi key={i}>{whole}</mi>;
    if (/^\d+$/.test(whole)) return <mn key={i}>{whole}</mn>;
    return (
      <mo key={i} stretchy={false}>
        {whole}
      </mo>
    );
  });
}

const RATIO = /([^\s(]+) \/ ([^\s),，]+)/;

/** A formula of the words' table; what stands around " / " becomes a fraction. */
export function Formula({ text }: { text: string }) {
  const ratio = text.match(RATIO);
  const at = ratio?.index ?? 0;
  return (
    <math class="formula" data-formula={text} aria-label={text}>
      {ratio ? (
        <mrow>
          {pieces(text.slice(0, at))}
          <mfrac>
            <mrow>{pieces(ratio[1])}</mrow>
            <mrow>{pieces(ratio[2])}</mrow>
          </mfrac>
          {pieces(text.slice(at + ratio[0].length))}
        </mrow>
      ) : (
        <mrow>{pieces(text)}</mrow>
      )}
    </math>
  );
}
