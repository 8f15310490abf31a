/**
 * The admin token gives anyone who can read the data folder access to the control plane. This file manages the token's
 * file and the single-use tickets that replace the token in printed addresses.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileDurably } from '../ground/files/durable-file.ts';
import { isUnwritable, systemErrorCode } from '../ground/files/regular-file.ts';

export const adminTokenFileName = 'admin.token';

/** Maximum number of unused tickets; beyond it, the oldest are dropped. */
const maxTickets = 100;
/** Short, because printed addresses stay in terminals and journals. */
const ticketLifeMs = 10 * 60_000;

export interface AdminToken {
  matches(presented: string): boolean;
  /** For the window's address: valid once, for ten minutes. */
  createTicket(): string;
  /** Returns true only the first time. */
  redeemTicket(ticket: string): boolean;
  /** Voids all unused tickets. */
  dropTickets(): void;
  /** Differs between data folders, because browsers share cookies between the ports of a host. */
  readonly cookieName: string;
}

interface TokenPlaces {
  /** Null if the token is not stored. */
  dataDir: string | null;
  /** A private folder for the token, used if the data folder is not writable. */
  fallbackFolder?: string | null | undefined;
}

export async function openAdminToken(places: TokenPlaces, nowMs: () => number = Date.now): Promise<AdminToken> {
  const token = places.dataDir === null ? newToken() : await readOrCreate({ ...places, dataDir: places.dataDir });
  const cookieMark = createHmac('sha256', token).update('cookie name').digest('hex').slice(0, 8);
  /** Creation times by hash of the ticket. */
  const tickets = new Map<string, number>();
  return {
    matches: (presented) => isSameSecret(presented, token),
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
      // The absolute value, so that setting the clock back does not prolong a ticket.
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

/** Undefined if the file does not exist, is damaged or is readable by others. */
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

/** Compares in constant time, regardless of the lengths. */
export function isSameSecret(one: string, other: string): boolean {
  return timingSafeEqual(sha256(one), sha256(other));
}

/** Hashed so that values of any length can be compared in constant time. */
const sha256 = (text: string) => createHash('sha256').update(text).digest();

const nameOf = (ticket: string) => sha256(ticket).toString('base64');
