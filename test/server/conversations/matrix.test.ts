/**
 * Any client in front, any provider behind, also when the provider changes: the official SDK of each API in conversations of
 * five turns, whose first provider fails in the third turn, before its calls or between these and their results, and is back
 * in the fourth. No turn fails, and no provider is sent anything that it refuses.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { forgetFailures, mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { type ClientName, clients } from './clients.ts';
import { answer, callsOf, type Stage, turns } from './talk.ts';
import { createService, type Service, scriptOf, type UpstreamName, upstreams } from './upstreams.ts';

const names = Object.keys(upstreams) as UpstreamName[];
const clientNames = Object.keys(clients) as ClientName[];
const scripted = new Map<UpstreamName, ScriptedUpstream>();
const services = new Map<UpstreamName, Service>();
let gateway: TestGateway;

/** The provider that stands in, another one for each client. */
function spareOf(first: UpstreamName, client: ClientName): UpstreamName {
  const distance = 1 + (clientNames.indexOf(client) % (names.length - 1));
  return names[(names.indexOf(first) + distance) % names.length] ?? first;
}

beforeAll(async () => {
  const providers = [];
  for (const name of names) {
    const { model, path, config } = upstreams[name];
    const upstream = await startUpstream();
    scripted.set(name, upstream);
    providers.push(mainProvider(`${upstream.origin}${path}`, { id: name, models: [model], ...config }));
  }
  const aliases = names.flatMap((first) =>
    names.map((spare) => ({
      name: `${first}-${spare}`,
      targets: [first, spare].map((provider, priority) => ({ provider, model: upstreams[provider].model, priority })),
    })),
  );
  const secrets = Object.fromEntries(names.map((name) => [`provider/${name}/c1`, upstreams[name].secret]));
  const groups = [{ id: 'default', policy: { retries: 0 } }];
  gateway = await startGateway({ config: { groups, providers, aliases }, secrets });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([...scripted.values()].map((upstream) => upstream.stop()));
});
beforeEach(async () => {
  for (const name of names) {
    const service = createService();
    services.set(name, service);
    scripted.get(name)?.answer(scriptOf(name, service));
    await forgetFailures(gateway, name);
  }
});

const isDownAt = {
  'before its calls': ({ turn }: Stage) => turn === 3,
  'between calls and results': ({ turn, isReport }: Stage) => turn === 3 && isReport,
} as const;

const cases = clientNames.flatMap((client) =>
  names.flatMap((first) =>
    [false, true].flatMap((isStreamed) =>
      Object.entries(isDownAt).map(([when, isDown]) => ({ client, first, isStreamed, when, isDown })),
    ),
  ),
);

describe.each(cases)('$client client, $first fails $when, streamed: $isStreamed', ({ client, first, ...how }) => {
  test('every turn ends with its calls and its answer, and nothing is refused', async () => {
    const spare = spareOf(first, client);
    const service = services.get(first);
    if (service) service.isDown = how.isDown;
    const talk = clients[client]({ gateway, isStreamed: how.isStreamed });
    const alias = `${first}-${spare}`;
    for (const turn of turns) {
      // Sealed reasoning keeps a conversation where it is, so that it goes back only if it is told to.
      if (turn === 4) await forgetFailures(gateway, first);
      const seen = await talk.turn(turn === 4 ? upstreams[first].model : alias, turn);
      expect(seen).toEqual({ calls: callsOf(turn), said: answer(turn) });
    }
    for (const name of [first, spare]) expect([name, services.get(name)?.refusals]).toEqual([name, []]);
    const askedTurns = (name: UpstreamName) => new Set(services.get(name)?.asked.map(({ turn }) => turn));
    expect([...askedTurns(first)]).toEqual(turns);
    expect([...askedTurns(spare)]).toEqual([3]);
  });
});
