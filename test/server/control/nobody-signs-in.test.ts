import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Caller } from '../../../server/control/people/people.ts';
import { type ControlGateway, refusalOf, startControlGateway } from './control-gateway.ts';

let sluice: ControlGateway;
beforeAll(async () => {
  sluice = await startControlGateway({ ports: { loadTeam: undefined } });
});
afterAll(() => sluice.stop());

const person = { id: 'prs_1', name: 'Ada', email: null, isAdmin: true, manages: [], memberOf: [] };
const ada: Caller = { person, scopes: null, accessId: 'ses_1', address: null };

test('where nobody signs in, no caller may do or see anything', async () => {
  const { execute, query, onEvent } = sluice.gateway;
  const problem = { code: 'not_found', problem: { code: 'no-sign-in' } };
  expect(await refusalOf(execute({ type: 'key.create', group: 'default' }, ada))).toMatchObject(problem);
  expect(await refusalOf(query({ type: 'status' }, ada))).toMatchObject(problem);
  expect(() => onEvent(() => {}, ada)).toThrow('Nobody signs in');
  for (const type of ['people', 'tokens', 'audit'] as const)
    expect(await refusalOf(query({ type }))).toMatchObject(problem);
  expect(await query({ type: 'who-am-i' })).toEqual({ person: null, signsIn: false, limitUse: [] });
});

test('a build without the part for teams says so when a team’s gateway is joined', async () => {
  const refusal = await refusalOf(sluice.gateway.execute({ type: 'team.join', url: 'https://gateway.example' }));
  expect(refusal.message).toBe('This build of Sluice cannot join the gateways of teams.');
});
