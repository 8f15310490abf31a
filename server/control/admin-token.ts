/**
 * The admin token opens the control plane; who can read the data folder has it. Owns its file, and the tickets that stand
 * for it in a printed address; must not know how it is presented.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileDurably } from '../files/durable-file.ts';
import { isUnwritable, systemErrorCode } from '../files/file-problem.ts';

export const adminTokenFileName = 'admin.token';

/** Outstanding tickets; the oldest are dropped. */
const maxTickets = 100;
/** A printed address stays in terminals and journals. */
export const ticketLifeMs = 10 * 60_000;

export interface AdminToken {
  matches(presented: string): boolean;
  /** For the address of the window: good once, for ten minutes, and useless for anything else. */
  createTicket(): string;
  /** True the first time only. */
  redeemTicket(ticket: string): boolean;
  /** No address that was made so far opens anything. */
  dropTickets(): void;
  /** Differs between data folders: browsers keep cookies by host and not by port. */
  readonly cookieName: string;
}

interface TokenPlaces {
  /** Null: a token that lives as long as the program. */
  dataDir: string | null;
  /** Private; has the token where the data folder cannot be written. */
  fallbackFolder?: string | null | undefined;
}

export async function openAdminToken(places: TokenPlaces, nowMs: () => number = Date.now): Promise<AdminToken> {
  const token = places.dataDir === null ? newToken() : await readOrCreate({ ...places, dataDir: places.dataDir });
  const cookieMark = createHmac('sha256', token).update('cookie name').digest('hex').slice(0, 8);
  /** Hashes of tickets, with when they were made. */
  const tickets = new Map<string, number>();
  return {
    matches: (presented) => timingSafeEqual(sha256(presented), sha256(token)),
    createTicket() {
      const ticket = newToken();
      tickets.set(nameOf(ticket), nowMs());
      for (const oldest of tickets.keys()) {
        if (tickets.size <= maxTickets) break;
        tickets.delete(oldest);
      }
      return ticket;
    },
    redeemTicket(ticket) {
      const madeMs = tickets.get(nameOf(ticket));
      tickets.delete(nameOf(ticket));
      // A clock that was set back makes no ticket younger.
      return madeMs !== undefined && Math.abs(nowMs() - madeMs) <= ticketLifeMs;
    },
    dropTickets: () => tickets.clear(),
    cookieName: `sluice-${cookieMark}`,
  };
}

async function readOrCreate({ dataDir, fallbackFolder }: TokenPlaces & { dataDir: string }): Promise<string> {
  const path = join(dataDir, adminTokenFileName);
  const stored = await readPrivate(path);
  if (stored !== undefined) return stored;
  const token = newToken();
  try {
    await writeFileDurably(path, `${token}\n`);
  } catch (error) {
    if (!isUnwritable(error)) throw error;
    if (fallbackFolder) await writeFileDurably(join(fallbackFolder, adminTokenFileName), `${token}\n`);
  }
  return token;
}

/** Undefined if there is none, it is damaged, or others could have read it. */
async function readPrivate(path: string): Promise<string | undefined> {
  try {
    const text = (await readFile(path, 'utf8')).trim();
    const wasPrivate = process.platform === 'win32' || ((await stat(path)).mode & 0o077) === 0;
    return wasPrivate && /^[\w-]{43}$/.test(text) ? text : undefined;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

const newToken = () => randomBytes(32).toString('base64url');

/** Compared in constant time, whatever the lengths. */
const sha256 = (text: string) => createHash('sha256').update(text).digest();

const nameOf = (ticket: string) => sha256(ticket).toString('base64');
