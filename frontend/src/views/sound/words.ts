// The sentences of the view of a sound, in English and Chinese.

export const words = {
  sound: ["Sound", "声音"],
  soundText: [
    "Point at a word: when it was listened for. Point at a moment: who listened. Click there to play.",
    "指向一个词：看它听的是哪一刻。指向一个时刻：看哪些词在听。单击即从那里播放。",
  ],
  soundFrames: [
    "Point at a moment to see which moments it looks at; click to play from there.",
    "指向一个时刻，看它看向哪些时刻；单击即从那里播放。",
  ],
  soundWord: [
    "Before “{word}” is written, {who} listens most at {seconds} s{mean}.",
    "写出“{word}”之前，{who}最多在听第 {seconds} 秒{mean}。",
  ],
  soundMoment: ["{seconds} s is heard most by {words}.", "听第 {seconds} 秒最多的词：{words}。"],
  soundMomentFrames: [
    "The moment {seconds} s looks most at {most} s ({value}).",
    "第 {seconds} 秒最多看向第 {most} 秒（{value}）。",
  ],
  soundShare: ["“{word}” {value}", "“{word}” {value}"],
  soundColours: [
    "Blue: attention, each row on its own scale. Grey: the sound.",
    "蓝色：注意力，每行各有色标。灰色：声音。",
  ],
  soundBeyond: [
    "{share} falls on the padding after the recording (not drawn).",
    "{share} 落在录音之后的填充部分（未画出）。",
  ],
  soundShifted: ["Each row: where it listens just before writing that word.", "每行：写出该词之前听到的。"],
  soundRests: [
    "▼ rests: {share} on average goes to {seconds} s, whatever word comes next.",
    "▼ 休息：无论接下来是什么词，平均都有 {share} 停在第 {seconds} 秒。",
  ],
  soundRestMark: ["rests", "休息"],
  soundWhoLayer: ["layer {layer}", "第 {layer} 层"],
  soundWhoOne: ["head {layer}.{head}", "头 {layer}.{head}"],
  soundMeanAll: [" (mean of its {all} heads)", "（{all} 个头的平均）"],
  soundMeanSome: [" (mean of {count} of its {all} heads)", "（{all} 个头中 {count} 个的平均）"],
  soundWithin: [
    "These heads look from text to text. Choose cross or encoder above to see what they hear.",
    "这些头只在文字之间看。请在上方选择交叉或编码器，查看它们听到什么。",
  ],
  soundPlay: ["Play", "播放"],
  soundStop: ["Stop", "停止"],
  soundFrom: ["Play from {seconds} s", "从第 {seconds} 秒播放"],
  soundSilent: ["This browser cannot play the sound.", "此浏览器无法播放这段声音。"],
  soundTime: ["time, seconds", "时间（秒）"],
  soundBar: ["attention weight / the row's largest", "注意力权重 / 该行的最大值"],
  soundHigh: ["high", "高频"],
  soundLow: ["low", "低频"],
  soundCurve: ["attention", "注意力"],
  soundCurveMean: ["mean of rows", "各行平均"],
  soundTitle: ["When {who} listens for each word{mean}", "{who}为每个词听的时刻{mean}"],
  soundFramesTitle: ["At which moments {who} looks{mean}", "{who}看向哪些时刻{mean}"],
  soundPicture: [
    "Spectrogram of {seconds} s of sound; below it, when each word is listened for",
    "{seconds} 秒声音的频谱图；下方是每个词在听的时刻",
  ],
  help_sound: ["← → in the sound: the word", "声音视图中按 ← →：换一个词"],
} as const;
