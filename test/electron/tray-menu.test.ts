import type { MenuItemConstructorOptions } from 'electron';
import { describe, expect, it } from 'vitest';
import { messagesFor } from '../../electron/messages.ts';
import type { TrayGroup } from '../../electron/tray-group.ts';
import {
  type TrayActions,
  type TrayProvider,
  type TrayStatus,
  trayMark,
  trayMenu,
  trayTitle,
} from '../../electron/tray-menu.ts';
import type { UpdateView } from '../../server/contract/ipc.ts';
import { limitsSchema } from '../../server/contract/limit-settings.ts';
import { policySchema } from '../../server/contract/policy.ts';
import type { Condition, ConditionFacts } from '../../server/contract/provider-condition.ts';

const main: TrayProvider = {
  id: 'main',
  name: 'Main',
  isDemo: false,
  enabled: true,
  facts: { condition: 'ready', failure: null, failedWith: null, model: undefined, failing: null },
};
/** In this condition. */
const inCondition = (condition: Condition, more: Partial<ConditionFacts> = {}): TrayProvider => ({
  ...main,
  facts: { ...main.facts, condition, ...more },
});
const noPort = { code: 'port-taken', port: 4810 } as const;
const lastError = { requestId: 'req_1', summary: 'gpt-x: 502' };
const update: UpdateView = { state: 'idle', version: null, notes: null, percent: null, problem: null };
const defaultGroup: TrayGroup = { models: ['*'], policy: policySchema.parse({}) };
const serving: TrayStatus = {
  engine: { kind: 'serving', baseUrl: 'http://127.0.0.1:4810/v1' },
  providers: [main],
  defaultGroup,
  keys: [{ id: 'k1', name: 'editor' }],
  today: { requests: 1234, tokens: 56_789, costUsd: 1.5 },
  lastError: null,
  showsCost: false,
  startsAtLogin: false,
  update,
};
const off: TrayStatus = { ...serving, engine: { kind: 'off' }, providers: [], keys: [], today: null };

const clicked: unknown[][] = [];
const note =
  (name: string) =>
  (...parameters: unknown[]) =>
    void clicked.push([name, ...parameters]);
const actions: TrayActions = {
  setGateway: note('setGateway'),
  setProvider: note('setProvider'),
  copyBaseUrl: note('copyBaseUrl'),
  copyKey: note('copyKey'),
  openWindow: note('openWindow'),
  togglePanel: note('togglePanel'),
  showRequest: note('showRequest'),
  setStartAtLogin: note('setStartAtLogin'),
  checkForUpdates: note('checkForUpdates'),
  installUpdate: note('installUpdate'),
  showLogFolder: note('showLogFolder'),
  quit: note('quit'),
};

function itemsOf(status: TrayStatus, locale = 'en'): Map<string | undefined, MenuItemConstructorOptions> {
  const items = trayMenu(status, actions, { messages: messagesFor(locale), locale });
  const all = items.flatMap((item) => [item, ...(Array.isArray(item.submenu) ? item.submenu : [])]);
  return new Map(all.map((item) => [item.id, item]));
}

