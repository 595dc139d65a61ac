// The sentences of the atlas, in English and Chinese.

export const words = {
  atlas: ["Atlas", "总览"],
  openIn: ["Open in", "用以下视图打开"],
  isOff: ["switched off", "已关闭"],
  legendAtlas: [
    "One square per head: rows look at columns, each on its own scale.",
    "每个方格是一个头：行看向列；各按自身的尺度着色。",
  ],
  legendAtlasPicture: [
    "One picture per head, coloured where {token} looks; each on its own scale.",
    "每个头一幅图：有颜色处是{token}看向的地方；各按自身的尺度着色。",
  ],
  legendAtlasMarks: [
    "Grey: resting; the tick shows how much. Small squares: several names.",
    "灰色：在休息，灰条表示多少。小方块：有几个名称。",
  ],
  legendAtlasFrames: ["Frame: what it does. Grey: resting.", "边框颜色：它做什么。灰色：在休息。"],
  legendAtlasWorth: [
    "One square per head: each row is a token that looks, each column a token it may look at. Colour: {what}, on one scale for all heads; blue helps, orange works against, grey: weight above 0.95, where only an exact cut can tell. Below: what it does apart from resting.",
    "每个方格是一个头：行是在看的词元，列是它可以看的词元。颜色：{what}，所有头用同一尺度；蓝色有帮助，橙色起反作用，灰色的权重超过 0.95，只有实际切断才能知道。下方：它在休息之外做什么。",
  ],
  worthScale: ["Here on its own scale, from −{top} to {top}.", "此处按自身尺度，从 −{top} 到 {top}。"],
  worthBar: ["Colours from −{top} to {top}", "颜色从 −{top} 到 {top}"],
  measure_worth: ["largest worth of a line", "连线的最大价值"],
  legendAtlasPooled: [
    "One pixel shows the largest of {n} × {n} values.",
    "一个像素显示 {n} × {n} 个值中的最大值。",
  ],
  legendAtlasShares: [
    "One pixel shows how much of the attention of {n} tokens goes to {n} tokens, on average, counted from every weight.",
    "一个像素显示 {n} 个词元平均有多少注意力投向另外 {n} 个词元，由全部权重算出。",
  ],
  legendAtlasAbsent: [
    "This page of a long text has all weights of layers {layers} only; of the others it has these pictures.",
    "本页的文本很长：只完整包含第 {layers} 层，其余各层仅有这些缩略图。",
  ],
  pictureOnly: ["only its picture is in this page", "本页只有它的缩略图"],
  legendAtlasSampled: [
    "Still being refined: one row in {n} has been computed so far.",
    "正在细化：目前每 {n} 行计算了一行。",
  ],
  legendAtlasSketch: [
    "A sketch: one row in {n} is computed. Choose a head to see all of its rows.",
    "草图：每 {n} 行计算一行。选择一个头可查看它的所有行。",
  ],
  atlasHint: [
    "Point at a map to read what its head does; click to keep it large, double-click to open it in Heads.",
    "指向一张图，查看该头的作用；单击保持放大，双击在“注意力头”中打开。",
  ],
  measure_previous: ["to the previous token", "看前一个词元"],
  measure_next: ["to the next token", "看后一个词元"],
  measure_self: ["to the token itself", "看词元自身"],
  measure_first: ["to the first token", "看第一个词元"],
  measure_special: ["to special tokens", "看特殊词元"],
  tint: ["Colour by", "着色依据"],
  byPattern: ["pattern", "模式"],
  byType: ["type of map", "图的类型"],
  byChange: ["change", "变化"],
  legendChange: [
    "Colour: how much of a token's attention goes elsewhere without {heads}, on average. Head {most} changes most, {top}; {changed} of {count} heads change, empty squares stay the same (below 0.0001).",
    "颜色：去掉 {heads} 后，每个词元平均有多少注意力转向别处。变化最大的是头 {most}（{top}）；{count} 个头中有 {changed} 个改变，空格保持不变（差异小于 0.0001）。",
  ],
  changeWaiting: [
    "Running the model with all heads on, to compare …",
    "正在运行所有头都打开的模型，以便比较……",
  ],
  changeUnlike: [
    "The runs with and without the switched-off heads cannot be compared head by head: their tokens differ, or the text is very long. Set “continue for” to no tokens, or use a shorter text.",
    "关闭前后的两次运行无法逐头比较：词元不同，或文本过长。请将“继续生成”设为不生成，或使用较短的文本。",
  ],
  legendRule: [
    "Colour: how far each head follows the rule {rule} on this text: its lift, 0 at chance and 1 for all of its attention that does not rest. Head {best} follows it most, {top}.",
    "颜色：每个头在此文本上遵循规则 {rule} 的程度（提升值：0 为随机水平，1 为全部不在休息的注意力）。头 {best} 最符合，{top}。",
  ],
  legendRuleNone: [
    "The rule {rule} cannot be asked of these heads on this text.",
    "在此文本上无法对这些头查询规则 {rule}。",
  ],
  followsBy: ["lift {value}", "提升值 {value}"],
  changeBar: ["Colours from 0 to {top}", "颜色从 0 到 {top}"],
  changedBy: ["changes by {value}", "变化 {value}"],
  unchanged: ["the same", "相同"],
  entryHint: [
    "Point at it to dim the heads without it; click to keep them so, and again to show all",
    "指向：淡化没有此项的头；单击：保持；再次单击：恢复全部",
  ],
  noName: ["none of these", "以上皆无"],
  notCounted: ["(not counted as a name)", "（不算名称）"],
  alsoNamed: ["+{also} as second name", "另 {also} 个以此为第二名称"],
  alsoHint: ["{also} more have another name first", "另有 {also} 个头以别的名称为先"],
  restsFor: ["rests with {share} of its attention", "有 {share} 的注意力在休息"],
  acrossHeads: ["head →", "头 →"],
  downLayers: ["layer ↓", "层 ↓"],
  acrossLayers: ["layer →", "层 →"],
  downHeads: ["head ↓", "头 ↓"],
  stillBefore: ["earlier than {head}: cannot change", "早于 {head}，不会改变"],
  stillBeside: ["beside {head}, in the same layer: cannot change", "与 {head} 同层，不会改变"],
  order: ["Order", "排序"],
  orderGrid: ["layer × head", "层 × 头"],
  onlyLayer: ["Show only layer {layer}; click again to show all", "只看第 {layer} 层；再次单击显示全部"],
  onlyHead: ["Show only head {head}; click again to show all", "只看头 {head}；再次单击显示全部"],
} as const;
