/**
 * Compares translated streams with those of the same client at a provider of its own API. Many short measurements
 * alternate, so that other load on the machine affects both.
 */
import { type Conversation, clientWires, saidKinds, upstreamWires } from './conversations.ts';
import type { RunningGateway } from './gateways.ts';
import type { Job } from './load.ts';
import { type Bench, exactCpuUs } from './measuring.ts';
import { median } from './samples.ts';

const turns = 5;
const connections = 4;
const fullAnswers = 4;
const pacedConnections = 40;
const warmUpAnswers = 8;

type Measured = Omit<Conversation, 'pace'>;

/** All translated combinations. Gemini's API sends the arguments of a call in one event. */
export const translatedConversations: readonly Measured[] = saidKinds.flatMap((said) =>
  clientWires.flatMap((client) =>
    upstreamWires
      .filter((upstream) => upstream !== client && (said !== 'arguments' || upstream !== 'gemini-generate'))
      .map((upstream) => ({ client, upstream, said })),
  ),
);

/**
 * The stream that the same client gets from a provider of its own API. For Gemini's API, it is a text instead of pieces
 * of arguments.
 */
function identityOf({ client, said }: Measured): Measured {
  const isWhole = client === 'gemini-generate' && said === 'arguments';
  return { client, upstream: client, said: isWhole ? 'text' : said };
}

/** The key of its figures. */
export function translatedKey(pace: Conversation['pace'], { client, upstream, said }: Measured): string {
  return `translated.${pace}.${said}.${client}.${upstream}`;
}

export async function translatedPhase(bench: Bench): Promise<void> {
  const gateway = await bench.running('sluice');
  const chosen = translatedConversations.filter((_, index) => index % Math.ceil(1 / bench.scale) === 0);
  if (bench.round === 0) {
    for (const one of chosen) {
      await full(bench, gateway, identityOf(one), warmUpAnswers);
      await full(bench, gateway, one, warmUpAnswers);
    }
  }
  for (let turn = 0; turn < turns; turn++) {
    for (const one of chosen) {
      const key = translatedKey('full', one);
      bench.samples.add(key, 'identity', await full(bench, gateway, identityOf(one), fullAnswers));
      bench.samples.add(key, 'translated', await full(bench, gateway, one, fullAnswers));
    }
  }
  for (const one of chosen.filter(({ said }) => said === 'text')) {
    const [identity, translated] = [await paced(bench, gateway, identityOf(one)), await paced(bench, gateway, one)];
    const key = translatedKey('paced', one);
    bench.samples.add(key, 'identity', identity.cpuUs);
    bench.samples.add(key, 'translated', translated.cpuUs);
    bench.samples.add('translated.firstUs', 'identity', identity.firstUs);
    bench.samples.add('translated.firstUs', 'translated', translated.firstUs);
  }
}

/** Returns the CPU time per event in microseconds. */
async function full(bench: Bench, gateway: RunningGateway, one: Measured, count: number): Promise<number> {
  const request: Conversation = { ...one, pace: 'full' };
  const job: Job = { kind: 'loop', to: gateway.address, request, connections, durationMs: 20_000, count };
  return (await measure(bench, gateway, job)).cpuUs;
}

async function paced(bench: Bench, gateway: RunningGateway, one: Measured) {
  const request: Conversation = { ...one, pace: 'paced' };
  const job: Job = { kind: 'streams', to: gateway.address, request, connections: pacedConnections };
  return measure(bench, gateway, job);
}

async function measure(bench: Bench, { pid, name }: RunningGateway, job: Job) {
  const beforeUs = exactCpuUs(pid);
  const { events, errors, firstUs } = await bench.load(job);
  bench.samples.addErrors(name, errors);
  return { cpuUs: (exactCpuUs(pid) - beforeUs) / events, firstUs: median(firstUs) };
}
