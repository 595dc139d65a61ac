// The sentences of the view of a sound, in English and Chinese.

export const words = {
  sound: ["Sound", "声音"],
  soundText: [
    "What was heard. Point at a word: when it was listened for. Point at a moment: who listened. Click there to play.",
    "听到的文字。指向一个词：看它听的是哪一刻。指向一个时刻：看哪些词在听。单击即从那里播放。",
  ],
  soundFrames: [
    "Point at a moment to see which moments it looks at; click to play from there.",
    "指向一个时刻，看它看向哪些时刻；单击即从那里播放。",
  ],
  soundWord: [
    "Before it writes “{word}”, having written “{before}”, it listens most at {seconds} s.",
    "写出“{word}”之前（刚写完“{before}”），它最多在听第 {seconds} 秒。",
  ],
  soundMoment: ["{seconds} s is heard by {words}.", "第 {seconds} 秒被这些词听到：{words}。"],
  soundMomentFrames: [
    "The moment {seconds} s looks most at {most} s ({value}).",
    "第 {seconds} 秒最多看向第 {most} 秒（{value}）。",
  ],
  soundShare: ["“{word}” {value}", "“{word}” {value}"],
  soundColours: [
    "Grey: the sound, high voices above. Blue: where attention is, each row up to its own strongest moment.",
    "灰色：声音，高音在上。蓝色：注意力所在，每行以自己最强的时刻为满。",
  ],
  soundBeyond: [
    "{share} of the attention is on the silence added behind the sound, which is not drawn.",
    "{share} 的注意力落在补在声音后的静音上，图中未画出。",
  ],
  soundShifted: [
    "The row of a token decides which token comes next, so a word is shown with the row of the token before it.",
    "每个词元的行决定下一个词元，因此每个词用的是它前一个词元的行。",
  ],
  soundMean: ["Mean of {count} heads of layer {layer}", "第 {layer} 层 {count} 个头的平均"],
  soundOne: ["Head {layer}.{head}", "头 {layer}.{head}"],
  soundWithin: [
    "These heads look from text to text. Choose cross or encoder above to see what they hear.",
    "这些头只在文字之间看。请在上方选择交叉或编码器，查看它们听到什么。",
  ],
  soundPlay: ["Play", "播放"],
  soundStop: ["Stop", "停止"],
  soundFrom: ["Play from {seconds} s", "从第 {seconds} 秒播放"],
  soundSilent: ["This browser cannot play the sound.", "此浏览器无法播放这段声音。"],
  soundSeconds: ["seconds", "秒"],
  soundPicture: [
    "Spectrogram of {seconds} s of sound; below it, when each word is listened for",
    "{seconds} 秒声音的频谱图；下方是每个词在听的时刻",
  ],
  help_sound: ["← → in the sound: the word", "声音视图中按 ← →：换一个词"],
} as const;
