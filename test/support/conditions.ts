/** Providers in every condition that lasts, of one upstream, for readers that must agree about them. */
import type { ServerResponse } from 'node:http';
import type { ConfigInput } from '../../server/contract/config.ts';
import type { Condition } from '../../server/contract/provider-condition.ts';
import { closedPort } from './ports.ts';
import { json, type SeenRequest, startUpstream } from './upstream.ts';

interface Case {
  condition: Condition;
  models: string[] | 'discover';
  /** In this order. */
  asked: string[];
  more?: { enabled?: boolean; credentials?: { id: string; secret: string }[] };
}

/** By the provider's id. */
const cases: Record<string, Case> = {
  ready: { condition: 'ready', models: ['m-ready'], asked: ['m-ready'] },
  untried: { condition: 'untried', models: ['m-untried'], asked: [] },
  unlisted: { condition: 'unlisted', models: 'discover', asked: [] },
  degraded: { condition: 'degraded', models: ['m-degraded', 'm-gone'], asked: ['m-degraded', 'm-gone'] },
  cooling: { condition: 'cooling', models: ['m-cooling'], asked: ['m-cooling'] },
  stumbled: { condition: 'failing', models: ['m-stumbled'], asked: ['m-stumbled'] },
  // Its cooldown is over after a second, and nothing has been asked since.
  unproven: { condition: 'failing', models: ['m-unproven'], asked: ['m-unproven', 'm-unproven', 'm-unproven'] },
  refused: { condition: 'refused', models: ['m-refused'], asked: ['m-refused'] },
  quota: { condition: 'quota', models: ['m-quota'], asked: ['m-quota'] },
  away: { condition: 'unreachable', models: ['m-away'], asked: ['m-away'] },
  'away-unlisted': { condition: 'unreachable', models: 'discover', asked: [] },
  'refused-unlisted': {
    ...{ condition: 'refused', models: 'discover', asked: [] },
    more: { credentials: [{ id: 'c1', secret: 'env:CONDITIONS_WRONG' }] },
  },
  off: { condition: 'off', models: ['m-off'], asked: [], more: { enabled: false } },
  keyless: {
    ...{ condition: 'no-credential', models: ['m-keyless'], asked: [] },
    more: { credentials: [{ id: 'c1', secret: 'env:CONDITIONS_MISSING' }] },
  },
};

export const conditionEnv = { CONDITIONS_WRONG: 'wrong' };

/** Of providers, by id. */
export const expectedConditions: Readonly<Record<string, Condition>> = Object.fromEntries(
  Object.entries(cases).map(([id, { condition }]) => [id, condition]),
);

/** Of models, by name. */
export const expectedOfModels: Readonly<Record<string, Condition>> = {
  ...{ 'm-ready': 'ready', 'm-untried': 'untried', 'm-degraded': 'ready', 'm-gone': 'failing' },
  ...{ 'm-cooling': 'cooling', 'm-stumbled': 'failing', 'm-unproven': 'failing', 'm-refused': 'refused' },
  ...{ 'm-quota': 'quota', 'm-away': 'unreachable' },
};

export async function startConditions() {
  const upstream = await startUpstream(answer);
  const away = `http://127.0.0.1:${await closedPort()}/v1`;
  const providers = Object.entries(cases).map(([id, { models, more }]) => ({
    ...{ id, models, baseUrl: id.startsWith('away') ? away : `${upstream.origin}/${id}/v1` },
    ...more,
  }));
  const config: Partial<ConfigInput> = { providers, groups: [{ id: 'default', policy: { retries: 0 } }] };
  return {
    config,
    /** Brings the providers into their conditions. */
    async ask(post: (model: string) => Promise<unknown>) {
      for (const [id, { asked }] of Object.entries(cases)) for (const model of asked) await post(`${id}/${model}`);
    },
    stop: () => upstream.stop(),
  };
}

const failures: Readonly<Record<string, [status: number, code: string, headers?: Record<string, string>]>> = {
  cooling: [429, 'rate_limit_exceeded', { 'retry-after': '600' }],
  stumbled: [500, 'server_error'],
  unproven: [500, 'server_error'],
  refused: [401, 'invalid_api_key'],
  'refused-unlisted': [401, 'invalid_api_key'],
  quota: [429, 'insufficient_quota'],
  unlisted: [500, 'server_error'],
};

function answer({ url, body }: SeenRequest, response: ServerResponse): void {
  const [, id = ''] = url.split('/');
  const [status, code, headers] = body.includes('m-gone') ? [404, 'model_not_found'] : (failures[id] ?? [200, '']);
  if (status === 200) json(response, { id: 'x', object: 'chat.completion', model: 'm', choices: [] });
  else json(response, { error: { message: 'no', code } }, status, headers);
}
