/** Styles of everything that floats: popovers, menus, tooltips, toasts. */
export const floating =
  "z-50 rounded-md border border-line-strong bg-panel outline-none shadow-[0_4px_16px_var(--float)]";
