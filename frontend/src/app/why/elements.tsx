// A pen that makes SVG elements, for a drawing that is part of the page.

import type { ComponentChildren } from "preact";
import type { Ink, Lettering, Pen } from "../../marks/pen";

export class ElementPen implements Pen {
  readonly parts: ComponentChildren[] = [];

  lines(segments: ArrayLike<number>, count: number, width: number, ink: Ink): void {
    for (let i = 0; i < 4 * count; i += 4)
      this.parts.push(
        <line
          x1={segments[i]}
          y1={segments[i + 1]}
          x2={segments[i + 2]}
          y2={segments[i + 3]}
          stroke={ink.colour}
          stroke-width={width}
          stroke-dasharray={ink.dashed ? "4 3" : undefined}
        />,
      );
  }

  curve([x, y, ...rest]: readonly number[], width: number, { colour }: Ink): void {
    this.parts.push(
      <path d={`M${x} ${y}C${rest.join(" ")}`} fill="none" stroke={colour} stroke-width={width} />,
    );
  }

  text(x: number, y: number, text: string, lettering: Lettering): void {
    const { colour, alpha, size = 13, align = "start", mono = true, bold } = lettering;
    this.parts.push(
      <text
        x={x}
        y={y}
        class={mono ? "mono" : undefined}
        dominant-baseline="central"
        text-anchor={align}
        font-size={size}
        font-weight={bold ? 600 : undefined}
        fill={colour}
        fill-opacity={alpha}
      >
        {text}
      </text>,
    );
  }

  rect(): void {}
  image(): void {}
}
