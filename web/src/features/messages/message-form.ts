import { createContext, useContext } from "react";

/** How texts of messages are shown. */
export type MessageForm = "markdown" | "text";

export const MessageFormContext = createContext<MessageForm>("markdown");

export const useMessageForm = (): MessageForm => useContext(MessageFormContext);
