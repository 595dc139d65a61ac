// The sentences of the head view, in English and Chinese.

export const words = {
  heads: ["Heads", "注意力头"],
  threshold: ["Hide below", "隐藏低于"],
  queryToken: ["query {index}: {text}", "查询 {index}：{text}"],
  legendHeads: [
    "A line runs from a token to a token it looks at. Colour: head. Strength: {what}.",
    "线从一个词元连到它所看的词元。颜色：头。深浅：{what}。",
  ],
  legendOne: [
    "A line runs from a token to a token it looks at. Strength: {what}.",
    "线从一个词元连到它所看的词元。深浅：{what}。",
  ],
  legendTogether: [
    "A line runs from a token to a token it looks at. Strength: {what}, the mean of {count} heads:",
    "线从一个词元连到它所看的词元。深浅：{what}，{count} 个头的平均：",
  ],
  legendHeadsWorth: [
    "A line runs from a token to a token it looks at. Blue: it helps; orange: it works against. Strength: {what}.",
    "线从一个词元连到它所看的词元。蓝色：有帮助；橙色：起反作用。深浅：{what}。",
  ],
  legendTogetherWorth: [
    "A line runs from a token to a token it looks at. Blue: it helps; orange: it works against. Strength: {what}, the mean of {count} heads:",
    "线从一个词元连到它所看的词元。蓝色：有帮助；橙色：起反作用。深浅：{what}，{count} 个头的平均：",
  ],
  legendSentenceWorth: [
    "Point at a word: arcs above lead to what it looks at, arcs below come from words that look at it. Blue helps, orange works against. Tint: {what}.",
    "指向一个词：上方的弧通向它所看的词，下方的弧来自看向它的词。蓝色有帮助，橙色起反作用。底色：{what}。",
  ],
  form: ["Form", "形式"],
  columns: ["columns", "两列"],
  sentence: ["sentence", "句子"],
  legendSentence: [
    "Point at a word: arcs above lead to what it looks at, arcs below come from words that look at it. Tint: {what}.",
    "指向一个词：上方的弧通向它所看的词，下方的弧来自看向它的词。底色：{what}。",
  ],
  legendPale: ["Pale arcs: what the other words look at.", "淡色的弧：其他词的目光。"],
  focusLooks: [
    "The next word is chosen at “{word}”: from there it looks most at “{key}” ({weight}).",
    "下一个词在“{word}”处选出：从那里看得最多的是“{key}”（{weight}）。",
  ],
  focusRests: [
    "The next word is chosen at “{word}”: from there nearly all attention rests.",
    "下一个词在“{word}”处选出：从那里注意力几乎都在休息。",
  ],
  legendMany: ["Mean of {count} heads:", "{count} 个头的平均："],
  legendRest: ["grey, drawn faintly: rests on {places}", "灰色，画得较淡：停在{places}上休息"],
  legendRestShare: [
    "grey, drawn faintly: {share}% of {whose} attention rests, mostly on {place}",
    "灰色，画得较淡：{whose}注意力的 {share}% 在休息，主要停在{place}上",
  ],
  swatches: ["How strong a line is drawn", "线的深浅"],
  headingQueries: ["looks", "在看"],
  headingKeys: ["looked at", "被看"],
  received_weights: ["total received", "所得总和"],
  received_contributions: ["total received", "所得总和"],
  received_worth: ["total worth", "价值总和"],
  receivedHint: [
    "What each token gets, summed over all tokens that look",
    "每个词元所得，对所有在看的词元求和",
  ],
  beforeCut: ["before the cut", "切断之前"],
  quantityBeforeCut: ["{what} before the cut", "切断之前的{what}"],
  stripBy: ["looks at it", "看向它"],
  legendLeft: ["Only the {count} strongest lines are drawn.", "只画出最强的 {count} 条线。"],
  legendPatches: [
    "The more colour, the larger the {what}; the strongest look has full colour. Rows and columns are counted from 0.",
    "颜色越浓，{what}越大（各有各的色标）。行和列从 0 数起。",
  ],
  pictureLooks: ["What looks: {name}", "谁在看：{name}"],
  pictureLooksMany: ["What looks: {count} tokens", "谁在看：{count} 个词元"],
  talkLooks: ["← looks from here", "← 从这里看"],
  talkOthers: ["other tokens, on the same scale", "其他词元，着色方式相同"],
  pictureAlone: ["The picture", "图像"],
  pictureTo: ["Where it looks", "看向哪里"],
  pictureSeen: ["What is looked at", "谁被看"],
  pictureFrom: ["Who looks there", "谁看向那里"],
  reads: ["The model reads: “{text}”.", "模型读出：“{text}”。"],
  readsNothing: ["The model reads nothing here.", "模型在这里没有读出文字。"],
  onPadding: [
    "{share} of the attention falls on the {count} columns of padding after the picture (not shown).",
    "{share} 的注意力落在图像之后的 {count} 列填充上（未显示）。",
  ],
  columnSays: ["column {column}, says “{letter}”", "第 {column} 列，读作“{letter}”"],
  legendStrip: [
    "Above: the column that looks. Below: where it looks; the more colour, the larger the {what}. Letters stand under the columns that say them.",
    "上：在看的列。下：它看向哪里；颜色越浓，{what}越大。字母写在读出它的那一列下面。",
  ],
  everyHead: ["Every head of layer {layer}, from the same place", "第 {layer} 层的每个头，从同一处看"],
  noHeads: ["No head is chosen. Choose one above.", "没有选择头，请在上方选择。"],
  noPositions: ["Nothing to show: all positions are hidden.", "没有可显示的内容：所有位置都被隐藏。"],
  hoverHint: [
    "Point at a token to see only its lines; click to keep them, Esc to let go.",
    "指向一个词元，只看它的线；单击保留，按 Esc 取消。",
  ],
  hoverHintPicture: [
    "Point at a patch or a word to see where it looks; click to keep it, Esc to let go.",
    "指向一个图块或词，看它看向哪里；单击保留，按 Esc 取消。",
  ],
  patch: ["patch row {row}, column {column}", "图块：第 {row} 行，第 {column} 列"],
} as const;
