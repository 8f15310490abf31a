import type { KeyView } from '../../server/contract/access-views.ts';
import type { ConfigViews, ControlEvent } from '../../server/contract/events.ts';
import type { RequestRecord, RequestStarted } from '../../server/contract/ledger.ts';
import type { ProviderView } from '../../server/contract/provider-views.ts';
import { settingsSchema } from '../../server/contract/settings.ts';
import type { StatusView } from '../../server/contract/status-views.ts';
import { wellProvider } from '../support/stand-ins.ts';

/** The snapshot of an engine that contains only the given views. */
export function snapshot(views: Partial<ConfigViews> = {}): Extract<ControlEvent, { type: 'snapshot' }> {
  return {
    type: 'snapshot',
    status: status(1),
    providers: [],
    keys: [],
    keyCount: views.keys?.length ?? 0,
    groups: [],
    groupCount: views.groups?.length ?? 0,
    aliases: [],
    refusals: [],
    requests: [],
    ...views,
  };
}

export function status(revision: number): StatusView {
  return {
    version: '0.0.0',
    instanceId: 'instance',
    pid: 1,
    startedAt: 0,
    baseUrl: 'http://127.0.0.1:4810/v1',
    listensAt: 'http://127.0.0.1:4810',
    givenAddress: [],
    currency: null,
    revision,
    readOnly: false,
    settings: settingsSchema.parse({}),
    configReplaced: null,
    removedFields: [],
    demoIsRunning: false,
    secretStore: null,
    secretStoreKind: null,
    capture: [],
    recentCapture: null,
    faults: [],
    sharedCounts: null,
    standstill: null,
    person: null,
    ledger: { ok: true, pending: 0, spooled: 0, dropped: 0, lastError: null, budgetsError: null, replaced: null },
    team: { presets: [], locks: [] },
  };
}

export function key(id: string): KeyView {
  return {
    id,
    name: null,
    group: 'default',
    enabled: true,
    expiresAt: null,
    models: null,
    createdAt: null,
    lastUsedAt: null,
    limits: null,
    limitUse: [],
    capture: false,
    faults: false,
    cassette: null,
    canReveal: false,
    suffix: null,
    previousUntil: null,
    aliases: [],
    owner: null,
  };
}

export function provider(id: string): ProviderView {
  return {
    id,
    name: id,
    preset: null,
    joined: false,
    isDemo: false,
    dialect: 'openai',
    baseUrl: 'http://127.0.0.1:9/v1',
    enabled: true,
    credentials: [],
    headers: {},
    models: 'discover',
    timeouts: {},
    proxy: 'system',
    certificate: null,
    apiVersion: null,
    contextTokens: null,
    free: null,
    isFree: false,
    askUsage: true,
    serves: null,
    unusable: null,
    health: wellProvider,
    modelNames: [],
    takesAnyModel: false,
    discovery: null,
  };
}

export function started(id: string): RequestStarted {
  return {
    id,
    startedAt: 1_000,
    keyId: null,
    groupId: null,
    route: '/v1/chat/completions',
    method: 'POST',
    capability: 'chat',
    modelAsked: 'gpt-x',
    stream: false,
    session: null,
    shadowOf: null,
  };
}

export function finished(id: string): RequestRecord {
  return {
    ...started(id),
    outcome: 'ok',
    status: 200,
    errorCode: null,
    modelServed: 'gpt-x',
    provider: 'main',
    credential: null,
    queueMs: null,
    connectMs: null,
    firstByteMs: 5,
    totalMs: 10,
    bytesIn: 1,
    bytesOut: 1,
    attempts: [],
    usage: null,
    usageCertainty: 'none',
    costUsd: null,
    client: null,
    clientRetries: 0,
    dropped: [],
    emulated: [],
    captured: null,
    cached: null,
    fault: null,
    cassette: null,
    sameAnswer: null,
  };
}
