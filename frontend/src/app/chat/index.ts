// The chat, as the frame knows it.

import type { View } from "../../state/view";
import "./chat.css";
import { ChatView } from "./view";

export { words } from "./words";

export const view: View = {
  id: "chat",
  title: "chat",
  heads: "one",
  Component: ChatView,
  wide: true,
};
