import { createContext, useContext, useSyncExternalStore } from "react";

/**
 * Messages between the tabs of a browser. They share the cookie, so a new sign-in applies to all. `identity` names
 * person and organization.
 */
type TabMessage = { kind: "signed-in"; identity: string } | { kind: "signed-out" };

export type SessionWatch = {
  /** True from the first request rejected for lack of a session, until the person signs in again. */
  isEnded: () => boolean;
  subscribe: (listener: () => void) => () => void;
  /** Called when a request got 401. */
  end: () => void;
  /** Called when the same person has signed in again. */
  resume: () => void;
  notifyOtherTabs: (message: TabMessage) => void;
  onOtherTab: (listener: (message: TabMessage) => void) => () => void;
};

const channelName = "spanway-session";

export function createSessionWatch(): SessionWatch {
  const listeners = new Set<() => void>();
  const channel = new BroadcastChannel(channelName);
  let isEnded = false;
  const set = (next: boolean): void => {
    if (isEnded === next) return;
    isEnded = next;
    for (const listener of listeners) listener();
  };
  return {
    isEnded: () => isEnded,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    end: () => set(true),
    resume: () => set(false),
    notifyOtherTabs: (message) => channel.postMessage(message),
    onOtherTab(listener) {
      const onMessage = (event: MessageEvent<TabMessage>): void => listener(event.data);
      channel.addEventListener("message", onMessage);
      return () => channel.removeEventListener("message", onMessage);
    },
  };
}

export const SessionContext = createContext<SessionWatch | undefined>(undefined);

export function useSessionWatch(): SessionWatch {
  const watch = useContext(SessionContext);
  if (watch === undefined) throw new Error("SessionContext is missing above this component.");
  return watch;
}

/** Whether the session ended while the page was open. */
export function useIsSessionEnded(): boolean {
  const { subscribe, isEnded } = useSessionWatch();
  return useSyncExternalStore(subscribe, isEnded);
}
