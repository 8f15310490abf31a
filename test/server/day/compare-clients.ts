/** What the clients of a day were told: in their answers, in headers, and at `GET /v1/usage`. */
import { localCalendar } from '../../../server/contract/calendar.ts';
import type { RequestView } from '../../../server/contract/request-views.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { asTold, ownClients, type Told } from '../../support/usage-told.ts';
import { type Answer, secretOf } from './clients.ts';
import type { KeyName } from './plan.ts';
import { realtimeModel } from './providers.ts';
import { type Differences, sumOfRows } from './sums.ts';

/** Answers whose usage is not that of their row, and why. */
const otherUsage: Record<string, (answer: Answer, row: RequestView) => boolean> = {
  'a provider is paid once for an answer that the cache or a cassette repeats': (_, { cached, cassette }) =>
    cached?.result === 'hit' || cached?.result === 'shared' || cassette === 'replayed',
  'where a provider reports nothing, the bytes of its own API pass as they are': ({ play: { course, what } }) =>
    course === 'untold' && what.kind === 'talk' && ownClients[what.api] === what.client,
  'what only the bill estimates is told to nobody; the input that Anthropic’s API must tell is a guess on the high side':
    (_, { usageCertainty }) => usageCertainty === 'estimated',
  'a response in the background is booked once, to whoever hears of its end first, which may be Sluice itself': (
    { play },
    row,
  ) => play.what.kind === 'background' && row.usage === null,
  'a client is told of the answer that it got, its row also has the attempt that broke': (_, { attempts }) =>
    attempts.length > 1,
};

export function compareAnswers(
  differences: Differences,
  answers: readonly Answer[],
  rows: readonly RequestView[],
): void {
  compareLaterBills(differences, answers, rows);
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const answer of answers) {
    const { play, requestId, status, headers, told } = answer;
    if (requestId === null) continue;
    const row = byId.get(requestId);
    const place = `request ${play.number} (${JSON.stringify({ ...play.what, course: play.course, key: play.key })})`;
    if (!row) {
      differences.expect(place, 'answered', 'there is no such row');
      continue;
    }
    differences.expect(`the status of ${place}`, status, row.status ?? status);
    const provider = headers.get('x-sluice-provider');
    if (row.cassette !== 'replayed' && row.cached?.result !== 'hit' && play.course !== 'rescued')
      differences.expect(`x-sluice-provider of ${place}`, provider, row.provider);
    if (told === undefined || Object.values(otherUsage).some((isSo) => isSo(answer, row))) continue;
    const counted = asTold(row.usage);
    for (const name of Object.keys(told) as (keyof Told)[])
      differences.expect(`${name} told to ${place}, ${row.usageCertainty}`, told[name], counted[name]);
    if (row.usageCertainty === 'reported' && play.what.kind === 'talk') {
      for (const [name, count] of Object.entries(play.counts))
        differences.expect(`${name} reported for ${place}`, counted[name as keyof Told], count);
    }
  }
}

/** Of responses in the background and in realtime sessions, each is booked once. */
function compareLaterBills(differences: Differences, answers: readonly Answer[], rows: readonly RequestView[]): void {
  for (const [kind, model] of [
    ['background', 'gpt-background'],
    ['realtime', realtimeModel],
  ] as const) {
    const booked = sumOfRows(rows.filter(({ modelAsked }) => modelAsked === model));
    const counts = answers.flatMap(({ play, told }) => (play.what.kind === kind && told ? [play.counts] : []));
    const total = (name: 'input' | 'output') => counts.reduce((sum, each) => sum + each[name], 0);
    differences.expect(`input booked for ${kind}`, booked.inputTokens, total('input'));
    differences.expect(`output booked for ${kind}`, booked.outputTokens, total('output'));
  }
}

interface KeyUsage {
  today: Figures;
  month: Figures;
}
type Figures = Record<'requests' | 'input_tokens' | 'output_tokens' | 'cost_usd' | 'unpriced_requests', number>;

/** Resolves with the ids of the requests that ask. */
export async function compareKeyUsage(
  differences: Differences,
  sluice: TestGateway,
  rows: readonly RequestView[],
): Promise<{ requestId: string | null }[]> {
  const asked = [];
  const keys = new Set(rows.map(({ keyId }) => keyId));
  for (const key of keys as Set<KeyName>) {
    const response = await fetch(`${sluice.baseUrl}/usage`, { headers: { 'x-api-key': secretOf(key) } });
    const usage = (await response.json()) as KeyUsage;
    for (const [name, per] of [
      ['today', 'day'],
      ['month', 'month'],
    ] as const) {
      const { startMs } = localCalendar().periodOf(per, Date.now());
      const { requests, input_tokens, output_tokens, cost_usd, unpriced_requests } = usage[name];
      const told = {
        ...{ requests, inputTokens: input_tokens, outputTokens: output_tokens },
        ...{ costUsd: cost_usd, unpricedRequests: unpriced_requests },
      };
      const own = rows.filter(({ keyId, startedAt }) => keyId === key && startedAt >= startMs);
      differences.expectSums(`GET /v1/usage, ${name}, of ${key}`, told, sumOfRows(own));
    }
    asked.push({ requestId: response.headers.get('x-sluice-request-id') });
  }
  return asked;
}
