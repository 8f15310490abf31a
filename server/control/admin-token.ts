/**
 * The admin token opens the control plane; who can read the data folder has it. Owns its file and what is derived from
 * it; must not know how it is presented.
 */
import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileDurably } from '../files/durable-file.ts';
import { isUnwritable, systemErrorCode } from '../files/file-problem.ts';

export const adminTokenFileName = 'admin.token';

/** Outstanding tickets; the oldest are dropped. */
const maxTickets = 100;

export interface AdminToken {
  matches(presented: string): boolean;
  /** For the address of the window: good once, and useless for anything else. */
  createTicket(): string;
  /** True the first time only. */
  redeemTicket(ticket: string): boolean;
  /** What a window keeps in its cookie; the same over restarts. */
  readonly session: string;
  sessionMatches(presented: string): boolean;
  /** Differs between data folders: browsers keep cookies by host and not by port. */
  readonly cookieName: string;
}

/** @param dataDir null: a token that lives as long as the program */
export async function openAdminToken(dataDir: string | null): Promise<AdminToken> {
  const token = dataDir === null ? newToken() : await readOrCreate(join(dataDir, adminTokenFileName));
  const derive = (purpose: string) => createHmac('sha256', token).update(purpose).digest('base64url');
  const tickets = new Set<string>();
  const session = derive('session');
  return {
    matches: (presented) => isSame(presented, token),
    createTicket() {
      const ticket = derive(`ticket ${randomUUID()}`);
      tickets.add(sha256(ticket));
      for (const oldest of tickets) {
        if (tickets.size <= maxTickets) break;
        tickets.delete(oldest);
      }
      return ticket;
    },
    redeemTicket: (ticket) => tickets.delete(sha256(ticket)),
    session,
    sessionMatches: (presented) => isSame(presented, session),
    cookieName: `sluice-${createHash('sha256').update(session).digest('hex').slice(0, 8)}`,
  };
}

async function readOrCreate(path: string): Promise<string> {
  const stored = await readPrivate(path);
  if (stored !== undefined) return stored;
  const token = newToken();
  try {
    await writeFileDurably(path, `${token}\n`);
  } catch (error) {
    // A folder that cannot be written now. The window is opened by a ticket, and verbs find no instance there either.
    if (!isUnwritable(error)) throw error;
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

const sha256 = (text: string) => createHash('sha256').update(text).digest('base64');

/** In constant time, whatever the lengths. */
function isSame(presented: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(presented), digest(expected));
}
