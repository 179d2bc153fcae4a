/** Heights and widths in px, shared by the rows and the head of the table. */
export const rowHeight = 28;
export const gutterWidth = 32;
