/** The audit list of a gateway on which people sign in, as OpenTelemetry log records. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type OtlpCollector, startOtlpCollector } from '../../../support/otlp-collector.ts';
import { type ControlGateway, type ControlGatewayOptions, startControlGateway } from '../../control/control-gateway.ts';
import { admin, signedIn, withSignIn } from './planted-team.ts';

let collector: OtlpCollector;
let sluice: ControlGateway;

beforeEach(async () => {
  collector = await startOtlpCollector();
});
afterEach(async () => {
  await sluice.stop();
  await collector.stop();
});

async function start(telemetry: object, options: ControlGatewayOptions = { ports: withSignIn }): Promise<void> {
  sluice = await startControlGateway({
    ...options,
    config: {
      groups: [{ id: 'default' }],
      settings: { telemetry: { endpoint: collector.origin, ...telemetry } },
    },
  });
}

/** The gateway sends the remaining ones when it stops. */
async function collected(): Promise<void> {
  await sluice.gateway.stop(1_000);
}

describe('the audit list as log records', () => {
  const rename = (name: string) => sluice.gateway.execute({ type: 'group.put', group: { id: 'default', name } });

  test.each(['http/protobuf', 'http/json'])('is sent over %s, with who did what', async (protocol) => {
    await start({ audit: true, traces: false, metrics: false, protocol });
    const from = Date.now();
    await sluice.gateway.execute(
      { type: 'group.put', group: { id: 'default', name: 'Renamed' } },
      { ...signedIn(admin), scopes: ['write'], address: '192.0.2.7' },
    );
    await rename('By the machine');
    await collected();
    expect(collector.deliveries.map(({ path }) => path)).toEqual(['/v1/logs']);
    expect(collector.logs).toMatchObject([
      { event: 'sluice.audit', severity: 9, resource: { 'service.name': 'sluice' } },
      { attributes: { 'sluice.audit.action': 'group.put', 'sluice.audit.target': 'default' } },
    ]);
    const [first, second] = collector.logs;
    expect(first?.attributes).toEqual({
      ...{ 'sluice.audit.action': 'group.put', 'sluice.audit.target': 'default', 'sluice.audit.token': 'ses_1' },
      ...{ 'user.id': admin.id, 'user.full_name': admin.name, 'client.address': '192.0.2.7' },
    });
    expect(Object.keys(second?.attributes ?? {})).toHaveLength(2);
    expect(first?.atMs).toBeGreaterThanOrEqual(from);
    expect(collector.logs.map(({ body }) => JSON.parse(body))).toMatchObject([
      { personId: admin.id, changes: [{ name: 'default', kind: 'changed' }] },
      { personId: null, changes: [{ fields: [{ name: 'name', before: '"Renamed"', after: '"By the machine"' }] }] },
    ]);
  });

  test('has no changes in a record that would be longer than 64 kB', async () => {
    await start({ audit: true });
    const groups = Array.from({ length: 1_500 }, (_, index) => ({ id: `g-${index}` }));
    const { config } = await sluice.gateway.query({ type: 'config' });
    await sluice.gateway.execute({
      type: 'config.import',
      config: { ...config, groups: [...config.groups, ...groups] },
    });
    await collected();
    expect(JSON.parse(collector.logs[0]?.body ?? '')).toMatchObject({ action: 'config.import', changes: null });
  });

  test('is not sent unless that is switched on, nor where nobody signs in', async () => {
    await start({});
    await rename('Renamed');
    await collected();
    await start({ audit: true }, {});
    await rename('Renamed');
    await collected();
    expect(collector.logs).toEqual([]);
  });
});