describe('the menu of the tray', () => {
  it.each<[string, Partial<TrayStatus>, string, Partial<MenuItemConstructorOptions>]>([
    ['where it serves', {}, 'state', { label: 'Serving at http://127.0.0.1:4810/v1', enabled: false }],
    ['that it is off', off, 'state', { label: 'Sluice is off' }],
    [
      'why it failed',
      { engine: { kind: 'failed', problem: noPort } },
      'state',
      { label: 'Not running: Port 4810 is used by another program.' },
    ],
    ['the gateway as on', {}, 'gateway', { type: 'checkbox', checked: true, enabled: true }],
    ['the gateway as off', off, 'gateway', { checked: false, enabled: true }],
    ['a start that nobody may disturb', { engine: { kind: 'starting' } }, 'gateway', { checked: true, enabled: false }],
    ['an end that nobody may disturb', { engine: { kind: 'stopping' } }, 'gateway', { checked: false, enabled: false }],
    ['a provider', {}, 'provider:main', { type: 'checkbox', label: 'Main', checked: true }],
    [
      'one that is off, without its troubles',
      { providers: [{ ...inCondition('off'), enabled: false }] },
      'provider:main',
      { label: 'Main', checked: false },
    ],
    [
      'one that cannot be used, with the reason',
      { providers: [inCondition('no-credential')] },
      'provider:main',
      { label: 'Main: Needs a credential: no enabled credential has a value', checked: true },
    ],
    [
      'one that is left alone, with the reason',
      { providers: [inCondition('cooling', { failure: 'rate-limit' })] },
      'provider:main',
      { label: 'Main: Cooling down: its rate limit was reached', checked: true },
    ],
    [
      'one with some requests failing',
      { providers: [inCondition('degraded', { failing: { models: ['sora-2'], total: 12 } })] },
      'provider:main',
      { label: 'Main: Ready, 1 of 12 models failing: sora-2' },
    ],
    ['that there are no providers', { providers: [] }, 'no-providers', { label: 'No providers yet' }],
    ['the default group', {}, 'default-group', { label: 'Default group: all models, in order' }],
    [
      'its patterns',
      { defaultGroup: { ...defaultGroup, models: ['gpt-*', 'o3'] } },
      'default-group',
      { label: 'Default group: gpt-*, o3, in order' },
    ],
    ['that there is none', { defaultGroup: null }, 'default-group', { label: 'No default group' }],
    ['today’s numbers', {}, 'today', { label: 'Today: 1,234 requests, 56,789 tokens, $1.50' }],
    [
      'a cost that nobody knows as such',
      { today: { requests: 1, tokens: 2, costUsd: null } },
      'today',
      { label: 'Today: 1 request, 2 tokens, cost unknown' },
    ],
    ['the last error', { lastError }, 'last-error', { label: 'Last error: gpt-x: 502' }],
    ['a key to copy', {}, 'key:k1', { label: 'editor' }],
    ['that no key can be copied', { keys: [] }, 'no-keys', { enabled: false }],
    ['nothing to copy while it is off', off, 'copy-base-url', { enabled: false }],
    ['start at login as it is set', { startsAtLogin: true }, 'start-at-login', { type: 'checkbox', checked: true }],
    ['the way to the log', off, 'show-log-folder', { label: 'Show log folder' }],
    ['that updates are somebody else’s', { update: { ...update, state: 'managed' } }, 'update', { enabled: false }],
    [
      'an update to install',
      { update: { ...update, state: 'ready', version: '2.0.0' } },
      'update',
      { label: 'Install 2.0.0 and restart' },
    ],
  ])('shows %s', (_what, changes, id, expected) => {
    expect(itemsOf({ ...serving, ...changes }).get(id)).toMatchObject(expected);
  });

  it.each([
    [
      'en',
      'Default group: a, b, c, d, …, lowest price',
      'Limits: 1,200 requests a minute, 3 concurrent, $5 a day, 9,000 tokens in total',
    ],
    [
      'zh-CN',
      '默认分组：a, b, c, d, …，价格最低优先',
      '限额：每分钟 1,200 个请求，同时 3 个，每天 $5，总计 9,000 个 token',
    ],
  ])('shows the default group’s profile shortly in %s', (locale, profile, limits) => {
    const group: TrayGroup = {
      models: ['a', 'b', 'c', 'd', 'e'],
      policy: policySchema.parse({ strategy: 'lowest-price' }),
      limits: limitsSchema.parse({
        ...{ requestsPerMinute: 1200, concurrent: 3 },
        budgets: [
          { unit: 'usd', amount: 5, per: 'day' },
          { unit: 'tokens', amount: 9000, per: 'total' },
        ],
      }),
    };
    const items = itemsOf({ ...serving, defaultGroup: group }, locale);
    expect(items.get('default-group')?.label).toBe(profile);
    expect(items.get('default-group-limits')?.label).toBe(limits);
    expect(itemsOf(serving, locale).has('default-group-limits')).toBe(false);
  });

  it('names the demo and writes money in the language of the window', () => {
    const providers = [{ ...main, isDemo: true, name: 'as the engine calls it' }];
    const language = { messages: messagesFor('zh-CN'), locale: 'zh-CN' };
    const labels = trayMenu({ ...serving, providers }, actions, language).map(({ label }) => label);
    expect(labels).toContain('Sluice 演示');
    expect(labels).toContain('今天：1,234 个请求，56,789 个 token，$1.50');
  });

  it('leaves out what only a gateway that serves can say', () => {
    const shown = [...itemsOf(off).keys()];
    expect(shown).not.toContain('providers');
    expect(shown).not.toContain('today');
    expect(shown).toContain('open');
    expect(shown).toContain('quit');
  });

  it.each([
    ['gateway', ['setGateway', false]],
    ['provider:main', ['setProvider', main, false]],
    ['copy-base-url', ['copyBaseUrl']],
    ['key:k1', ['copyKey', 'k1']],
    ['open', ['openWindow']],
    ['last-error', ['showRequest', 'req_1']],
    ['start-at-login', ['setStartAtLogin', true]],
    ['update', ['checkForUpdates']],
    ['show-log-folder', ['showLogFolder']],
    ['quit', ['quit']],
  ])('does what "%s" says', (id, expected) => {
    clicked.length = 0;
    const click = itemsOf({ ...serving, lastError }).get(id)?.click;
    if (click) Reflect.apply(click, undefined, []);
    expect(clicked).toEqual([expected]);
  });

  it('is in Chinese where the system is', () => {
    expect(itemsOf(serving, 'zh-CN').get('state')?.label).toBe('正在服务：http://127.0.0.1:4810/v1');
    expect(itemsOf(serving, 'zh-CN').get('quit')?.label).toBe('退出 Sluice');
  });

  it.each([
    ['state', { engine: { kind: 'failed', problem: noPort } }, '未运行：端口 4810 已被其他程序占用。'],
    [
      'provider:main',
      { providers: [inCondition('no-credential')] },
      'Main：需要凭据：没有可用的凭据（未填写或已停用）',
    ],
  ] as const)('says what is wrong in Chinese too: %s', (id, changes, label) => {
    expect(itemsOf({ ...serving, ...changes }, 'zh-CN').get(id)?.label).toBe(label);
  });
});

