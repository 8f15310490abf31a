/** Which events of the control plane webhooks deliver, and their texts. */
import { randomUUID } from 'node:crypto';
import type { ControlEvent } from '../contract/events.ts';
import type { LimitReached } from '../contract/limits.ts';
import { blockOf, isDown, type ProviderView } from '../contract/provider-views.ts';
import type { SessionBudgetReached } from '../contract/session-views.ts';
import type { WebhookEvent } from '../contract/webhook-events.ts';

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
export function createNotableEvents(emit: (event: NotableEvent) => void): (event: ControlEvent) => void {
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
