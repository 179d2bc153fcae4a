import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";

/** By then the first screen has its data. */
const idleMs = 1_500;

/**
 * Preloads the code of the other screens while the page is idle, one after another, so that a click only waits for its
 * query. Skipped if the browser is set to save data.
 */
export function useScreensAhead(): void {
  const router = useRouter();
  useEffect(() => {
    if (savesData()) return undefined;
    let isLeft = false;
    const load = async (): Promise<void> => {
      for (const route of Object.values(router.routesById)) {
        // Only screens have a title: the sign-in page and shared pages are skipped.
        if (route.options.staticData?.title === undefined) continue;
        await idle();
        if (isLeft) return;
        await router.loadRouteChunk(route);
      }
    };
    const timer = setTimeout(() => void load(), idleMs);
    return () => {
      isLeft = true;
      clearTimeout(timer);
    };
  }, [router]);
}

/** Not every browser supports `requestIdleCallback`. */
function idle(): Promise<void> {
  return new Promise((resolve) => {
    if ("requestIdleCallback" in globalThis) requestIdleCallback(() => resolve());
    else setTimeout(resolve, 50);
  });
}

function savesData(): boolean {
  const { connection } = navigator as Navigator & { connection?: { saveData?: boolean } };
  return connection?.saveData === true;
}
