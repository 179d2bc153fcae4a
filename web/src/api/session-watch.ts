import { createContext, useContext, useSyncExternalStore } from "react";

/**
 * Messages between the tabs of a browser. They share the cookie, so a new sign-in applies to all. `identity` names
 * person and organization.
 */
type Told = { kind: "signed-in"; identity: string } | { kind: "signed-out" };

export type SessionWatch = {
  /** True from the first request rejected for lack of a session, until the person signs in again. */
  isEnded: () => boolean;
  subscribe: (listener: () => void) => () => void;
  /** Called when a request got 401. */
  end: () => void;
  /** Called when the same person has signed in again. */
  resume: () => void;
  tellOtherTabs: (told: Told) => void;
  onOtherTab: (listener: (told: Told) => void) => () => void;
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
    tellOtherTabs: (told) => channel.postMessage(told),
    onOtherTab(listener) {
      const hear = (event: MessageEvent<Told>): void => listener(event.data);
      channel.addEventListener("message", hear);
      return () => channel.removeEventListener("message", hear);
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
