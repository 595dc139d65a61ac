// The sentences of the matrix view, in English and Chinese.

export const words = {
  matrix: ["Matrix", "矩阵"],
  legendMatrix: [
    "Rows: tokens that look. Columns: tokens looked at. Colour: {what}.",
    "行：在看的词元。列：被看的词元。颜色：{what}。",
  ],
  legendMatrixShort: ["Rows look, columns are looked at. Colour: {what}.", "行在看，列被看。颜色：{what}。"],
  legendMatrixWorth: [
    "Rows: tokens that look. Columns: tokens looked at. Colour: {what}; blue helps, orange works against. Struck cells have weights above 0.95: only an exact cut can tell.",
    "行：在看的词元。列：被看的词元。颜色：{what}；蓝色有帮助，橙色起反作用。划线的格子权重超过 0.95：只有实际切断才能知道。",
  ],
  legendResting: [
    "Grey: resting, on special tokens or the first one.",
    "灰色：在休息，停在特殊词元或第一个词元上。",
  ],
  unseen: ["A token sees itself\nand what came before it.", "每个词元只看见自己\n和它之前的词元。"],
  legendPooled: [
    "One pixel shows the largest of {n} × {n} values.",
    "一个像素显示 {n} × {n} 个值中的最大值。",
  ],
  colourBar: ["Colours from {from} to {to}", "颜色从 {from} 到 {to}"],
  othersBelow: ["The other {count}: below {least} each.", "其余 {count} 个：各小于 {least}。"],
  strongestOf: [
    "the {count} strongest of {all}, in their order",
    "{all} 个中最强的 {count} 个，按原来的顺序",
  ],
  findToken: ["Find a token", "查找词元"],
  findNext: ["Go to the next place, where it is looked at most", "跳到下一处：它被看得最多的地方"],
  findNone: ["not in this text", "文中没有"],
  findCount: ["in {all} of the tokens", "{all} 处"],
  findLooked: [
    "{n} of {all}: looked at most by {query}, {value}",
    "第 {n} 处（共 {all} 处）：{query} 看得最多，{value}",
  ],
  findUnseen: ["{n} of {all}: no other token looks at it", "第 {n} 处（共 {all} 处）：没有别的词元看它"],
  scale: ["Colour", "颜色"],
  linear: ["linear", "线性"],
  log: ["log", "对数"],
  zoomIn: ["Zoom in", "放大"],
  zoomOut: ["Zoom out", "缩小"],
  fit: ["Fit", "适应窗口"],
  matrixHint: [
    "Scroll to zoom, drag to move, double-click to zoom in; Shift + arrow keys move the map.",
    "滚轮缩放，拖动平移，双击放大；Shift + 方向键平移。",
  ],
} as const;
