/** Sends notable events to the addresses in the settings. Loaded only if there is one. */
import { createHmac } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { ControlEvent } from '../contract/events.ts';
import type { WebhookEvent } from '../contract/webhook-events.ts';
import { createSerialQueue } from '../ground/promises.ts';
import { readResponse } from '../transport/read-response.ts';
import type { Transport } from '../transport/transport.ts';
import { createNotableEvents, type NotableEvent } from './notable-events.ts';

/** A webhook with its references resolved. */
export interface Webhook {
  url: string;
  events: readonly WebhookEvent[];
  /** Null if deliveries are not signed. */
  secret: string | null;
}

interface WebhookPorts {
  transport: Transport;
  version: string;
  log: { warn(fields: object, message: string): void };
  /** Waits before each retry, in milliseconds. */
  retryDelaysMs?: readonly number[];
}

export interface Webhooks {
  onEvent(event: ControlEvent): void;
  /** Drops pending deliveries. */
  stop(): void;
}

const usualDelaysMs = [1_000, 10_000, 60_000];
const timeouts = { connectMs: 5_000, firstByteMs: 10_000, idleMs: 10_000, totalMs: 15_000 };
const maxAnswerBytes = 64 * 1024;
/** Maximum number of events waiting for one address; further ones are dropped. */
const maxWaiting = 100;

export function startWebhooks(webhooks: readonly Webhook[], ports: WebhookPorts): Webhooks {
  const stopping = new AbortController();
  const senders = webhooks.map((webhook) => new WebhookSender(webhook, ports, stopping.signal));
  return {
    onEvent: createNotableEvents((event) => {
      for (const sender of senders) sender.take(event);
    }),
    stop: () => stopping.abort(),
  };
}

class WebhookSender {
  readonly #webhook: Webhook;
  readonly #ports: WebhookPorts;
  readonly #stopSignal: AbortSignal;
  readonly #inTurn = createSerialQueue();
  #waitingCount = 0;

  constructor(webhook: Webhook, ports: WebhookPorts, stopSignal: AbortSignal) {
    this.#webhook = webhook;
    this.#ports = ports;
    this.#stopSignal = stopSignal;
  }

  /** Delivers events in order. */
  take(event: NotableEvent): void {
    if (!this.#webhook.events.includes(event.type)) return;
    if (this.#waitingCount >= maxWaiting) {
      this.#reportDropped(event, 'too many events are waiting');
      return;
    }
    this.#waitingCount++;
    void this.#inTurn(async () => {
      await this.#deliver(event);
      this.#waitingCount--;
    });
  }

  async #deliver(event: NotableEvent): Promise<void> {
    const { retryDelaysMs = usualDelaysMs } = this.#ports;
    let reason: string | null = null;
    for (const delayMs of [0, ...retryDelaysMs]) {
      if (delayMs > 0) await wait(delayMs, undefined, { signal: this.#stopSignal, ref: false }).catch(() => undefined);
      if (this.#stopSignal.aborted) return;
      const outcome = await this.#post(event);
      if (outcome === null) return;
      reason = outcome.reason;
      if (!outcome.mayRetry) break;
    }
    this.#reportDropped(event, reason ?? '');
  }

  /** Null if delivered. Never rejects. */
  async #post(event: NotableEvent): Promise<{ reason: string; mayRetry: boolean } | null> {
    const { origin, pathname, search } = new URL(this.#webhook.url);
    const body = Buffer.from(JSON.stringify(event));
    const request = {
      origin,
      method: 'POST',
      path: pathname + search,
      headers: {
        'content-type': 'application/json',
        'content-length': String(body.length),
        'user-agent': `sluice/${this.#ports.version}`,
        'x-sluice-event': event.type,
        ...this.#signature(body),
      },
      body,
      timeouts,
      proxy: 'system',
    };
    try {
      const { status } = await readResponse(this.#ports.transport, request, maxAnswerBytes);
      if (status >= 200 && status < 300) return null;
      return {
        reason: `it answered with status ${status}`,
        mayRetry: status >= 500 || status === 408 || status === 429,
      };
    } catch (error) {
      return { reason: error instanceof Error ? error.message : String(error), mayRetry: true };
    }
  }

  /** Signs time and body, so that an old delivery cannot be sent again as a new one. */
  #signature(body: Buffer): Record<string, string> {
    const { secret } = this.#webhook;
    if (secret === null) return {};
    const seconds = Math.floor(Date.now() / 1_000);
    const digest = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex');
    return { 'x-sluice-signature': `t=${seconds},v1=${digest}` };
  }

  /** Logs the address without its path, which is often the secret part of a webhook. */
  #reportDropped({ type }: NotableEvent, reason: string): void {
    this.#ports.log.warn(
      { origin: new URL(this.#webhook.url).origin, type, reason },
      'a webhook could not be delivered',
    );
  }
}
