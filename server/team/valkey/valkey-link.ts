/** The connection to Valkey. Commands are not queued: one that cannot be sent or answered now fails. */
import { hash } from 'node:crypto';
import { Redis } from 'iovalkey';
import type { SharedCountsProblem } from '../../contract/replica-limits.ts';
import { after } from '../../ground/timers.ts';
import { messageOf } from '../../store/rules/failures.ts';
import { type ScriptName, scripts } from './scripts.ts';
import type { ValkeyAddress } from './valkey-address.ts';

/** A command that takes longer fails. */
const commandMs = 1_000;
const connectMs = 2_000;
const longestRetryMs = 1_000;

/** Why a command has failed. The message contains no secret. */
export class LinkError extends Error {
  override readonly name = 'LinkError';
  readonly problem: SharedCountsProblem;

  constructor(problem: SharedCountsProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}

const lateMessage = `no answer within ${commandMs} ms`;

/**
 * Rejects if there is no answer in time. The driver's own timeout would fire wrongly after this process was blocked,
 * when the answer has arrived but has not been read yet.
 */
function inTime<T>(answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const expire = () => reject(new Error(lateMessage));
    const timer = after(() => setImmediate(() => setImmediate(expire)), commandMs);
    answer.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}

/** Any other error is a bug in the program, which must not end it. */
export function linkErrorOf(error: unknown): LinkError {
  return error instanceof LinkError ? error : new LinkError('unreachable', String(error));
}

interface Listening {
  received(message: string): void;
  failed(error: LinkError): void;
}

/** Digest by script name. */
const digests = new Map(Object.entries(scripts).map(([name, script]) => [name, hash('sha1', script)]));

export class ValkeyLink {
  readonly #client: Redis;
  /** Those that listen. */
  readonly #subscribers = new Set<Redis>();
  #password: string | undefined;
  /** Why there is no connection; the errors of commands only report that there is none. */
  #connectionError: Error | null = null;

  constructor({ host, port, user, password, database, isEncrypted }: ValkeyAddress) {
    this.#password = password;
    this.#client = new Redis({
      host,
      port,
      ...(user !== undefined && { username: user }),
      ...(password !== undefined && { password }),
      db: database,
      ...(isEncrypted && { tls: {} }),
      lazyConnect: true,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      connectTimeout: connectMs,
      keepAlive: 10_000,
      connectionName: 'sluice',
      retryStrategy: (times) => Math.min(100 * times, longestRetryMs),
    });
    this.#client.on('error', (error) => {
      this.#connectionError = error;
    });
  }

  /** Connections use these from the next time on that they are opened. */
  setCredentials({ user, password }: Pick<ValkeyAddress, 'user' | 'password'>): void {
    this.#password = password;
    for (const { options } of [this.#client, ...this.#subscribers]) {
      Object.assign(options, { username: user ?? null, password: password ?? null });
    }
  }

  /** Rejects with a LinkError. It is retried in the background in any case. */
  async open(): Promise<void> {
    try {
      await this.#client.connect();
    } catch (error) {
      throw this.#explained(error);
    }
    // A server that also works without a password refuses a wrong one only at this point.
    await this.load();
  }

  /**
   * Loads the scripts into the server, so that commands are executed in the order in which they are sent. Rejects with
   * a LinkError.
   */
  async load(): Promise<void> {
    try {
      await inTime(Promise.all(Object.values(scripts).map((script) => this.#client.script('LOAD', script))));
      this.#connectionError = null;
    } catch (error) {
      throw this.#explained(error);
    }
  }

  /** Runs a script. Rejects with a LinkError. */
  async run(script: ScriptName, keys: readonly string[], args: readonly string[]): Promise<string> {
    try {
      return String(await inTime(this.#client.evalsha(digests.get(script) ?? '', keys.length, ...keys, ...args)));
    } catch (error) {
      if (!isUnknownScript(error)) throw this.#explained(error);
    }
    // The scripts were removed from the server.
    try {
      return String(await inTime(this.#client.eval(scripts[script], keys.length, ...keys, ...args)));
    } catch (error) {
      throw this.#explained(error);
    }
  }

  /** Removes keys. Rejects with a LinkError. */
  async remove(keys: readonly string[]): Promise<void> {
    try {
      await inTime(this.#client.del(...keys));
    } catch (error) {
      throw this.#explained(error);
    }
  }

  /** Sends a message to all current subscribers. Rejects with a LinkError. */
  async publish(channel: string, message: string): Promise<void> {
    try {
      await inTime(this.#client.publish(channel, message));
    } catch (error) {
      throw this.#explained(error);
    }
  }

  /** Subscribes on a dedicated connection, which reconnects whenever it is lost. Returns a function that stops it. */
  subscribe(channel: string, { received, failed }: Listening): () => void {
    const listening = this.#client.duplicate({ autoResubscribe: false });
    this.#subscribers.add(listening);
    listening.on('error', () => {});
    listening.on('message', (_channel, message) => received(message));
    listening.on('ready', () => {
      listening.subscribe(channel).catch((error: unknown) => failed(this.#explained(error)));
    });
    listening.connect().catch(() => {});
    return () => {
      this.#subscribers.delete(listening);
      listening.disconnect();
    };
  }

  close(): void {
    this.#client.disconnect();
  }

  #explained(error: unknown): LinkError {
    const text = messageOf(error);
    const message = text === lateMessage ? text : messageOf(this.#connectionError ?? error);
    const redacted = this.#password === undefined ? message : message.replaceAll(this.#password, '***');
    return new LinkError(problemOf(message), redacted);
  }
}

function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

/** By the first word of the server's error. */
const problems: Readonly<Record<string, SharedCountsProblem>> = {
  WRONGPASS: 'credential-refused',
  NOAUTH: 'credential-refused',
  NOPERM: 'not-permitted',
  READONLY: 'read-only',
  // The server cannot write to its disk, or has too few replicas of its own.
  MISCONF: 'read-only',
  NOREPLICAS: 'read-only',
  OOM: 'out-of-memory',
  LOADING: 'not-ready',
  BUSY: 'not-ready',
  MASTERDOWN: 'not-ready',
  CLUSTERDOWN: 'not-ready',
};

function problemOf(message: string): SharedCountsProblem {
  if (message === lateMessage) return 'slow';
  return problems[message.slice(0, message.indexOf(' '))] ?? 'unreachable';
}
