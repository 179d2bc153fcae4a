import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { join } from "node:path";
import { defineConfig } from "vite";
import { precompress } from "./scripts/precompress.ts";

/** The address of the server to which Vite forwards requests. `npm run dev` sets it. */
const server = process.env["DEV_SERVER_URL"] ?? "http://127.0.0.1:8787";

/** Paths that the server handles: the API, and everything else that is not a page of the application. */
const isOfServer = "^/(?:api|automation|v1|v1beta|mcp|docs|sign-in|openapi\\.json|livez|readyz|metrics)(?:/|\\?|$)";

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss(), precompress()],
  build: {
    target: "es2022",
    // Inlined assets become data: URLs, which the Content-Security-Policy forbids for scripts, styles and fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The API reference is one chunk of about this size, in kB.
    chunkSizeWarningLimit: 1600,
    rolldownOptions: {
      input: { index: join(import.meta.dirname, "index.html"), docs: join(import.meta.dirname, "docs.html") },
    },
  },
  server: {
    host: "127.0.0.1",
    port: 5173,
    strictPort: true,
    // The server compares the headers Origin and Host, so the proxy leaves both unchanged.
    proxy: { [isOfServer]: { target: server, changeOrigin: false, ws: false } },
  },
});
