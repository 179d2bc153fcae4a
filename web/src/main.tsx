import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createQueryClient } from "./api/query-client.ts";
import { createSessionWatch, SessionContext } from "./api/session-watch.ts";
import { router } from "./router.tsx";
import { KeysProvider } from "./ui/keys-provider.tsx";
import { applyTheme, storedTheme } from "./ui/theme.ts";
import { ToastProvider } from "./ui/toast.tsx";
import "./ui/tokens.css";

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no element with the id root");

applyTheme(storedTheme());
const session = createSessionWatch();

createRoot(root).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <SessionContext value={session}>
        <QueryClientProvider client={createQueryClient(session.end)}>
          <KeysProvider>
            <ToastProvider>
              <RouterProvider router={router} />
            </ToastProvider>
          </KeysProvider>
        </QueryClientProvider>
      </SessionContext>
    </CSPProvider>
  </StrictMode>,
);
