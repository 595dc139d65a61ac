// The sentences of a film of training, in English and Chinese.

export const FILM = {
  filmTitle: [
    "{model} · {frames} frames, steps {first} to {last}",
    "{model} · {frames} 帧，第 {first} 至 {last} 步",
  ],
  filmBorn: [
    "Head {head} {does} from step {step} on: lift {lift}.",
    "头 {head} 从第 {step} 步起{does}：提升值 {lift}。",
  ],
  filmUnborn: [
    "No head has got a name that it keeps to the last frame.",
    "没有头获得并保持到最后一帧的名称。",
  ],
  filmPlay: ["Play", "播放"],
  filmPause: ["Pause", "暂停"],
  filmSlider: ["Step of training", "训练步数"],
  filmStep: ["step {step}", "第 {step} 步"],
  filmLoss: ["loss {loss}", "损失 {loss}"],
  filmPattern: ["Pattern", "模式"],
  filmKind: ["Attention", "注意力"],
  filmGrid: [
    "One square per head, on the first probe text: rows look at columns, each on its own scale; grey: resting. The frame has the colour of its name at this step.",
    "每个方格是一个头在首段探测文本上的注意力：行看向列，各按自身的尺度着色；灰色：在休息。边框颜色表示该步时的名称。",
  ],
  filmLifts: ["{pattern}: lift of every head over steps", "{pattern}：各头的提升值随步数的变化"],
  filmLiftsNote: [
    "0 is chance, 1 all of the attention that does not rest; dashed: from here on heads are named. Band: 95% interval of the chosen head.",
    "0 为随机水平，1 为全部不在休息的注意力；虚线以上的头获得名称。色带：所选头的 95% 区间。",
  ],
  filmLosses: ["Loss of training over steps", "训练损失随步数的变化"],
  filmHead: ["Head {head}", "头 {head}"],
  filmNone: ["no name yet", "尚无名称"],
  filmRests: ["rests with {share} of its attention", "有 {share} 的注意力在休息"],
  filmLift: ["{pattern}: lift {lift}", "{pattern}：提升值 {lift}"],
  filmBetween: [" ({low}–{high})", "（{low}–{high}）"],
  filmFromTo: [" ({low} to {high})", "（{low} 至 {high}）"],
  filmFailed: ["This film cannot be read: {detail}", "无法读取该影片：{detail}"],
  filmKeys: ["Space plays, ← and → go frame by frame.", "空格键播放，← 和 → 逐帧移动。"],
} as const;
