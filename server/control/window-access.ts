/** Access to the control plane over HTTP: the admin token, and browsers signed in with it. */

import { hash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { controlError } from '../contract/control-error.ts';
import { dayMs } from '../contract/units.ts';
import { writeFileDurably } from '../ground/files/durable-file.ts';
import { describeFileProblem } from '../ground/files/regular-file.ts';
import { type AdminToken, openAdminToken } from './admin-token.ts';

const sessionsFileName = 'window-sessions.json';

interface AccessPorts {
  /** Null if nothing is stored on disk. */
  dataDir: string | null;
  fallbackFolder?: string | null | undefined;
  log: { warn(fields: object, message: string): void };
}

export interface WindowAccess {
  readonly token: AdminToken;
  readonly sessions: WindowSessions;
  /**
   * Ends the sessions of all browsers and voids unused addresses; resolves with the number of sessions. Rejects with a
   * GatewayError if that cannot be stored; the sessions are then ended only until the next start.
   */
  signOutEverywhere(): Promise<number>;
  /** Calls the listener when sessions have ended. */
  onSignOut(listener: () => void): void;
}

export async function openWindowAccess({ dataDir, fallbackFolder, log }: AccessPorts): Promise<WindowAccess> {
  const token = await openAdminToken({ dataDir, fallbackFolder });
  const path = dataDir === null ? null : join(dataDir, sessionsFileName);
  const sessions = await openWindowSessions({ path, nowMs: Date.now, log });
  const listeners: (() => void)[] = [];
  return {
    token,
    sessions,
    async signOutEverywhere() {
      token.dropTickets();
      const ended = sessions.endAll();
      for (const listener of listeners) listener();
      try {
        return await ended;
      } catch (error) {
        throw controlError('internal', { code: 'sign-out-not-stored', reason: describeFileProblem(error) });
      }
    },
    onSignOut: (listener) => void listeners.push(listener),
  };
}

/** A session expires after this time without use. */
export const sessionIdleMs = 30 * dayMs;
/** The precision at which last uses are stored, so that they cause at most one write a day. */
const storedEveryMs = dayMs;
/** Beyond this, the least recently used session is dropped. */
const maxSessions = 100;

interface WindowSessions {
  /** Opens a session; resolves with the secret for the cookie. */
  open(): Promise<string>;
  /** Whether the secret belongs to a valid session; prolongs it. */
  use(secret: string): boolean;
  /** Like `use`, but does not prolong the session. */
  lasts(secret: string): boolean;
  /** Ends all sessions. Resolves with their number once that is stored; rejects with the system's error. */
  endAll(): Promise<number>;
}

interface SessionPorts {
  /** Null if sessions are not stored. */
  path: string | null;
  nowMs(): number;
  log: { warn(fields: object, message: string): void };
}

const storedSchema = z.object({
  sessions: z.array(z.object({ hash: z.string(), lastUsedAt: z.number() })),
});

/**
 * Sessions of browsers signed in to the window. A session's secret is in the browser's cookie; its hash is stored on
 * disk.
 */
export async function openWindowSessions(ports: SessionPorts): Promise<WindowSessions> {
  const { path, nowMs, log } = ports;
  /** By the hash of the secret. */
  const sessions = new Map<string, { usedMs: number; storedMs: number }>();
  for (const { hash: digest, lastUsedAt } of await readStored(path)) {
    sessions.set(digest, { usedMs: lastUsedAt, storedMs: lastUsedAt });
  }
  let writing = Promise.resolve();
  const write = () => {
    if (path === null) return Promise.resolve();
    const text = describe(sessions);
    for (const session of sessions.values()) session.storedMs = session.usedMs;
    const written = writing.then(() => writeFileDurably(path, text));
    writing = written.catch(() => {});
    return written;
  };
  /** If storing fails, sessions end with the process. */
  const writeIfPossible = () =>
    write().catch((error: unknown) => log.warn({ error }, 'the sessions of the window could not be stored'));
  const forgetOld = () => {
    for (const [digest, { usedMs }] of sessions) if (isOver(usedMs, nowMs())) sessions.delete(digest);
    const byUse = [...sessions].toSorted(([, one], [, other]) => one.usedMs - other.usedMs);
    for (const [digest] of byUse.slice(0, -maxSessions)) sessions.delete(digest);
  };
  const find = (secret: string) => {
    const session = sessions.get(digestOf(secret));
    return session && !isOver(session.usedMs, nowMs()) ? session : undefined;
  };
  return {
    async open() {
      const secret = randomBytes(32).toString('base64url');
      sessions.set(digestOf(secret), { usedMs: nowMs(), storedMs: nowMs() });
      forgetOld();
      await writeIfPossible();
      return secret;
    },
    use(secret) {
      const session = find(secret);
      if (!session) return false;
      session.usedMs = nowMs();
      if (session.usedMs - session.storedMs >= storedEveryMs) void writeIfPossible();
      return true;
    },
    lasts: (secret) => find(secret) !== undefined,
    async endAll() {
      const count = sessions.size;
      sessions.clear();
      await write();
      return count;
    },
  };
}

/** Setting the clock back does not end a session. */
const isOver = (usedMs: number, nowMs: number) => nowMs - usedMs > sessionIdleMs;

/** Secrets have 256 random bits, so a plain hash is safe and a lookup by hash reveals nothing through its timing. */
const digestOf = (secret: string) => hash('sha256', secret);

function describe(sessions: ReadonlyMap<string, { usedMs: number }>): string {
  const list = [...sessions].map(([digest, { usedMs }]) => ({ hash: digest, lastUsedAt: usedMs }));
  return `${JSON.stringify({ sessions: list })}\n`;
}

/** An unreadable or damaged file means no sessions. */
async function readStored(path: string | null): Promise<z.infer<typeof storedSchema>['sessions']> {
  if (path === null) return [];
  try {
    return storedSchema.parse(JSON.parse(await readFile(path, 'utf8'))).sessions;
  } catch {
    return [];
  }
}
