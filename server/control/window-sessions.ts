/**
 * The browsers that are signed in to the window: each has a secret of its own in its cookie, of which the hash is kept.
 * Owns how long a session lasts and that it holds over restarts; must not know how it is presented.
 */
import { hash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { writeFileDurably } from '../files/durable-file.ts';

const dayMs = 86_400_000;
/** A session ends when it was not used for so long. */
export const sessionIdleMs = 30 * dayMs;
/** Last uses are stored as exactly as this, so that the file is written once a day at most for them. */
const storedEveryMs = dayMs;
/** The one that was used longest ago makes room. */
const maxSessions = 100;

export interface WindowSessions {
  /** Signs one more browser in; what its cookie holds. */
  open(): Promise<string>;
  /** Whether the secret is of a session that goes on, and by this use goes on longer. */
  use(secret: string): boolean;
  /** The same, without being a use of it. */
  lasts(secret: string): boolean;
  /** Ends every session. Resolves with their number once they stay ended over a restart; rejects with the system's error. */
  endAll(): Promise<number>;
}

interface SessionPorts {
  /** Null: sessions live as long as the program. */
  path: string | null;
  nowMs(): number;
  log: { warn(fields: object, message: string): void };
}

const storedSchema = z.object({
  sessions: z.array(z.object({ hash: z.string(), lastUsedAt: z.number() })),
});

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
  /** Where it cannot be written, the session lasts as long as the program. */
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

/** A clock that was set back ends no session. */
const isOver = (usedMs: number, nowMs: number) => nowMs - usedMs > sessionIdleMs;

/** Secrets are random and long: a plain hash protects them, and finding one by it tells nothing of it. */
const digestOf = (secret: string) => hash('sha256', secret);

function describe(sessions: ReadonlyMap<string, { usedMs: number }>): string {
  const list = [...sessions].map(([digest, { usedMs }]) => ({ hash: digest, lastUsedAt: usedMs }));
  return `${JSON.stringify({ sessions: list })}\n`;
}

/** What cannot be read or understood signs nobody in. */
async function readStored(path: string | null): Promise<z.infer<typeof storedSchema>['sessions']> {
  if (path === null) return [];
  try {
    return storedSchema.parse(JSON.parse(await readFile(path, 'utf8'))).sessions;
  } catch {
    return [];
  }
}
