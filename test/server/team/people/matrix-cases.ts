/** Every query and command, in all the ways in which it can refer to objects of another group. */
import type { CommandInputMap, CommandType } from '../../../../server/contract/commands.ts';
import type { ControlEvent } from '../../../../server/contract/events.ts';
import type { QueryInputMap, QueryType } from '../../../../server/contract/queries.ts';
import { marker, type Names } from './planted-team.ts';

const day = 86_400_000;
export const span = () => ({ sinceMs: Date.now() - day, untilMs: Date.now() + day, stepMs: day });

/** Every query, in all the ways in which it can refer to a group, a key or their activity. */
export const queries: { [T in QueryType]: (names: Names) => QueryInputMap[T][] } = {
  status: () => [{ type: 'status' }],
  providers: () => [{ type: 'providers' }],
  presets: () => [{ type: 'presets' }],
  'local-servers': () => [{ type: 'local-servers' }],
  'environment-credentials': () => [{ type: 'environment-credentials' }],
  'provider-test': ({ provider }) => [{ type: 'provider-test', id: provider }],
  keys: () => [{ type: 'keys' }],
  'find-keys': ({ key, group }) => [
    { type: 'find-keys', search: key },
    { type: 'find-keys', ids: [key] },
    { type: 'find-keys', group },
  ],
  groups: () => [{ type: 'groups' }],
  'find-groups': ({ group }) => [
    { type: 'find-groups', search: group },
    { type: 'find-groups', ids: [group] },
  ],
  'group-preview': ({ group }) => [{ type: 'group-preview', group: { id: group } }],
  caches: () => [{ type: 'caches' }],
  cassettes: () => [{ type: 'cassettes' }],
  aliases: () => [{ type: 'aliases' }],
  models: ({ group, key }) => [
    { type: 'models', group },
    { type: 'models', key },
    { type: 'models', group: 'ours', key },
  ],
  prices: () => [{ type: 'prices' }],
  route: ({ group, key, alias }) => [
    { type: 'route', group, model: 'demo-chat' },
    { type: 'route', key, model: 'demo-chat' },
    { type: 'route', group: 'ours', model: alias },
  ],
  requests: ({ group, key }) => [
    { type: 'requests' },
    { type: 'requests', filter: { groupId: group } },
    { type: 'requests', filter: { keyId: key } },
    { type: 'requests', filter: { search: marker } },
    { type: 'requests', sort: { by: 'duration' } },
  ],
  'request-count': ({ group, key }) => [
    { type: 'request-count', filter: { groupId: group } },
    { type: 'request-count', filter: { keyId: key } },
    { type: 'request-count', filter: { search: marker } },
  ],
  'request-names': () => [{ type: 'request-names', of: 'client' }],
  request: ({ request }) => [{ type: 'request', id: request }],
  'request-texts': ({ request }) => [{ type: 'request-texts', ids: [request] }],
  sessions: ({ group, key }) => [
    { type: 'sessions' },
    { type: 'sessions', filter: { groupId: group } },
    { type: 'sessions', filter: { keyId: key } },
  ],
  session: ({ session }) => [{ type: 'session', id: session }],
  refusals: () => [{ type: 'refusals' }],
  clients: () => [{ type: 'clients' }],
  panel: () => [{ type: 'panel', sinceMs: 0 }],
  'connect-clients': () => [{ type: 'connect-clients' }],
  'connect-preview': ({ key }) => [{ type: 'connect-preview', client: 'codex', key, model: 'demo-chat' }],
  'connect-undo-preview': () => [{ type: 'connect-undo-preview', client: 'codex' }],
  usage: () => (['day', 'key', 'group', 'model', 'provider'] as const).map((by) => ({ type: 'usage', by })),
  'usage-over-time': ({ group, key }) => [
    { type: 'usage-over-time', by: 'group', names: [group], ...span() },
    { type: 'usage-over-time', by: 'key', names: [key], ...span() },
    { type: 'usage-over-time', by: 'group', ...span() },
    { type: 'usage-over-time', by: 'day', ...span() },
    { type: 'usage-over-time', by: 'model', ...span() },
    { type: 'usage-over-time', by: 'model', own: true, ...span() },
    { type: 'usage-over-time', by: 'key', names: [key], own: true, ...span() },
  ],
  'first-byte-times': ({ group, key }) => [
    { type: 'first-byte-times', by: 'group', names: [group], ...span() },
    { type: 'first-byte-times', by: 'key', names: [key], ...span() },
    { type: 'first-byte-times', by: 'key', ...span() },
    { type: 'first-byte-times', ...span() },
  ],
  config: () => [{ type: 'config' }],
  'adopt-preview': () => [{ type: 'adopt-preview', text: 'A=1' }],
  'import-preview': () => [{ type: 'import-preview', config: { version: 1 } }],
  'team-preset-preview': () => [
    { type: 'team-preset-preview', preset: { teamPreset: 1, name: 'A', organisation: 'A' } },
  ],
  'who-am-i': () => [{ type: 'who-am-i' }],
  'join-preset': () => [{ type: 'join-preset' }],
  people: () => [{ type: 'people' }],
  tokens: () => [{ type: 'tokens' }],
  audit: () => [{ type: 'audit' }],
  host: () => [{ type: 'host' }],
  network: () => [{ type: 'network' }],
};

