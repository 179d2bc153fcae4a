import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { join } from "node:path";
import { defineConfig } from "vite";
import { precompress } from "./scripts/precompress.ts";

/** Where the server of `npm run dev` listens. */
const server = process.env["DEV_SERVER_URL"] ?? "http://127.0.0.1:8787";

/** What the server answers itself: the API, and what is no page. */
const isOfServer = "^/(?:api|automation|v1|v1beta|mcp|docs|sign-in|openapi\\.json|livez|readyz|metrics)(?:/|\\?|$)";

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss(), precompress()],
  build: {
    target: "es2022",
    // A data: URL would have to be allowed by the policy of fonts and styles too.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The API reference is one chunk of that size.
    chunkSizeWarningLimit: 1600,
    rolldownOptions: {
      input: { index: join(import.meta.dirname, "index.html"), docs: join(import.meta.dirname, "docs.html") },
    },
  },
  server: {
    host: "127.0.0.1",
    port: 5173,
    strictPort: true,
    // The server compares the Origin with the host that was asked for: both stay as the browser sent them.
    proxy: { [isOfServer]: { target: server, changeOrigin: false, ws: false } },
  },
});
