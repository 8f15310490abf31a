/** Runs a client program once for each fault that it should handle, and reports the results. */

import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { isObject } from '../contract/is-object.ts';
import type { RequestView } from '../contract/request-views.ts';
import { counted } from '../contract/units.ts';
import { readEnvironment } from '../engine/environment.ts';
import type { ListeningControl } from './control.ts';
import { openListening } from './open-control.ts';
import { createOutput, type Output } from './output.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { startProgram } from './run-program.ts';
import { followed, number, type Shown, styled } from './shown.ts';
import type { Terminal } from './terminal.ts';

export interface JudgeOptions {
  model: string;
  timeout: number;
  only?: string;
  json?: boolean;
  show?: boolean;
}

interface JudgeRun {
  line: readonly string[];
  options: JudgeOptions;
  terminal: Terminal;
  control: ListeningControl;
  dataDir: string;
}

/** The exit code is 1 if the program hung, or ended with 0 without a whole answer. */
export async function judge(line: readonly string[], options: JudgeOptions, terminal: Terminal): Promise<void> {
  const output = createOutput(terminal, options.json ?? false);
  const cases = chosenCases(options.only);
  const upstream = await startJudgeUpstream();
  const dataDir = await mkdtemp(join(tmpdir(), 'sluice-judge-'));
  try {
    const control = await openJudged(dataDir, terminal, output);
    try {
      const provider = { baseUrl: upstream.baseUrl, models: [options.model, '*'], serves: ['chat' as const] };
      await control.execute({ type: 'provider.add', id: 'judge', provider });
      const judgements = await judgeAll(cases, { line, options, terminal, control, dataDir }, output);
      output.show(judgements, `\n${judgeSummary(judgements)}`);
      const isBad = ({ result }: Judgement) => result === 'hung' || result === 'not noticed';
      if (judgements.some(isBad)) process.exitCode = exitCodes.failure;
    } finally {
      await control.close();
    }
  } finally {
    upstream.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

function openJudged(dataDir: string, terminal: Terminal, output: Output): Promise<ListeningControl> {
  const env = { ...terminal.env, SLUICE_SECRETS: 'file' };
  return openListening(dataDir, {
    // The database of a team must not get the judge's provider.
    environment: { ...readEnvironment(env), dataDir, store: undefined },
    env,
    notice: output.note,
    teamPresets: terminal.teamPresets,
    windowFolders: [],
  });
}

/** The cases whose names contain the text; undefined selects all. */
function chosenCases(only: string | undefined): readonly JudgeCase[] {
  const cases = judgeCases.filter(({ name }) => only === undefined || name.includes(only));
  if (cases.length > 0) return cases;
  const names = judgeCases.map(({ name }) => name).join('; ');
  throw new CliError(`No fault has "${only}" in its name. There are: ${names}.`, exitCodes.usage);
}

/** Prints a line for each run as soon as it has ended. */
async function judgeAll(cases: readonly JudgeCase[], run: JudgeRun, output: Output): Promise<Judgement[]> {
  const tell = (shown: Shown) => (output.isJson ? output.note(shown) : output.show(null, shown));
  const withoutFault = await judgeOne(noFault, run);
  if (withoutFault.result !== 'ok') throw new CliError(cannotJudge(withoutFault, run.options.timeout));
  tell(judgeHead());
  tell(judgeLine(withoutFault));
  const judgements: Judgement[] = [];
  for (const each of cases) {
    const judgement = await judgeOne(each, run);
    judgements.push(judgement);
    tell(judgeLine(judgement));
  }
  return judgements;
}

function cannotJudge({ result, exitCode, requests }: Judgement, timeoutSeconds: number): string {
  const end = result === 'hung' ? `did not end within ${timeoutSeconds} s` : `ended with ${exitCode}`;
  const hint =
    requests === 0
      ? 'Does it use the base URL and the key of its environment, such as OPENAI_BASE_URL and OPENAI_API_KEY?'
      : '"--show" shows what it prints.';
  return `Without any fault the program ${end} after ${counted(requests, 'request')}, so it cannot be judged. ${hint}`;
}

/** The exit code after Ctrl+C, which reaches the program and not this process. */
const interrupted = 130;

async function judgeOne(judgeCase: JudgeCase, run: JudgeRun): Promise<Judgement> {
  const { name, rules } = judgeCase;
  const { control, line, options, terminal, dataDir } = run;
  const { key, secret } = await control.execute({ type: 'key.create', keepSecret: false });
  if (rules.length > 0) await control.execute({ type: 'faults.start', key: key.id, rules: [...rules], seed: 1 });
  const startMs = performance.now();
  const timeoutMs = options.timeout * 1000;
  const exitCode = await startProgram(line, {
    origin: control.origin,
    key: { id: key.id, secret },
    model: options.model,
    control,
    dataDir,
    env: terminal.env,
    quiet: !options.show,
    timeoutMs,
  });
  if (exitCode === interrupted) throw new CliError('The program was interrupted.', interrupted);
  const tookMs = performance.now() - startMs;
  const { requests } = await control.query({ type: 'requests', filter: { keyId: key.id }, limit: 1000 });
  const modelRequests = requests.filter(({ capability }) => capability !== null);
  const answered = modelRequests.some(wasAnswered);
  const wasKilled = tookMs >= timeoutMs;
  return {
    fault: name,
    rules,
    result: resultOf(judgeCase, {
      exitCode,
      wasKilled,
      answered,
      pauseMs: pauseAfterFirst(modelRequests.toReversed()),
    }),
    exitCode,
    requests: modelRequests.length,
    answered,
    seconds: Math.round(tookMs / 100) / 10,
  };
}

/** Pause between the first and the second request; null if there was only one. */
function pauseAfterFirst([first, second]: readonly RequestView[]): number | null {
  return first && second ? second.startedAt - first.startedAt - (first.totalMs ?? 0) : null;
}

/** How the program handled one fault. */
export interface Judgement {
  fault: string;
  rules: readonly string[];
  result: Result;
  exitCode: number;
  requests: number;
  /** Whether it received a whole answer. */
  answered: boolean;
  seconds: number;
}

// The cases of `sluice faults judge`: the faults that are injected for a client program one after the other, and how it
// should react.

/**
 * `answer`: another request is answered. `error`: none is. `either`: the answer is complete, but the program may reject
 * it.
 */
type Expected = 'answer' | 'error' | 'either';

interface JudgeCase {
  name: string;
  rules: readonly string[];
  expects: Expected;
  /** The wait that the first response asks for. */
  retryAfterSeconds?: number;
}

const failsOnce = (name: string, ...rules: string[]): JudgeCase => ({ name, rules, expects: 'answer' });
const lasting = (name: string, rule: string): JudgeCase => ({ name, rules: [rule], expects: 'error' });

/** A program that fails in this case cannot be judged. */
const noFault = failsOnce('no fault');

export const judgeCases: readonly JudgeCase[] = [
  { ...failsOnce('rate limit, wait told', 'rate-limit;retry-after=1;first=1'), retryAfterSeconds: 1 },
  failsOnce('rate limit, no wait told', 'rate-limit;first=1'),
  lasting('rate limit for good', 'rate-limit'),
  lasting('quota spent', 'quota'),
  failsOnce('overloaded once', 'overloaded;first=1'),
  failsOnce('outage once', 'status;code=503;first=1'),
  lasting('outage for good', 'status;code=503'),
  failsOnce('flapping', 'status;code=503;nth=1', 'reset;nth=2', 'rate-limit;retry-after=1;nth=4'),
  failsOnce('connection reset once', 'reset;first=1'),
  failsOnce('silence once', 'silence;seconds=10;first=1'),
  failsOnce('late first token', 'late-event;ms=5000;first=1'),
  failsOnce('cut answer once', 'cut;after=3;first=1'),
  failsOnce('stalled answer once', 'stall;after=3;seconds=10;first=1'),
  failsOnce('damaged event once', 'malformed-event;after=2;first=1'),
  failsOnce('missing end once', 'missing-end;first=1'),
  failsOnce('error in a stream once', 'error-event;after=2;first=1'),
  failsOnce('HTML page once', 'html;first=1'),
  lasting('context overflow', 'context-overflow'),
  { name: 'filtered content', rules: ['filtered'], expects: 'either' },
];

/** Faults despite which the client still receives its answer. */
const harmless = new Set(['late-head', 'late-event', 'pace', 'huge-event', 'usage', 'wrong-type', 'filtered']);

type Asked = Pick<RequestView, 'outcome' | 'fault' | 'stream'>;

/** Whether the client received a whole answer to this request. */
export function wasAnswered({ outcome, fault, stream }: Asked): boolean {
  if (outcome !== 'ok') return false;
  // In streams, the complete event follows the damaged one.
  const isHarmless = (name: string) => harmless.has(name) || (stream && name === 'malformed-event');
  return fault === null || fault.split(', ').every(isHarmless);
}

export interface JudgedRun {
  exitCode: number;
  /** Whether it was killed because its time was over. */
  wasKilled: boolean;
  /** Whether it received a whole answer. */
  answered: boolean;
  /** Time from its first answer to its second request; null if it made only one. */
  pauseMs: number | null;
}

/**
 * `ok`: it got its answer, or ended with an error where there was none to get. `gave up`: it ended with an error
 * although another request would have been answered. `not noticed`: it ended with 0 without a whole answer. `too
 * early`: it got its answer, but retried before the requested wait was over. `hung`: it had to be killed.
 */
export type Result = 'ok' | 'gave up' | 'not noticed' | 'too early' | 'hung';

/** Clocks and programs round durations. */
const tolerance = 0.9;

export function resultOf({ expects, retryAfterSeconds }: JudgeCase, run: JudgedRun): Result {
  const { exitCode, wasKilled, answered, pauseMs } = run;
  if (wasKilled) return 'hung';
  if (exitCode !== 0) return expects === 'answer' ? 'gave up' : 'ok';
  if (!answered) return 'not noticed';
  const isEarly = retryAfterSeconds !== undefined && pauseMs !== null && pauseMs < retryAfterSeconds * 1000 * tolerance;
  return isEarly ? 'too early' : 'ok';
}

// What is printed.

/** The meaning of each result, as the beginning of a list of faults. */
const meanings: Readonly<Record<Exclude<Result, 'ok'>, string>> = {
  'gave up': 'Gave up, although another request would have been answered',
  'not noticed': 'Not noticed: ended with 0 without a whole answer',
  'too early': 'Too early: asked again before the wait that it was told',
  hung: 'Hung, and was killed',
};

const columns = ['fault', 'result', number('exit code'), number('requests'), number('seconds')];
const results = ['ok', ...Object.keys(meanings)];

/** Computed before the first run, so that each line can be printed as soon as its run has ended. */
const usual = [longest([noFault, ...judgeCases].map(({ name }) => name)), longest(results)];

const judgeHead = (): Shown => followed(columns, [], { usual, hasHead: true });

/** Formats the output of `sluice faults judge`. */
function judgeLine({ fault, result, exitCode, requests, seconds }: Judgement): Shown {
  const shownResult = styled(result === 'ok' ? 'good' : 'bad', result);
  const cells = [fault, shownResult, String(exitCode), String(requests), seconds.toFixed(1)];
  return followed(columns, [cells], { usual, hasHead: false });
}

function longest(texts: readonly string[]): string {
  return texts.reduce((best, each) => (each.length > best.length ? each : best), '');
}

/** How many faults the program handled, and what it did with the others. */
function judgeSummary(judgements: readonly Judgement[]): string {
  const passed = judgements.filter(({ result }) => result === 'ok').length;
  const others = Object.entries(meanings).flatMap(([result, meaning]) => {
    const names = judgements.filter((each) => each.result === result).map(({ fault }) => fault);
    return names.length === 0 ? [] : [`${meaning}: ${names.join('; ')}.`];
  });
  return [`The program coped with ${passed} of ${judgements.length} faults.`, ...others].join('\n');
}

// A tiny provider of chat completions on this machine: every request gets the same answer, as a stream or whole.

interface JudgeUpstream {
  /** Includes `/v1`. */
  baseUrl: string;
  close(): void;
}

const words = ['This ', 'is ', 'the ', 'answer ', 'of ', 'the ', 'built-in ', 'provider.'];
const usage = { prompt_tokens: 10, completion_tokens: words.length, total_tokens: 10 + words.length };

async function startJudgeUpstream(): Promise<JudgeUpstream> {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the built-in provider has no address');
  return {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body: unknown = await json(request);
  const { model = 'judge', stream } = isObject(body) ? body : {};
  const head = { id: 'chatcmpl-judge', created: 0, model };
  if (stream !== true) {
    const message = { role: 'assistant', content: words.join('') };
    const whole = {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage,
    };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole));
    return;
  }
  const event = (value: object) =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...value })}\n\n`;
  const chunk = (delta: object, finish: string | null = null) =>
    event({ choices: [{ index: 0, delta, finish_reason: finish }] });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const events = [chunk({ role: 'assistant', content: '' }), ...words.map((content) => chunk({ content }))];
  response.end([...events, chunk({}, 'stop'), event({ choices: [], usage }), 'data: [DONE]\n\n'].join(''));
}
