import { createContext, useContext } from "react";

/** How message texts are rendered. */
export type MessageForm = "markdown" | "text";

export const MessageFormContext = createContext<MessageForm>("markdown");

export const useMessageForm = (): MessageForm => useContext(MessageFormContext);
