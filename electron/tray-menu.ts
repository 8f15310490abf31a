/** Builds the tray menu from its status. Pure. */
import type { MenuItemConstructorOptions } from 'electron';
import { formatMessage } from '../server/contract/coded.ts';
import type { UpdateView } from '../server/contract/ipc.ts';
import { type ConditionFacts, conditionLine, toneOf } from '../server/contract/provider-condition.ts';
import type { EngineState } from './engine-host.ts';
import type { ShellMessages } from './messages.ts';
import type { ShellLanguage } from './shell-language.ts';
import { describeGroup, type TrayGroup } from './tray-group.ts';

export interface TrayStatus {
  engine: EngineState;
  providers: readonly TrayProvider[];
  /** The group `default`, to which new keys belong unless another is chosen; null if it does not exist. */
  defaultGroup: TrayGroup | null;
  /** Keys whose secret is stored, so that it can be copied. */
  keys: readonly { id: string; name: string }[];
  /** Null until it is known. `costUsd` is null if the cost of today's requests is unknown. */
  today: { requests: number; tokens: number; costUsd: number | null } | null;
  /** `what` is a single line. */
  lastError: { requestId: string; summary: string } | null;
  /** Whether today's cost stands beside the icon, where the system can show it. */
  showsCost: boolean;
  startsAtLogin: boolean;
  update: UpdateView;
}

export interface TrayProvider {
  id: string;
  name: string;
  isDemo: boolean;
  enabled: boolean;
  facts: ConditionFacts;
}

export interface TrayActions {
  setGateway(isOn: boolean): void;
  setProvider(provider: TrayProvider, isOn: boolean): void;
  copyBaseUrl(): void;
  copyKey(id: string): void;
  openWindow(): void;
  togglePanel(): void;
  showRequest(id: string): void;
  setStartAtLogin(isOn: boolean): void;
  checkForUpdates(): void;
  installUpdate(): void;
  showLogFolder(): void;
  quit(): void;
}

type Item = MenuItemConstructorOptions;

const separator: Item = { type: 'separator' };

export function trayMenu(status: TrayStatus, actions: TrayActions, language: ShellLanguage): Item[] {
  const { messages } = language;
  const isServing = status.engine.kind === 'serving';
  return [
    { id: 'state', label: describeEngine(status.engine, messages), enabled: false },
    gatewayItem(status, actions, messages),
    separator,
    ...(isServing ? [...providerItems(status, actions, messages), separator] : []),
    ...(isServing ? [...figures(status, actions, language), separator] : []),
    { id: 'copy-base-url', label: messages.copyBaseUrl, enabled: isServing, click: actions.copyBaseUrl },
    keyItem(status, actions, messages),
    { id: 'open', label: messages.openWindow, click: actions.openWindow },
    separator,
    loginItem(status, actions, messages),
    updateItem(status.update, actions, messages),
    { id: 'show-log-folder', label: messages.showLogFolder, click: actions.showLogFolder },
    { id: 'quit', label: messages.quit, click: actions.quit },
  ];
}

/** Also the tray's tooltip. */
export function describeEngine(engine: EngineState, messages: ShellMessages): string {
  if (engine.kind === 'serving') return messages.serving(engine.baseUrl);
  return engine.kind === 'failed'
    ? messages.failed(formatMessage(messages.startProblems, engine.problem))
    : messages[engine.kind];
}

/** Today's cost; empty if it is not wanted or not known. */
export function trayTitle({ showsCost, engine, today }: TrayStatus, { locale }: Pick<ShellLanguage, 'locale'>): string {
  if (!showsCost || engine.kind !== 'serving') return '';
  const costUsd = today?.costUsd ?? null;
  return costUsd === null ? '' : moneyIn(locale).format(costUsd);
}

function moneyIn(locale: string): Intl.NumberFormat {
  return new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' });
}

export function trayMark({ engine, providers }: TrayStatus): 'off' | 'serving' | 'error' {
  if (engine.kind === 'failed') return 'error';
  if (engine.kind !== 'serving') return 'off';
  return providers.some(needsAction) ? 'error' : 'serving';
}

/** One that cannot be reached, such as a local server that is off, may be so on purpose. */
function needsAction({ facts: { condition } }: TrayProvider): boolean {
  return toneOf[condition] === 'bad' && condition !== 'unreachable';
}