/** Every command about another group or about shared objects. */
export const commands: { [T in CommandType]: (names: Names) => CommandInputMap[T][] } = {
  'provider.add': () => [{ type: 'provider.add', provider: { baseUrl: 'https://more.example/v1' } }],
  'provider.try': () => [{ type: 'provider.try', provider: { baseUrl: 'https://more.example/v1' } }],
  'provider.update': ({ provider }) => [{ type: 'provider.update', id: provider, changes: { enabled: false } }],
  'provider.remove': ({ provider }) => [{ type: 'provider.remove', id: provider }],
  'provider.set-enabled': ({ provider }) => [{ type: 'provider.set-enabled', id: provider, enabled: false }],
  'provider.refresh-models': ({ provider }) => [{ type: 'provider.refresh-models', id: provider }],
  'provider.reset-health': ({ provider }) => [{ type: 'provider.reset-health', id: provider }],
  'credential.set': ({ provider }) => [{ type: 'credential.set', provider, secret: 'sk-other' }],
  'credential.remove': ({ provider }) => [{ type: 'credential.remove', provider, id: 'c1' }],
  'key.create': ({ group, key }) => [
    { type: 'key.create', group },
    { type: 'key.create', group, own: true },
    { type: 'key.create', group: 'ours', id: key },
    { type: 'key.create', group: 'ours', cassette: { folder: '/tmp/tapes', mode: 'record' } },
  ],
  'key.update': ({ group, key }) => [
    { type: 'key.update', id: key, changes: { name: 'mine' } },
    { type: 'key.update', id: key, changes: { group: 'ours' } },
    { type: 'key.update', id: 'own', changes: { group } },
  ],
  'key.rotate': ({ key }) => [{ type: 'key.rotate', id: key }],
  'key.revoke': ({ key }) => [{ type: 'key.revoke', id: key }],
  'key.reveal': ({ key }) => [{ type: 'key.reveal', id: key }],
  'capture.start': ({ group, key }) => [
    { type: 'capture.start' },
    { type: 'capture.start', group },
    { type: 'capture.start', key },
  ],
  'capture.stop': ({ group, key }) => [
    { type: 'capture.stop' },
    { type: 'capture.stop', group },
    { type: 'capture.stop', key },
  ],
  'faults.start': ({ group, key }) => [
    { type: 'faults.start', group, rules: ['slow'] },
    { type: 'faults.start', key, rules: ['slow'] },
  ],
  'faults.stop': ({ group, key }) => [
    { type: 'faults.stop' },
    { type: 'faults.stop', group },
    { type: 'faults.stop', key },
  ],
  'token.create': () => [],
  'token.revoke': ({ token }) => [{ type: 'token.revoke', id: token }],
  'person.sign-out': ({ person }) => [{ type: 'person.sign-out', id: person }],
  'person.revoke': ({ person }) => [{ type: 'person.revoke', id: person }],
  'session.stop': ({ session }) => [{ type: 'session.stop', id: session }],
  'session.resume': ({ session }) => [{ type: 'session.resume', id: session }],
  'group.put': ({ group }) => [
    { type: 'group.put', group: { id: group } },
    { type: 'group.put', group: { id: 'ours', limits: { requestsPerMinute: 100_000 } } },
  ],
  'group.remove': ({ group }) => [{ type: 'group.remove', id: group }],
  'prices.check': () => [{ type: 'prices.check' }],
  'prices.apply': () => [{ type: 'prices.apply', which: 'plausible' }],
  'cache.clear': ({ group }) => [{ type: 'cache.clear' }, { type: 'cache.clear', group }],
  'cassette.rewind': () => [{ type: 'cassette.rewind' }],
  'alias.put': ({ alias, key }) => [
    { type: 'alias.put', alias: { name: alias, targets: [{ provider: 'demo', model: 'a' }] } },
    { type: 'alias.put', key, alias: { name: alias, targets: [{ provider: 'demo', model: 'a' }] } },
  ],
  'alias.remove': ({ alias, key }) => [
    { type: 'alias.remove', name: alias },
    { type: 'alias.remove', key, name: alias },
  ],
  'settings.update': () => [{ type: 'settings.update', changes: { sessions: 'off' } }],
  'config.import': () => [{ type: 'config.import', config: { version: 1 } }],
  'config.adopt': () => [{ type: 'config.adopt', text: 'A=1' }],
  'config.apply': () => [{ type: 'config.apply', preset: { teamPreset: 1, name: 'A', organisation: 'A' } }],
  'team-preset.apply': () => [{ type: 'team-preset.apply', preset: { teamPreset: 1, name: 'A', organisation: 'A' } }],
  'team-preset.leave': () => [{ type: 'team-preset.leave' }],
  'team.join': () => [{ type: 'team.join', url: 'https://gateway.example' }],
  'team.finish-join': () => [{ type: 'team.finish-join', id: '3f333df6-90a4-4fda-8dd3-9485d27cee36' }],
  'team.leave': ({ provider }) => [{ type: 'team.leave', provider }],
  'connect.apply': ({ key }) => [
    { type: 'connect.apply', client: 'codex', key, model: 'demo-chat', fingerprint: 'any' },
  ],
  'connect.undo': () => [{ type: 'connect.undo', client: 'codex', fingerprint: 'any' }],
  'window.create-address': () => [{ type: 'window.create-address' }],
  'window.sign-out-everywhere': () => [{ type: 'window.sign-out-everywhere' }],
};

/** Every event: whether it belongs to a group, or to the machine and is only sent to administrators. */
export const eventsAreOf: { [T in ControlEvent['type']]: 'group' | 'machine' } = {
  snapshot: 'group',
  'config-changed': 'group',
  'request-started': 'group',
  'request-finished': 'group',
  'provider-changed': 'group',
  'limit-reached': 'group',
  'session-budget-reached': 'group',
  'limit-use': 'group',
  'update-ready': 'machine',
  'ledger-health': 'machine',
  refusals: 'machine',
  standstill: 'machine',
};
