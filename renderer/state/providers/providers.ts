import { useCallback } from 'react';
import type { ModelView } from '../../../server/contract/access-views.ts';
import { formatMessage } from '../../../server/contract/coded.ts';
import type { CommandInputMap } from '../../../server/contract/commands.ts';
import type { demoProviderId } from '../../../server/contract/config.ts';
import type { ConfigViews } from '../../../server/contract/events.ts';
import {
  type Condition,
  capitalized,
  conditionFacts,
  conditionOf,
  conditionOfModel,
  describeFailure,
} from '../../../server/contract/provider-condition.ts';
import type {
  CooldownView,
  CredentialView,
  DiscoveryView,
  ProviderView,
} from '../../../server/contract/provider-views.ts';
import { minuteMs } from '../../../server/contract/units.ts';
import type { Messages } from '../../messages/en/en.ts';
import { type Localization, useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../control/use-control.ts';
import { useNow } from '../window/use-now.ts';

/** A row of the list. The built-in demo has one even while it is off, when it is not among the engine's providers. */
export interface ProviderRowData {
  id: string;
  isDemo: boolean;
  isOn: boolean;
  /** Null for the demo while it is off or could not start. */
  provider: ProviderView | null;
}

export function providerRows({ providers, status }: Pick<ConfigViews, 'providers' | 'status'>): ProviderRowData[] {
  const rows = providers.map((provider) => ({
    id: provider.id,
    isDemo: provider.isDemo,
    isOn: provider.enabled,
    provider,
  }));
  if (providers.some((provider) => provider.isDemo)) return rows;
  const showsDemo = status.settings.demo === 'on' || (status.settings.demo === 'auto' && providers.length === 0);
  return [...rows, { id: demoId, isDemo: true, isOn: showsDemo, provider: null }];
}

type SwitchCommand = CommandInputMap['provider.set-enabled'] | CommandInputMap['settings.update'];

/** The demo is not in the configuration's providers; a setting switches it. */
export function switchCommand({ id, isDemo }: ProviderRowData, enabled: boolean): SwitchCommand {
  return isDemo
    ? { type: 'settings.update', changes: { demo: enabled ? 'on' : 'off' } }
    : { type: 'provider.set-enabled', id, enabled };
}

/**
 * Id of the built-in demo, which no other provider can have. Importing the constant itself would pull the
 * configuration's schemas into the window's bundle.
 */
export const demoId: typeof demoProviderId = 'demo';

/** Returns a provider's name, given its id; the id itself if the provider is gone. */
export function useProviderName(): (id: string) => string {
  const providers = useControlState((state) => state.views?.providers ?? null);
  const { demoName } = useMessages().providers;
  return useCallback(
    (id) => (id === demoId ? demoName : (providers?.find((each) => each.id === id)?.name ?? id)),
    [providers, demoName],
  );
}

/** What a credential is called: by its label, the variable that it is read from, or its place; by its id if it is gone. */
export function credentialNameOf(
  credentials: readonly CredentialView[],
  credential: string,
  { nth }: Pick<Messages['providers']['credential'], 'nth'>,
): string {
  const index = credentials.findIndex(({ id }) => id === credential);
  const { label = null, reference = '' } = credentials[index] ?? {};
  if (label !== null || index === -1) return label ?? credential;
  const [, variable] = /^env:(.+)$/.exec(reference) ?? [];
  return variable ?? nth(String(index + 1));
}

/** Returns what a credential is called, given the ids of its provider and of the credential. */
export function useCredentialName(): (provider: string, credential: string) => string {
  const providers = useControlState((state) => state.views?.providers ?? null);
  const names = useMessages().providers.credential;
  return useCallback(
    (provider, credential) =>
      credentialNameOf(providers?.find(({ id }) => id === provider)?.credentials ?? [], credential, names),
    [providers, names],
  );
}

export type Troubled = Pick<CooldownView, 'state' | 'failure' | 'failedWith' | 'failures' | 'failedAt' | 'until'>;

/**
 * Why something fails and when it is tried again, in sentences; empty if nothing fails.
 * @param isNamed the word of its condition stands beside it
 */
export function describeCooldown(health: Troubled, localization: Localization, nowMs: number, isNamed = false): string {
  const { state, failure, failedWith, failures, failedAt, until } = health;
  const { messages, formats } = localization;
  if (failure === null) return '';
  const { health: names } = messages;
  const isUnreachable = failure === 'transient' && typeof failedWith === 'string';
  const why = isUnreachable ? names.connectionFaults[failedWith] : describeFailure(failure, failedWith, names);
  const next = () => {
    if (state === 'refused') return names.isRefused;
    if (until !== null && until > nowMs) return names.until(formats.moment(until, nowMs));
    const failedAtText = failedAt === null ? null : formats.moment(failedAt, nowMs);
    return names.isTried(failures, formats.number(failures), failedAtText);
  };
  const isSaid = isNamed && (failure === 'credential' || failure === 'quota');
  return isSaid ? next() : [sentence(why, messages), next()].join(formats.gap);
}

function sentence(text: string, { health }: Messages): string {
  return /[.。]$/.test(text) ? capitalized(text) : `${capitalized(text)}${health.stop}`;
}

/** Why a provider is in its condition, whose word stands beside it, in sentences; empty if the word says all. */
export function describeWhy(provider: ProviderView, localization: Localization, nowMs: number): string {
  const { messages } = localization;
  const { discovery, health } = provider;
  const condition = conditionOf(provider, nowMs);
  if (condition === 'off') return '';
  if (condition === 'leads-back' || condition === 'no-credential')
    return sentence(messages.health.blocked[condition], messages);
  if (condition === 'unlisted') return discovery ? sentence(unlistedReason(discovery, messages.probe), messages) : '';
  const { model } = conditionFacts(provider, nowMs);
  const why = describeCooldown(health, localization, nowMs, true);
  return model === undefined || why === '' ? why : messages.labelled(model ?? messages.health.withoutModel, why);
}

/** Updates itself. */
export function useModelCondition(model: Pick<ModelView, 'health' | 'providers'>): Condition {
  const providers = useControlState((state) => state.views?.providers ?? null) ?? [];
  return useNow((now) => conditionOfModel(model, providers, now));
}

/**
 * A time that advances by minutes and at the ends of providers' cooldowns: what is judged at it is judged as what counts the
 * seconds.
 */
export function useConditionTime(): number {
  const providers = useControlState((state) => state.views?.providers ?? null) ?? [];
  const ends = providers.flatMap(({ health }) => [health, ...health.models].map(({ until }) => until ?? 0));
  return useNow((now) => Math.max(Math.floor(now / minuteMs) * minuteMs, ...ends.filter((end) => end <= now)));
}

/** Why the models of a provider could not be listed; empty if they could. */
export function unlistedReason({ finding, problem }: DiscoveryView, { findings }: Messages['probe']): string {
  return finding ? formatMessage(findings, finding) : (problem ?? '');
}
