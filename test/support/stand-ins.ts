import { createHash, createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AttemptRecord } from '../../server/contract/ledger.ts';
import type { CooldownView, ProviderHealthView } from '../../server/contract/provider-views.ts';
import { orderTargets, type Picker } from '../../server/routing/picker.ts';
import type { SecretStore } from '../../server/secrets/secret-store.ts';
import { openSqliteDatabase } from '../../server/store/sqlite/database.ts';
import type { OutgoingRequest, Transport } from '../../server/transport/transport.ts';

/** The state of a provider that is used normally. */
export const well: CooldownView = {
  ...{ state: 'ok', failure: null, failedWith: null, failures: 0 },
  ...{ failedAt: null, reason: null, until: null },
};

export const wellProvider: ProviderHealthView = {
  ...well,
  answeredAt: 1,
  firstByteMs: null,
  errorRate: null,
  models: [],
};

/** Answers each request with `answer`, as JSON, and records the requests. */
export function scriptedTransport(
  answer: (request: OutgoingRequest) => unknown,
  status = 200,
): Transport & { seen: OutgoingRequest[] } {
  const seen: OutgoingRequest[] = [];
  return {
    seen,
    send(request, handler) {
      seen.push(request);
      const body = Buffer.from(JSON.stringify(answer(request)));
      queueMicrotask(() => {
        handler.onHeaders(status, { 'content-type': 'application/json' });
        handler.onData(body);
        handler.onEnd();
      });
      return { pause() {}, resume() {}, abort() {} };
    },
    connect: () => Promise.reject(new Error('not asked')),
    chainTo: () => Promise.resolve({ hops: [null], unusable: [], by: 'provider' }),
    leaveConnections() {},
    close: () => Promise.resolve(),
  };
}

// Signature Version 4 as AWS describes it, with which a scripted upstream authenticates requests. Source: AWS, "Create
// a signed AWS API request".

export interface AwsCall {
  method: string;
  /** As in the request line, including the query. */
  path: string;
  /** The signed headers in lower case, including `host` and `x-amz-date`. */
  headers: Record<string, string>;
  body: string | Buffer;
}

export interface AwsScope {
  region: string;
  service: string;
  secretAccessKey: string;
}

/** The signature in hexadecimal. */
export function awsSignature({ method, path, headers, body }: AwsCall, scope: AwsScope): string {
  const { pathname, searchParams } = new URL(`https://host${path}`);
  const names = Object.keys(headers).sort();
  const query = [...searchParams].map(([name, value]) => `${encoded(name)}=${encoded(value)}`).sort();
  const canonical = [
    method,
    // The segments of the path are already encoded, and are encoded once more.
    pathname.split('/').map(encoded).join('/'),
    query.join('&'),
    ...names.map((name) => `${name}:${headers[name]?.trim()}`),
    '',
    names.join(';'),
    sha256(body),
  ].join('\n');
  const moment = headers['x-amz-date'] ?? '';
  const day = moment.slice(0, 8);
  const place = `${day}/${scope.region}/${scope.service}/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', moment, place, sha256(canonical)].join('\n');
  let key: Buffer | string = `AWS4${scope.secretAccessKey}`;
  for (const part of [day, scope.region, scope.service, 'aws4_request']) key = hmac(key, part).digest();
  return hmac(key, toSign).digest('hex');
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function sha256(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: Buffer | string, text: string) {
  return createHmac('sha256', key).update(text);
}

const noCredential: readonly null[] = [null];

/** Ignores earlier requests: targets by priority and weight, credentials in configured order. */
export const plainPicker: Picker = {
  order: (targets) => orderTargets(targets),
  credentials: ({ provider }) => (provider.credentials.length > 0 ? provider.credentials : noCredential),
  refusedForMs: () => null,
  heldBackForMs: () => 0,
  worthWaitingMs: () => 0,
  isAvailable: () => true,
  trialPatienceMs: () => 0,
  began() {},
  answers() {},
  report() {},
};

/** The record of a successful attempt without anything unusual. */
export function attemptRecord(more: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    cause: 'first',
    provider: 'main',
    credential: 'c1',
    model: 'gpt-x',
    startedAt: 1,
    connectMs: null,
    firstByteMs: null,
    firstContentMs: null,
    longestGapMs: null,
    totalMs: null,
    status: 200,
    failure: null,
    error: null,
    droppedEvents: 0,
    upstreamRequestId: null,
    usage: null,
    usageCertainty: 'none',
    costUsd: null,
    ...more,
  };
}

let bytes: Buffer | undefined;

/**
 * Copies a ledger without rows into a data folder that has none, because creating the tables takes half of a gateway's
 * start.
 */
export function putEmptyLedger(folder: string): void {
  const file = join(folder, 'ledger.sqlite');
  if (bytes) {
    writeFileSync(file, bytes, { mode: 0o600 });
  } else {
    openSqliteDatabase(file).close();
    bytes = readFileSync(file);
  }
}

/** Keeps secrets for as long as the program runs. */
export function createMemorySecretStore(initial: Record<string, string> = {}): SecretStore {
  const secrets = new Map(Object.entries(initial));
  return {
    kind: 'memory',
    description: 'Credentials are kept in memory only and are gone when the program ends.',
    get: async (name) => secrets.get(name),
    set: async (name, value) => {
      secrets.set(name, value);
    },
    delete: async (name) => {
      secrets.delete(name);
    },
    list: async () => [...secrets.keys()].sort(),
  };
}
