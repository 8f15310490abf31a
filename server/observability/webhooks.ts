/** Sends notable events to the addresses in the settings. Loaded only if there is one. */
import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { ControlEvent } from '../contract/events.ts';
import type { LimitReached } from '../contract/limits.ts';
import { blockOf, isDown, type ProviderView } from '../contract/provider-views.ts';
import type { SessionBudgetReached } from '../contract/session-views.ts';
import type { WebhookEvent } from '../contract/webhook-events.ts';
import { createSerialQueue } from '../ground/promises.ts';
import { readResponse } from '../transport/fetch.ts';
import type { Transport } from '../transport/transport.ts';

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

/** The body of a webhook. Contains names from the configuration and codes, but never secrets or providers' answers. */
export interface NotableEvent {
  /** The same in each delivery of one event. */
  id: string;
  type: WebhookEvent;
  /** ISO 8601. */
  at: string;
  /** One sentence, for chats. */
  text: string;
  data: object;
}

type Reported = Pick<NotableEvent, 'type' | 'text' | 'data'>;

/** Derives notable events from the control plane's events. The state at the start is not reported. */
function createNotableEvents(emit: (event: NotableEvent) => void): (event: ControlEvent) => void {
  const wasDown = new Map<string, boolean>();
  const say = (event: Reported) => emit({ id: `evt_${randomUUID()}`, at: new Date().toISOString(), ...event });
  const noteProvider = (provider: ProviderView) => {
    const isDownNow = isDown(provider, Date.now());
    if (isDownNow === null) return;
    const wasDownBefore = wasDown.get(provider.id);
    wasDown.set(provider.id, isDownNow);
    if (wasDownBefore === false && isDownNow) say(downEvent(provider));
    else if (wasDownBefore === true && !isDownNow && provider.enabled) say(upEvent(provider));
  };
  return (event) => {
    if (event.type === 'limit-reached') say(budgetEvent(event.notice));
    else if (event.type === 'session-budget-reached') say(sessionBudgetEvent(event.notice));
    else if (event.type === 'update-ready') say(newVersionEvent(event.version));
    else if (event.type === 'provider-changed') noteProvider(event.provider);
    else if (event.type === 'snapshot' || event.type === 'config-changed') {
      const { providers } = event;
      if (!providers) return;
      const present = new Set(providers.map(({ id }) => id));
      for (const id of wasDown.keys()) if (!present.has(id)) wasDown.delete(id);
      providers.forEach(noteProvider);
    }
  };
}

function budgetEvent({ scope, id, name, budget, percent, used, resetsAt }: LimitReached): Reported {
  const { unit, per, amount } = budget;
  const total = unit === 'usd' ? `$${amount}` : `${amount} tokens`;
  return {
    type: 'budget',
    text: `The ${scope} ${name} has used ${percent} % of its budget of ${total} per ${per}.`,
    data: { scope, id, name, unit, per, amount, percent, used, resetsAt: toIso(resetsAt) },
  };
}

function sessionBudgetEvent({ sessionId, keyId, client, amount, amountUsd, usedUsd }: SessionBudgetReached): Reported {
  const stopNote = amount === 'stop' ? ' and was stopped' : '';
  return {
    type: 'session-budget',
    text: `The session ${sessionId} of ${client?.split(' ', 1)[0] ?? 'an unknown client'} has cost $${usedUsd.toFixed(2)}${stopNote}.`,
    data: { session: sessionId, key: keyId, client, isStopped: amount === 'stop', amount: amountUsd, used: usedUsd },
  };
}

function newVersionEvent(version: string): Reported {
  return { type: 'new-version', text: `Sluice ${version} is ready to be installed.`, data: { version } };
}

function downEvent(provider: ProviderView): Reported {
  const { id, name, health } = provider;
  const reason = blockOf(provider) ?? health.failure;
  return {
    type: 'provider-down',
    text: `The provider ${name} is not used at present${reason === null ? '' : ` (${reason})`}.`,
    data: { provider: id, name, reason, until: toIso(health.until) },
  };
}

function upEvent({ id, name }: ProviderView): Reported {
  return { type: 'provider-up', text: `The provider ${name} is used again.`, data: { provider: id, name } };
}

function toIso(unixMs: number | null): string | null {
  return unixMs === null ? null : new Date(unixMs).toISOString();
}
