/** What a roster may hold: each member knows its own place, and is on one roster at most. */
export type RosterMember = { place: number | undefined };

/**
 * What is under way, in no order. A `Set` that members enter and leave all the time is expensive: V8 makes it a new table every few
 * of them, and each one that it left behind keeps the next alive, with all that was in it, until the whole heap is collected.
 */
export class Roster<T extends RosterMember> {
  readonly #members: T[] = [];

  enter(member: T): void {
    member.place ??= this.#members.push(member) - 1;
  }

  leave(member: T): void {
    const { place } = member;
    if (place === undefined) return;
    member.place = undefined;
    const last = this.#members.pop();
    if (last === undefined || last === member) return;
    this.#members[place] = last;
    last.place = place;
  }

  /** As they are now: they may leave meanwhile. */
  all(): T[] {
    return [...this.#members];
  }
}
