/** Tables that a newer version changed so that this one cannot use them. The message says what an operator can do. */
export class NewerTables extends Error {
  constructor(store: string, change: string) {
    super(
      `${store} was changed by a newer version of Spanway (${change}), and this version cannot use it any more: start this node with the newer version.`,
    );
  }
}
