/** Heights and widths in px that rows and the head of the table agree on. */
export const rowHeight = 28;
export const gutterWidth = 32;
