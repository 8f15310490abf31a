/** Divides a batch that the database refuses, until what it refuses stands alone. Pure. */

import type { BegunRow, EndedRow } from '../rules/rows.ts';
import type { Capture } from './capture-rows.ts';
import type { JoinedRequest } from './session-rows.ts';

export interface Piece {
  /** One for each request. */
  rows: readonly (BegunRow | EndedRow)[];
  captures: readonly Capture[];
  joined: readonly JoinedRequest[];
}

/** Empty if the piece cannot be divided. A capture stays with the row of its request as long as that has neighbours. */
export function halvesOf({ rows, captures, joined }: Piece): Piece[] {
  if (rows.length > 1) {
    const first = rows.slice(0, rows.length / 2);
    const ids = new Set(first.map(({ id }) => id));
    return [
      { rows: first, captures: captures.filter(({ id }) => ids.has(id)), joined: [] },
      // Requests join sessions after they are written.
      { rows: rows.slice(first.length), captures: captures.filter(({ id }) => !ids.has(id)), joined },
    ];
  }
  const each: Piece[] = [
    ...rows.map((row) => ({ ...nothing, rows: [row] })),
    ...captures.map((capture) => ({ ...nothing, captures: [capture] })),
    ...joined.map((joinedRequest) => ({ ...nothing, joined: [joinedRequest] })),
  ];
  return each.length > 1 ? each : [];
}

const nothing: Piece = { rows: [], captures: [], joined: [] };
