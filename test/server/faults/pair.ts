/** A gateway with two upstreams, for sequences of several requests. */
import type { ConfigInput } from '../../../server/contract/config.ts';
import { type FaultUpstream, type Lane, startFaultUpstream } from '../../support/fault-upstream.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type Received, receive } from '../../support/judge-answer.ts';
import { calls, type OpenAiCall, requestFor } from '../../support/openai-calls.ts';

export interface Pair {
  primary: Lane;
  fallback: Lane;
  gateway: TestGateway;
  ask(call: OpenAiCall): Promise<Received & { id: string; provider: string | null; attempts: number }>;
  stop(): Promise<void>;
}

type Policy = NonNullable<NonNullable<ConfigInput['groups']>[number]['policy']>;

export async function startPair(policy: Policy): Promise<Pair> {
  const upstream: FaultUpstream = await startFaultUpstream();
  const [primary, fallback] = [upstream.lane('primary'), upstream.lane('fallback')];
  const provider = (id: string, { baseUrl }: Lane) => ({
    id,
    baseUrl,
    credentials: [{ id: 'c1' }],
    models: ['gpt-x'],
  });
  const gateway = await startGateway({
    config: {
      providers: [provider('primary', primary), provider('fallback', fallback)],
      groups: [{ id: 'default', policy }],
    },
    secrets: { 'provider/primary/c1': 'secret-of-primary', 'provider/fallback/c1': 'secret-of-fallback' },
  });
  return {
    primary,
    fallback,
    gateway,
    async ask(call) {
      const { path, init } = requestFor(call, 'gpt-x');
      const response = await gateway.fetch(path, { ...init, signal: AbortSignal.timeout(60_000) });
      const { headers } = response;
      return {
        ...(await receive(response)),
        id: headers.get('x-sluice-request-id') ?? '',
        provider: headers.get('x-sluice-provider'),
        attempts: Number(headers.get('x-sluice-attempts')),
      };
    },
    async stop() {
      await gateway.stop();
      await upstream.stop();
    },
  };
}

export function callNamed(name: string): OpenAiCall {
  const call = calls.find((each) => each.name === name);
  if (!call) throw new Error(`There is no call "${name}".`);
  return call;
}