describe('the icon of the tray', () => {
  it.each<[ReturnType<typeof trayMark>, string, TrayStatus]>([
    ['serving', 'it serves', serving],
    ['off', 'it is off', off],
    ['off', 'it starts', { ...off, engine: { kind: 'starting' } }],
    ['error', 'it could not start', { ...off, engine: { kind: 'failed', problem: noPort } }],
    ['error', 'a provider cannot be used', { ...serving, providers: [inCondition('no-credential')] }],
    ['error', 'a provider refuses its credentials', { ...serving, providers: [inCondition('refused')] }],
    [
      'serving',
      'a provider is left alone for a while',
      { ...serving, providers: [inCondition('cooling'), inCondition('unreachable')] },
    ],
    ['serving', 'only one that is off cannot', { ...serving, providers: [{ ...inCondition('off'), enabled: false }] }],
  ])('says "%s" where %s', (mark, _when, status) => {
    expect(trayMark(status)).toBe(mark);
  });
});

describe('the title of the tray', () => {
  const titleOf = (changes: Partial<TrayStatus>, locale = 'en') =>
    trayTitle({ ...serving, showsCost: true, ...changes }, { locale });

  it('is today’s cost, in the user’s own notation', () => {
    expect(titleOf({})).toBe('$1.50');
    expect(titleOf({}, 'de')).toBe('1,50\u00a0$');
    expect(titleOf({ today: { requests: 0, tokens: 0, costUsd: 0 } })).toBe('$0.00');
  });

  it('is empty where it is not wanted, not known, or nothing is served', () => {
    expect(titleOf({ showsCost: false })).toBe('');
    expect(titleOf({ today: null })).toBe('');
    expect(titleOf({ today: { requests: 1, tokens: 1, costUsd: null } })).toBe('');
    expect(titleOf(off)).toBe('');
  });
});
