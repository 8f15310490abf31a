/** Opens a limiter that counts together with other replicas. Loaded only with `serve --shared`. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { GatewayError } from '../../contract/errors.ts';
import type { ReplicaHealth, ReplicaLimits, ReplicaLimitsOptions } from '../../engine/team.ts';
import { writeFileDurably } from '../../ground/files/durable-file.ts';
import { createSerialQueue } from '../../ground/promises.ts';
import { LocalLimiter } from '../../limits/local-limiter.ts';
import { HealthHints } from '../health-hints/health-hints.ts';
import { BudgetAudits } from './budget-audits.ts';
import { CountsConnection, type Timing, usualTiming } from './counts-connection.ts';
import { ReplicaCounts } from './replica-counts.ts';
import { ReplicaLimiter } from './replica-limiter.ts';
import { readValkeyAddress, type ValkeyAddress } from './valkey-address.ts';
import { LinkError, ValkeyLink } from './valkey-link.ts';

interface TimedOptions extends ReplicaLimitsOptions {
  /** Default: the usual times; tests set shorter ones. */
  timing?: Timing;
}

export interface CommonLimits extends ReplicaLimits {
  /** Messages between replicas. */
  messages: Pick<ReplicaMessages, 'send' | 'serverMs' | 'onMessage'>;
}

/** A connection to Valkey. It must be closed if no limits are opened on it. */
interface ConnectedValkey {
  link: ValkeyLink;
  address: ValkeyAddress;
}

/**
 * Rejects with a GatewayError that does not contain the password if the URL cannot be used or Valkey refuses the
 * credentials. If Valkey cannot be reached, connecting is retried in the background.
 */
export async function connectValkey(url: string): Promise<ConnectedValkey> {
  const address = readValkeyAddress(url);
  const link = new ValkeyLink(address);
  await openLink(link, address);
  return { link, address };
}

/** Rejects with the system's error. */
export async function openReplicaLimits(
  { link, address }: ConnectedValkey,
  options: TimedOptions,
): Promise<CommonLimits> {
  const { dataDir, commonLedger, local: localPorts, log, settings } = options;
  let onChanged = () => {};
  const replica = await readReplica(dataDir);
  const inTurn = createSerialQueue();
  const storeReplicas = (replicas: number) =>
    inTurn(() => writeReplica(dataDir, { ...replica, replicas })).catch((error: unknown) =>
      log.warn({ error }, 'the number of replicas cannot be kept'),
    );
  await storeReplicas(replica.replicas);
  const connection = new CountsConnection({
    link,
    replica: replica.id,
    address: address.shown,
    lastReplicas: replica.replicas,
    timing: options.timing ?? usualTiming,
    log,
    changed(view) {
      if (view.problem === null) void storeReplicas(view.replicas);
      onChanged();
    },
  });
  // Notices are based on Valkey's sums; based on one replica's, they would come too late and several times.
  const local = new LocalLimiter({ ...localPorts, reached: null });
  const { clocks, history, reached } = localPorts;
  const ledgerName = commonLedger ?? replica.id;
  const audits = new BudgetAudits({ connection, ledgerName, ledger: options.ledger, history, clocks });
  const counts = new ReplicaCounts({
    connection,
    ledger: ledgerName,
    audits,
    clocks,
    account: ({ limited }) => local.account(limited),
    reached,
  });
  const limiter = new ReplicaLimiter({ connection, counts, audits, local, clocks, settings });
  await limiter.begin();
  const messages = new ReplicaMessages({ link, connection, replica: replica.id, database: address.database, log });
  if (options.health) shareHealth(options.health, messages);
  return {
    limiter,
    messages,
    get view() {
      return connection.view;
    },
    onChange(listener) {
      onChanged = listener;
    },
    async close() {
      messages.close();
      audits.close();
      await connection.close();
      await inTurn(async () => {});
    },
  };
}