function gatewayItem({ engine }: TrayStatus, actions: TrayActions, messages: ShellMessages): Item {
  const isOn = engine.kind === 'serving' || engine.kind === 'starting';
  return {
    id: 'gateway',
    type: 'checkbox',
    label: messages.gatewayOn,
    checked: isOn,
    enabled: engine.kind !== 'starting' && engine.kind !== 'stopping',
    click: () => actions.setGateway(!isOn),
  };
}

function providerItems({ providers }: TrayStatus, actions: TrayActions, messages: ShellMessages): Item[] {
  if (providers.length === 0) return [{ id: 'no-providers', label: messages.noProviders, enabled: false }];
  const items = providers.map((provider): Item => {
    const { id, enabled } = provider;
    return {
      id: `provider:${id}`,
      type: 'checkbox',
      label: describeProvider(provider, messages),
      checked: enabled,
      click: () => actions.setProvider(provider, !enabled),
    };
  });
  return [{ id: 'providers', label: messages.providers, enabled: false }, ...items];
}

function describeProvider(provider: TrayProvider, messages: ShellMessages): string {
  const { isDemo, enabled, facts } = provider;
  const name = isDemo ? messages.demo : provider.name;
  const isSaid = enabled && facts.condition !== 'ready';
  return isSaid ? messages.inCondition(name, conditionLine(facts, messages.health)) : name;
}

function figures(status: TrayStatus, actions: TrayActions, language: ShellLanguage): Item[] {
  const { defaultGroup, today, lastError } = status;
  const { messages, locale } = language;
  const items = groupItems(defaultGroup, language);
  if (today) {
    const number = new Intl.NumberFormat(locale);
    const { requests, tokens, costUsd } = today;
    const cost = costUsd === null ? messages.unknownCost : moneyIn(locale).format(costUsd);
    const label = messages.today(number.format(requests), number.format(tokens), cost);
    items.push({ id: 'today', label, enabled: false });
  }
  if (lastError !== null) {
    const { requestId, summary } = lastError;
    items.push({ id: 'last-error', label: messages.lastError(summary), click: () => actions.showRequest(requestId) });
  }
  return items;
}

function groupItems(group: TrayGroup | null, language: ShellLanguage): Item[] {
  if (!group) return [{ id: 'default-group', label: language.messages.noDefaultGroup, enabled: false }];
  const { profile, limits } = describeGroup(group, language);
  const items: Item[] = [{ id: 'default-group', label: profile, enabled: false }];
  if (limits !== null) items.push({ id: 'default-group-limits', label: limits, enabled: false });
  return items;
}

function keyItem({ engine, keys }: TrayStatus, actions: TrayActions, messages: ShellMessages): Item {
  const items = keys.map(({ id, name }): Item => ({ id: `key:${id}`, label: name, click: () => actions.copyKey(id) }));
  return {
    id: 'copy-key',
    label: messages.copyKey,
    enabled: engine.kind === 'serving',
    submenu: items.length > 0 ? items : [{ id: 'no-keys', label: messages.noKeys, enabled: false }],
  };
}

function loginItem({ startsAtLogin }: TrayStatus, actions: TrayActions, messages: ShellMessages): Item {
  return {
    id: 'start-at-login',
    type: 'checkbox',
    label: messages.startAtLogin,
    checked: startsAtLogin,
    click: () => actions.setStartAtLogin(!startsAtLogin),
  };
}

function updateItem(update: UpdateView, actions: TrayActions, messages: ShellMessages): Item {
  const version = update.version ?? '';
  const check = { id: 'update', click: actions.checkForUpdates };
  switch (update.state) {
    case 'managed':
      return { id: 'update', label: messages.updatesManaged, enabled: false };
    case 'checking':
      return { id: 'update', label: messages.checkingForUpdates, enabled: false };
    case 'downloading':
      return { id: 'update', label: messages.downloadingUpdate(version), enabled: false };
    case 'ready':
      return { id: 'update', label: messages.installUpdate(version), click: actions.installUpdate };
    case 'current':
      return { ...check, label: messages.isCurrent };
    case 'failed':
      return { ...check, label: messages.updateFailed };
    case 'idle':
      return { ...check, label: messages.checkForUpdates };
  }
}
