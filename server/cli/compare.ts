/**
 * `sluice compare`: sends one captured request to several targets, several times each, and shows duration and cost.
 */

import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import type { RequestView } from '../contract/request-views.ts';
import { type KeptRequest, sentRequestOf, spreadOf, withModel } from '../contract/sent-request.ts';
import type { Control } from './control.ts';
import type { Examples } from './help.ts';
import { CliError } from './programs/exit-codes.ts';
import { number, table } from './shown.ts';
import type { Verbs } from './verb.ts';

const maxTargets = 4;
const maxTimes = 20;

interface CompareOptions {
  at?: string[];
  times: number;
}

/** One answer with its record in the ledger. */
interface Answer extends CallReply {
  record: RequestView;
}

interface Compared {
  target: string;
  answers: Answer[];
}

export const compareExamples: Examples = {
  compare: [
    'sluice compare req_0123456789abcdef0123456789abcdef --at openai/gpt-5-mini --at groq/openai/gpt-oss-120b --times 5',
    'sluice compare req_0123456789abcdef0123456789abcdef --at openai/gpt-5-mini --json',
  ],
};

export function addCompareVerb(program: Command, { on }: Verbs): void {
  const compare = program
    .command('compare')
    .argument('<id>', 'a captured request, as in its x-sluice-request-id')
    .description('send a captured request to several targets, and compare times and cost')
    .requiredOption('--at <provider/model>', `a target; may be repeated, up to ${maxTargets} times`, collectTarget)
    .option('--times <number>', `how often each target is asked, up to ${maxTimes} times`, parseTimes, 1);
  on<CompareOptions>(compare, async ({ control, output }, [id = ''], { at = [], times }) => {
    const { origin } = control;
    if (origin === null) throw new CliError('Sluice is not running. Start it with "sluice serve".');
    const original = await findSent(control, id);
    const calls = at.map((target) => ({ target, ...callFor(original, target) }));
    const progress = output.progress();
    let answers = 0;
    const compared = await withKey(control, original.request.groupId, (secret) =>
      askAll(calls, times, async (call) => {
        const answer = await ask(control, { ...call, origin, secret });
        answers += 1;
        progress.at(`${answers} of ${calls.length * times} answers`);
        return answer;
      }),
    );
    progress.end();
    output.show(compared, table(columns, compared.map(row), ''));
    for (const { target, answers } of compared) {
      const failed = answers.find(({ status }) => status >= 400);
      if (failed) output.note(`${target} answered ${failed.status}: ${failed.body.slice(0, 500)}`);
    }
  });
}

async function findSent(control: Control, id: string): Promise<KeptRequest> {
  const original = sentRequestOf(await control.query({ type: 'request', id }));
  if (original.kind === 'kept') return original;
  throw new CliError(
    `Request ${id} was not kept in full (${original.why}). Turn capture on: "sluice capture on --for 10m".`,
  );
}

function callFor({ method, path, headers, body }: KeptRequest, target: string): Omit<Call, 'origin' | 'secret'> {
  const call = withModel({ path, body }, target);
  if (!call) throw new CliError('The request names no model, so it cannot be sent to another one.');
  return { method, headers, ...call };
}

const tenMinutesMs = 600_000;

/** Runs `action` with a new key that is revoked afterwards. If this process is killed, the key expires by itself. */
async function withKey<Result>(
  control: Control,
  group: string | null,
  action: (secret: string) => Promise<Result>,
): Promise<Result> {
  const { key, secret } = await control.execute({
    type: 'key.create',
    name: 'compare',
    ...(group !== null && { group }),
    expiresAt: new Date(Date.now() + 6 * tenMinutesMs).toISOString(),
    keepSecret: false,
  });
  try {
    return await action(secret);
  } finally {
    await control.execute({ type: 'key.revoke', id: key.id });
  }
}

/** Asks all targets in parallel; the calls to each target run one after the other. */
function askAll<Each extends { target: string }>(
  calls: readonly Each[],
  times: number,
  askOne: (call: Each) => Promise<Answer>,
): Promise<Compared[]> {
  return Promise.all(
    calls.map(async (call) => {
      const answers: Answer[] = [];
      while (answers.length < times) answers.push(await askOne(call));
      return { target: call.target, answers };
    }),
  );
}

async function ask(control: Control, call: Call): Promise<Answer> {
  const replied = await sendCall({ ...call, headers: { ...call.headers, 'x-sluice-cache': 'skip' } });
  for (let tries = 0; tries < 50; tries++) {
    const { request: record } = await control.query({ type: 'request', id: replied.requestId });
    if (record.outcome !== null) return { ...replied, record };
    await sleep(100);
  }
  throw new CliError(`The ledger does not tell how request ${replied.requestId} ended.`);
}

const columns = ['target', 'answered', ...['first byte ms', 'total ms', 'output tokens', 'cost $'].map(number)];

function row({ target, answers }: Compared): string[] {
  const good = answers.filter(({ status }) => status < 400).map(({ record }) => record);
  return [
    target,
    `${good.length} of ${answers.length}`,
    describeSpread(good.map(({ firstByteMs }) => firstByteMs)),
    describeSpread(good.map(({ totalMs }) => totalMs)),
    describeSpread(good.map(({ usage }) => usage?.outputTokens)),
    describeSpread(
      good.map(({ costUsd }) => costUsd),
      6,
    ),
  ];
}

/** The median, and the range in parentheses: `412 (390-655)`; `-` if no value is known. */
export function describeSpread(values: readonly (number | null | undefined)[], decimals = 0): string {
  const spread = spreadOf(values);
  if (!spread) return '-';
  const [median, least, most] = [spread.median, spread.least, spread.most].map((value) =>
    Number(value.toFixed(decimals)),
  );
  return least === most ? String(median) : `${median} (${least}-${most})`;
}

function collectTarget(text: string, before: string[] = []): string[] {
  if (!/^[^/]+\/.+$/.test(text)) throw new InvalidArgumentError('Use provider/model, such as openai/gpt-5-mini.');
  if (before.length === maxTargets) throw new InvalidArgumentError(`Name at most ${maxTargets} targets.`);
  return [...before, text];
}

function parseTimes(text: string): number {
  const times = Number(text);
  if (Number.isInteger(times) && times >= 1 && times <= maxTimes) return times;
  throw new InvalidArgumentError(`Use a number from 1 to ${maxTimes}.`);
}

interface Call {
  /** The origin at which the running Sluice listens. */
  origin: string;
  secret: string;
  method: string;
  /** Includes the query: `/v1/chat/completions`. */
  path: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

interface CallReply {
  requestId: string;
  status: number;
  body: string;
}

/** Rejects if the running Sluice cannot be reached or breaks off the connection. */
function sendCall({ origin, secret, method, path, headers, body }: Call): Promise<CallReply> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${origin}${path}`,
      { method, headers: { ...headers, authorization: `Bearer ${secret}` }, agent: false },
      (response) => {
        const requestId = String(response.headers['x-sluice-request-id'] ?? '');
        const status = response.statusCode ?? 0;
        text(response).then((body) => resolve({ requestId, status, body }), reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