function shareHealth({ book, provider }: ReplicaHealth, messages: ReplicaMessages): void {
  const hints = new HealthHints({
    book,
    provider,
    send: (text) => messages.send(text),
    sharedMs: () => messages.serverMs(),
  });
  book.share(hints);
  messages.onMessage((text) => hints.take(text));
}

async function openLink(link: ValkeyLink, { shown, user }: ValkeyAddress): Promise<void> {
  try {
    await link.open();
  } catch (error) {
    if (!(error instanceof LinkError)) throw error;
    const { problem, message } = error;
    if (problem !== 'credential-refused' && problem !== 'not-permitted') return;
    link.close();
    const credential = user === undefined ? 'the password, or wants one' : `the user "${user}" or its password`;
    throw new GatewayError(
      'shared_counts_unavailable',
      `Valkey at ${shown} refuses ${credential} (${message}). Check the address given to --shared, and the user's rights (ACL).`,
    );
  }
}

const replicaSchema = z.object({ id: z.string().min(1).max(64), replicas: z.number().int().positive() });

/** The identity of a replica, kept over restarts. */
interface Replica {
  /** Identifies its data folder, and therefore its ledger. */
  id: string;
  /** The last known number of replicas, including this one. */
  replicas: number;
}

const fileName = 'replica.json';

/** Returns a new replica if the file is missing or cannot be used. `dataDir` null: in memory. */
async function readReplica(dataDir: string | null): Promise<Replica> {
  const fresh = { id: randomUUID(), replicas: 1 };
  if (dataDir === null) return fresh;
  try {
    return replicaSchema.parse(JSON.parse(await readFile(join(dataDir, fileName), 'utf8')));
  } catch {
    return fresh;
  }
}

/** Rejects with the system's error. */
async function writeReplica(dataDir: string | null, replica: Replica): Promise<void> {
  if (dataDir !== null) await writeFileDurably(join(dataDir, fileName), JSON.stringify(replica));
}

interface MessagePorts {
  link: Pick<ValkeyLink, 'publish' | 'subscribe'>;
  connection: Pick<CountsConnection, 'isUp' | 'serverMs'>;
  /** This replica's id. */
  replica: string;
  /**
   * Valkey's database number. It is part of the channel because publishing ignores databases, and each database may
   * have other replicas.
   */
  database: number;
  log: { warn(fields: object, message: string): void };
}

/** Short messages between replicas, by publish and subscribe. Delivery is not guaranteed, and nothing waits for it. */
class ReplicaMessages {
  readonly #ports: MessagePorts;
  readonly #channel: string;
  readonly #stopListening: () => void;
  #listener: (text: string) => void = () => {};
  #hasTold = false;

  constructor(ports: MessagePorts) {
    this.#ports = ports;
    this.#channel = `sluice:health:${ports.database}`;
    this.#stopListening = ports.link.subscribe(this.#channel, {
      received: (message) => this.#take(message),
      failed: (error) => this.#logOnce(error),
    });
  }

  /** Unix milliseconds by Valkey's clock, as far as it is known. */
  serverMs(): number {
    return this.#ports.connection.serverMs();
  }

  /** Replaces the listener, which is called with the messages of other replicas. */
  onMessage(listener: (text: string) => void): void {
    this.#listener = listener;
  }

  send(text: string): void {
    const { connection, link, replica } = this.#ports;
    if (!connection.isUp) return;
    link.publish(this.#channel, `${replica} ${text}`).catch((error: LinkError) => this.#logOnce(error));
  }

  close(): void {
    this.#stopListening();
  }

  #take(message: string): void {
    const end = message.indexOf(' ');
    if (end !== -1 && message.slice(0, end) !== this.#ports.replica) this.#listener(message.slice(end + 1));
  }

  /** `CountsConnection` reports a lost connection. */
  #logOnce({ problem, message }: LinkError): void {
    if (this.#hasTold || problem !== 'not-permitted') return;
    this.#hasTold = true;
    this.#ports.log.warn(
      { reason: message },
      `Valkey does not let this user exchange the health of providers between replicas: allow +publish, +subscribe and &sluice:*`,
    );
  }
}
