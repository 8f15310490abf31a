/** Writes a batch that the database refuses, except for what it refuses of it. */
import { randomUUID } from 'node:crypto';
import { messageOf } from '../rules/failures.ts';
import type { BegunRow, EndedRow } from '../rules/rows.ts';
import { bareRow } from '../rules/storable-row.ts';
import { halvesOf, type Piece } from '../sqlite/halves.ts';
import type { SetAsideRows } from '../sqlite/set-aside-rows.ts';
import { rowsToWrite } from '../sqlite/writer.ts';
import { failsForEver } from './failures.ts';
import type { Batch, LedgerWriter } from './ledger-writer.ts';

interface Ports {
  writer: Pick<LedgerWriter, 'write'>;
  setAside: SetAsideRows;
  log: { warn(fields: object, message: string): void };
}

/**
 * Rejects if nothing can be written now. The batch may then be written again as a whole: rows count once, because a request
 * has only one.
 */
export async function writeApart({ rows, captures = [], joined = [], replica }: Batch, ports: Ports): Promise<void> {
  const whole = { rows: rowsToWrite(rows), captures, joined };
  const origin = replica === undefined ? {} : { replica };
  const pieces = halvesOf(whole).length > 0 ? halvesOf(whole) : [whole];
  for (let piece = pieces.shift(); piece; piece = pieces.shift())
    pieces.unshift(...(await writePiece(piece, origin, ports)));
}

type Origin = Pick<Batch, 'replica'>;

/** Resolves with the pieces to write instead. */
async function writePiece(piece: Piece, origin: Origin, ports: Ports): Promise<Piece[]> {
  try {
    await ports.writer.write({ id: randomUUID(), ...piece, ...origin });
    return [];
  } catch (error) {
    if (!failsForEver(error)) throw error;
    const halves = halvesOf(piece);
    if (halves.length === 0) await refuse(piece, { origin, ports, error: messageOf(error) });
    return halves;
  }
}

interface Refused {
  origin: Origin;
  ports: Ports;
  error: string;
}

async function refuse({ rows: [row], captures: [capture], joined: [join] }: Piece, refused: Refused): Promise<void> {
  const { setAside, log } = refused.ports;
  const { error } = refused;
  if (capture) log.warn({ request: capture.id, error }, 'a captured text cannot be written');
  if (join) log.warn({ request: join.requestId, error }, 'a request cannot join its session');
  if (row && !setAside.has(row)) setAside.add({ row, error, isCounted: await writeBare(row, refused) });
}

async function writeBare(row: BegunRow | EndedRow, { origin, ports }: Refused): Promise<boolean> {
  try {
    await ports.writer.write({ id: randomUUID(), rows: [bareRow(row)], ...origin });
    return true;
  } catch (error) {
    if (!failsForEver(error)) throw error;
    return false;
  }
}
