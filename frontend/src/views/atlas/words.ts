// The sentences of the atlas, in English and Chinese.

export const words = {
  atlas: ["Atlas", "总览"],
  open: ["Open in {view}", "在{view}中打开"],
  isOff: ["switched off", "已关闭"],
  legendAtlas: [
    "Each square is the map of one head: rows look, columns are looked at; each map up to its own strongest value.",
    "每个方格是一个头的注意力图：行在看，列被看；每图以自身最大值为准。",
  ],
  legendAtlasPooled: [
    "A pixel shows the largest of {n} × {n} values.",
    "一个像素显示 {n} × {n} 个值中的最大值。",
  ],
  legendAtlasSampled: [
    "Being refined: so far one row in {n} is computed.",
    "正在细化：目前每 {n} 行计算一行。",
  ],
  legendAtlasSketch: [
    "A sketch: one row in {n} is computed. Choose a head for all of them.",
    "草图：每 {n} 行计算一行。选择一个头可查看全部。",
  ],
  atlasHint: [
    "Point at a map to read what its head does; click enlarges it, double click opens it in Heads.",
    "指向一个图查看该头的作用；单击放大，双击在“注意力头”中打开。",
  ],
  measure_previous: ["to previous", "看前一个"],
  measure_next: ["to next", "看后一个"],
  measure_self: ["to itself", "看自身"],
  measure_first: ["to first", "看第一个"],
  measure_special: ["to special", "看特殊词元"],
  measure_entropy: ["entropy", "熵"],
  measure_distance: ["mean distance", "平均距离"],
  tint: ["Colour by", "着色依据"],
  byPattern: ["pattern", "模式"],
  byType: ["type of map", "图的类型"],
  entryHint: ["Click: dim the heads without it; again: all", "单击：淡化没有此项的头；再按：全部"],
  noName: ["no name", "未命名"],
  order: ["Order", "排序"],
  orderGrid: ["layer × head", "层 × 头"],
  onlyLayer: ["Show only layer {layer}; again: all", "只看第 {layer} 层；再按：全部"],
  onlyHead: ["Show only head {head}; again: all", "只看头 {head}；再按：全部"],
} as const;
