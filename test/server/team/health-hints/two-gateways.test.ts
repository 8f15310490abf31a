/** Two gateways with one Valkey: what one of them learns from an upstream, the other need not find out. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ConfigInput } from '../../../../server/contract/config.ts';
import { connectValkey, openReplicaLimits } from '../../../../server/team/valkey/open-replica-limits.ts';
import { eventually } from '../../../support/eventually.ts';
import { mainProvider, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { freePort } from '../../../support/ports.ts';
import { bodyOf, completion, strictChat } from '../../../support/strict-chat.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../../support/upstream.ts';
import { hasValkey, startValkey, type ValkeyServer } from '../../../support/valkey.ts';

type SharedOptions = Parameters<typeof openReplicaLimits>[1];

describe.runIf(hasValkey())('two gateways', () => {
  let valkey: ValkeyServer;
  let limited: ScriptedUpstream;
  let spare: ScriptedUpstream;
  let gateways: TestGateway[];
  /** The wait that `limited` requests from its clients, in seconds; null if it answers. */
  let retryAfter: string | null;

  const answering = strictChat((_body, response) => json(response, completion({ content: 'hi' })));
  beforeEach(async () => {
    gateways = [];
    retryAfter = null;
    valkey = await startValkey();
    spare = await startUpstream(answering);
    limited = await startUpstream((request, response, seen) => {
      if (retryAfter === null) return answering(request, response, seen);
      const error = { message: 'Slow down.', type: 'requests', code: 'rate_limit_exceeded' };
      json(response, { error }, 429, { 'retry-after': retryAfter });
    });
  });
  afterEach(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await Promise.all([limited.stop(), spare.stop(), valkey.stop()]);
  });

  async function startTwo(before: ConfigInput['providers'] = []): Promise<[TestGateway, TestGateway]> {
    const providers = [
      ...before,
      mainProvider(limited.baseUrl, { id: 'limited' }),
      mainProvider(spare.baseUrl, { id: 'spare' }),
    ];
    const secrets = Object.fromEntries(providers.map(({ id }) => [`provider/${id}/c1`, 'upstream-secret']));
    const start = async () => {
      const openLimits = async (options: SharedOptions) => openReplicaLimits(await connectValkey(valkey.url), options);
      const gateway = await startGateway({ config: { providers }, secrets, ports: { openReplicaLimits: openLimits } });
      gateways.push(gateway);
      return gateway;
    };
    const two: [TestGateway, TestGateway] = [await start(), await start()];
    await eventually(async () => (await valkey.command('PUBSUB', 'NUMSUB', 'sluice:health:0')).endsWith(',2'));
    return two;
  }

  const ask = (gateway: TestGateway) =>
    gateway.client.chat.completions.create({ model: 'gpt-x', messages: [{ role: 'user', content: 'hi' }] });
  const stateOf = async ({ gateway }: TestGateway, id: string) =>
    (await gateway.query({ type: 'providers' })).find((provider) => provider.id === id)?.health.state;

  test('stop using a provider that has limited one of them, and use it again once a person has reset it at one', async () => {
    const [one, other] = await startTwo();
    retryAfter = '50';
    await ask(one);
    expect(limited.seen).toHaveLength(1);
    await eventually(async () => (await stateOf(other, 'limited')) === 'cooling');
    await ask(other);
    expect([limited.seen.length, spare.seen.length]).toEqual([1, 2]);
    retryAfter = null;
    await one.gateway.execute({ type: 'provider.reset-health', id: 'limited' });
    await eventually(async () => (await stateOf(other, 'limited')) === 'ok');
    await ask(other);
    expect(limited.seen.map((request) => bodyOf(request).model)).toEqual(['gpt-x', 'gpt-x']);
  });

  test('use a provider again as soon as it answers one of them', async () => {
    const [one, other] = await startTwo();
    retryAfter = '1';
    await ask(one);
    await eventually(async () => (await stateOf(other, 'limited')) === 'cooling');
    retryAfter = null;
    const refused = limited.seen.length;
    await eventually(async () => {
      await ask(one);
      return limited.seen.length > refused;
    });
    await eventually(async () => (await stateOf(other, 'limited')) === 'ok');
  });

  test('find out separately what cannot be reached', async () => {
    const unreachable = mainProvider(`http://127.0.0.1:${await freePort()}/v1`, { id: 'unreachable' });
    const [one, other] = await startTwo([unreachable]);
    await eventually(async () => {
      await ask(one);
      return (await stateOf(one, 'unreachable')) === 'cooling';
    });
    retryAfter = '50';
    await ask(one);
    // Messages of one replica arrive in order.
    await eventually(async () => (await stateOf(other, 'limited')) === 'cooling');
    expect(await stateOf(other, 'unreachable')).toBe('ok');
  });

  test('continue to serve if Valkey does not let them exchange what they learn', async () => {
    await valkey.command('ACL', 'SETUSER', 'sluice', 'on', '>top-secret', '~*', '+@all', '-publish', '-subscribe');
    const url = valkey.url.replace('valkey://', 'valkey://sluice:top-secret@');
    const openLimits = async (options: SharedOptions) => openReplicaLimits(await connectValkey(url), options);
    const providers = [mainProvider(limited.baseUrl), mainProvider(spare.baseUrl, { id: 'spare' })];
    const secrets = { 'provider/spare/c1': 'upstream-secret' };
    const gateway = await startGateway({ config: { providers }, secrets, ports: { openReplicaLimits: openLimits } });
    gateways.push(gateway);
    retryAfter = '50';
    await ask(gateway);
    await ask(gateway);
    expect([limited.seen.length, spare.seen.length]).toEqual([1, 2]);
    expect((await gateway.gateway.query({ type: 'status' })).sharedCounts?.problem).toBeNull();
  });
});
