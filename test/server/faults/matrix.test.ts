/**
 * Fault × route × stream: the primary plays the fault, and the fallback is healthy. The results at the caller and at
 * the upstreams are compared with the failure table (`docs/responses.md`, "Failures").
 *
 * @suite long
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as plays from '../../support/fault-plays.ts';
import { healthy, isHonestFailure, isWhole, type Play, refusesBeforeWork } from '../../support/fault-upstream.ts';
import { calls, isPurchase, type OpenAiCall } from '../../support/openai-calls.ts';
import { type Cell, CellRun, expectErrorShape, isSlow, limits, refuses } from './cells.ts';

/**
 * The expected outcome of each fault, by the classes of the failure table, with a policy of two retries and one
 * fallback, and with a healthy fallback. The owner of a job cannot be replaced; then the caller gets one error.
 */

type Range = readonly [least: number, most: number];

interface Expected {
  /** A status means an error in OpenAI's format. `whole or broken` means never a clean end of an incomplete answer. */
  caller: 'whole' | 'broken' | 'whole or broken' | readonly number[];
  /** The number of attempts at the primary. */
  asked: Range;
  fallbackAsked: Range;
}

interface FaultCase {
  name: string;
  plays: Cell['primary'];
  /** null if the call cannot show the fault. */
  expect(call: OpenAiCall): Expected | null;
}

const none: Range = [0, 0];
const once: Range = [1, 1];
/** The first attempt and the two retries; at least one of the retries. */
const retried: Range = [2, 3];

const isTextStream = ({ kind, path }: OpenAiCall) =>
  kind === 'stream' && ['/chat/completions', '/completions', '/responses'].includes(path);

/** The caller's own mistake, or the upstream's final answer. It is passed on without a retry or a fallback. */
const relayed = (status: number) => (): Expected => ({ caller: [status], asked: once, fallbackAsked: none });

/** Retried, then sent to the next target. */
const transient =
  (...statuses: number[]) =>
  ({ isPinned }: OpenAiCall): Expected =>
    isPinned
      ? { caller: statuses, asked: retried, fallbackAsked: none }
      : { caller: 'whole', asked: retried, fallbackAsked: once };

/** Not retried in this request, but sent to the next target at once. */
const nextTarget =
  (...statuses: number[]) =>
  ({ isPinned }: OpenAiCall): Expected =>
    isPinned
      ? { caller: statuses, asked: once, fallbackAsked: none }
      : { caller: 'whole', asked: once, fallbackAsked: once };

const fromPrimary = (): Expected => ({ caller: 'whole', asked: once, fallbackAsked: none });

/**
 * Breaks in the middle. A JSON answer has not been sent yet. A text stream is rescued by the next target. For sound,
 * pictures and films, the caller has the beginning and sees the break.
 */
const inTheMiddle =
  (unsent: (call: OpenAiCall) => Expected) =>
  (call: OpenAiCall): Expected => {
    if (call.kind === 'json') return unsent(call);
    if (isTextStream(call)) return { caller: 'whole', asked: once, fallbackAsked: once };
    return { caller: 'whole or broken', asked: [1, 3], fallbackAsked: call.isPinned ? none : [0, 1] };
  };

const onlyStreams = (expect: (call: OpenAiCall) => Expected) => (call: OpenAiCall) =>
  call.kind === 'stream' ? expect(call) : null;
const onlyTextStreams = (expect: (call: OpenAiCall) => Expected) => (call: OpenAiCall) =>
  isTextStream(call) ? expect(call) : null;
const onlyJson = (expect: (call: OpenAiCall) => Expected) => (call: OpenAiCall) =>
  call.kind === 'json' ? expect(call) : null;

const { firstByteMs, idleMs } = limits;
const unreachable = transient(502);
const silent = nextTarget(504);

const one = (play: Play, expect: FaultCase['expect']): FaultCase => ({ name: play.name, plays: [play], expect });

const slow = (play: Play, expect: FaultCase['expect']): FaultCase => one({ ...play, isSlow: true }, expect);

const farAway = new Date('2099-01-01T00:00:00Z').toUTCString();

const all: readonly FaultCase[] = [
  { name: refuses, plays: refuses, expect: (call) => (call.isPinned ? null : unreachable(call)) },
  one(plays.resetBeforeHeaders, unreachable),
  one(plays.resetAfterHeaders, unreachable),
  one(plays.hangUp, unreachable),
  one(plays.notHttp, transient(502)),
  slow(plays.silence, silent),
  slow(plays.headersThenSilence, silent),
  one(plays.slowFirstByte(firstByteMs / 10), fromPrimary),
  slow(plays.slowFirstByte(firstByteMs * 2), silent),
  one(plays.drip(6, idleMs / 12), fromPrimary),

  slow(plays.stallAt({ share: 0.5 }), inTheMiddle(silent)),
  one(plays.cutAt({ share: 0.5 }), inTheMiddle(unreachable)),
  one(plays.cutAt({ bytes: 1 }), (call) =>
    call.kind === 'binary' ? inTheMiddle(unreachable)(call) : unreachable(call),
  ),
  // In a chat stream, only `[DONE]` is cut off, so nothing is missing.
  one(plays.cutAt({ bytes: -8 }), (call) => ({
    ...inTheMiddle(unreachable)(call),
    ...(isTextStream(call) && { fallbackAsked: [0, 1] }),
  })),
  // The first event of these streams contains no content yet.
  one(plays.cutAt({ events: 1 }), (call) =>
    isTextStream(call) && call.path !== '/completions' ? unreachable(call) : null,
  ),
  one(plays.cutAt({ events: 3 }), onlyStreams(inTheMiddle(unreachable))),
  one(plays.endAt({ share: 0.5 }), (call) => (call.kind === 'binary' ? null : inTheMiddle(unreachable)(call))),
  one(plays.tooLongLength, (call) => (call.kind === 'stream' ? null : inTheMiddle(unreachable)(call))),
  one(plays.tooShortLength, onlyJson(unreachable)),

  one(plays.malformedEvent, onlyStreams(inAnEarlyEvent)),
  one(
    plays.missingTerminator,
    onlyStreams(({ path }) => inTheEnd(path)),
  ),
  one(plays.neverCloses, onlyStreams(fromPrimary)),
  one(plays.neverEnds, (call) => (call.kind === 'stream' && call.path.endsWith('completions') ? fromPrimary() : null)),
  ...[
    ': ping\n\n',
    'data: {"choices":[]}\n\n',
    '\n\ndata: {"choices":[{"index":0,"delta":{"content":""}}]}\n\n',
    'a',
  ].map((piece) =>
    slow(
      plays.goesOnWith(`goes on with ${JSON.stringify(piece)}`, { events: 5 }, piece, idleMs / 12),
      onlyTextStreams(inTheMiddle(silent)),
    ),
  ),
  slow(plays.goesOnWith('goes on a few bytes at a time', { share: 0.5 }, 'aaaa', idleMs / 12), onlyJson(silent)),
  one(plays.errorInBody, onlyJson(unreachable503)),
  one(plays.errorInFirstEvent, onlyStreams(transient())),

  one(plays.rateLimit({}, '429 without Retry-After'), (call) => ({ ...transient(429)(call), asked: [1, 3] })),
  one(plays.rateLimit({ 'retry-after': '3600' }, '429, Retry-After: an hour'), nextTarget(429)),
  one(plays.rateLimit({ 'retry-after': farAway }, '429, Retry-After: a date far away'), nextTarget(429)),
  one(plays.rateLimit({ 'retry-after-ms': '50' }, '429, retry-after-ms: 50'), transient(429)),
  one(plays.googleRateLimit('3600s'), nextTarget(429)),
  one(plays.googleRateLimit('0.05s'), transient(429)),
  one(plays.status(429, { type: 'insufficient_quota', code: 'insufficient_quota' }), nextTarget(429)),
  // The provider's own account failed. The caller is not blamed, because its key is valid.
  one(plays.status(401, { code: 'invalid_api_key' }), nextTarget(502)),
  one(plays.status(402), nextTarget(502)),
  one(plays.status(403), nextTarget(502)),
  // For a job, 404 means that there is no job with that id.
  one(plays.status(404, { code: 'model_not_found' }), nextTarget(404)),
  one(plays.status(408), transient(408)),
  one(plays.status(409), (call) => ({ ...transient(409)(call), asked: [1, 3] })),
  one(plays.status(413), relayed(413)),
  // The answer comes from a proxy in front of the service. If no other target can be called, it is passed on unchanged.
  one(plays.status(413, { body: '<html>413</html>', name: '413 that is no error of the API' }), (call) =>
    call.isPinned ? null : nextTarget(413)(call),
  ),
  one(plays.status(400, { code: 'context_length_exceeded' }), relayed(400)),
  one(plays.status(400, { code: 'content_policy_violation' }), relayed(400)),
  one(plays.status(400, { code: 'invalid_value' }), relayed(400)),
  one(plays.status(422), relayed(422)),
  one(plays.status(500), transient(500)),
  one(plays.status(502), transient(502)),
  one(plays.status(503), transient(503)),
  one(plays.status(504), (call) => ({ ...transient(504)(call), asked: [1, 3] })),
  one(plays.status(529), transient(529, 503)),

  one(plays.htmlPage, badAnswer),
  one(plays.damagedGzip, badAnswer),
  one(plays.emptyBody, badAnswer),
  one(plays.bareStatus(204), badAnswer),
  one(plays.bareStatus(205), badAnswer),
  one(plays.bareStatus(300), badAnswer),
  one(plays.jsonNull, badAnswer),
  slow(plays.blanks(idleMs / 12), (call) => (call.kind === 'binary' ? null : silent(call))),
  one(plays.redirectLoop, nextTarget(502)),
  one(plays.endlessLine, onlyStreams(badAnswer)),
  // Comments alone are not content. Endless sound and films are cut off at the total timeout.
  slow(plays.endless, (call) => {
    if (call.kind === 'stream') return silent(call);
    return call.kind === 'json' ? null : endlessAnswer(call);
  }),
  one(plays.endless, onlyJson(nextTarget(502))),
  one(plays.endlessAfterWhole, onlyJson(nextTarget(502))),
  one(plays.streamForPlain, onlyJson(badAnswer)),
  one(plays.typed('text/plain'), anyType),
  one(plays.typed('application/octet-stream'), anyType),
  one(plays.typed(null), anyType),
  one(plays.encoded('x-gzip'), onlyJson(badAnswer)),
  one(plays.encoded('GZIP'), onlyJson(badAnswer)),
  one(plays.encoded('zstd'), onlyJson(badAnswer)),
  one(plays.encoded('zstd'), onlyStreams(badAnswer)),
];

const faultCases: readonly FaultCase[] = all.map((fault) => ({
  ...fault,
  expect: (call) => ofPurchase(call, fault, fault.expect(call)),
}));

/** What may have been made and paid for is asked for once, and of one target. */
function ofPurchase(call: OpenAiCall, { name }: FaultCase, expected: Expected | null): Expected | null {
  const isAnswer = expected?.caller === 'whole' && expected.asked === once && expected.fallbackAsked === none;
  if (!expected || isAnswer || !isPurchase(call) || refusesBeforeWork(name)) return expected;
  return { caller: call.kind === 'json' ? [502] : 'whole or broken', asked: once, fallbackAsked: none };
}

/** JSON and events are recognized by their beginning; text is not sound or film. */
function anyType(call: OpenAiCall): Expected | null {
  if (call.path !== '/audio/speech' && call.kind !== 'binary') return fromPrimary();
  return call.isPinned ? null : { ...badAnswer(call), asked: [1, 3], fallbackAsked: [0, 1] };
}

/** A 200 that is not an answer of the API. Whether a retry helps cannot be known. */
function badAnswer(call: OpenAiCall): Expected {
  return { ...transient(502)(call), asked: [1, 3] };
}

function unreachable503(call: OpenAiCall): Expected {
  return transient(500, 502, 503)(call);
}

/** The damaged event may have been one with content, or one before the first content. */
function inAnEarlyEvent(call: OpenAiCall): Expected {
  if (isTextStream(call)) return { caller: 'whole', asked: [1, 3], fallbackAsked: [0, 1] };
  return { caller: 'whole or broken', asked: [1, 3], fallbackAsked: [0, 1] };
}

/** A chat stream has ended with its finish reason. In other streams, the terminal event is part of the answer. */
function inTheEnd(path: string): Expected {
  if (path.endsWith('completions')) return fromPrimary();
  if (path === '/responses') return { caller: 'whole', asked: once, fallbackAsked: once };
  return { caller: 'whole or broken', asked: [1, 3], fallbackAsked: [0, 1] };
}

function endlessAnswer({ isPinned }: OpenAiCall): Expected {
  return { caller: isPinned ? 'broken' : 'whole or broken', asked: [1, 3], fallbackAsked: isPinned ? none : [0, 1] };
}

interface NamedCell extends Cell {
  index: number;
  fault: string;
  expected: Expected;
}

const cells = faultCases.flatMap((fault) =>
  calls.flatMap((call: OpenAiCall): Omit<NamedCell, 'index'>[] => {
    const expected = fault.expect(call);
    if (!expected) return [];
    return [{ call, fault: fault.name, primary: fault.plays, fallback: [healthy], expected }];
  }),
);
const numbered = cells.map((cell, index): NamedCell => ({ ...cell, index }));

let run: CellRun;
beforeAll(async () => {
  run = await CellRun.start(numbered);
});
afterAll(() => run.stop());

describe.each([...new Set(cells.map(({ fault }) => fault))])('%s', (fault) => {
  const ofFault = numbered.filter((cell) => cell.fault === fault);
  test.each(ofFault.map((cell) => [cell.call.name, cell] as const))('%s', async (_name, cell) => {
    const { call, expected, index } = cell;
    const observed = await run.observed(index);
    const { status, body, isBroken, primary, fallback, row } = observed;
    const asked = (provider: string) => row.attempts.filter((attempt) => attempt.provider === provider).length;
    const where = JSON.stringify({
      status,
      isBroken,
      body: body.toString('latin1', 0, 400),
      primary: primary.map(({ played, state }) => `${played}: ${state}`),
      fallback: fallback.map(({ state }) => state),
      attempts: row.attempts.map(({ provider, cause, failure, error }) => [provider, cause, failure, error]),
    });
    // A redirect of content is followed within one attempt, for a few steps.
    const steps = call.path.endsWith('/content') ? 10 : 1;
    // The timeout may have passed before the upstream has read the request.
    const least = isSlow(cell.primary) ? 0 : asked(`p${index}`);
    if (cell.primary !== refuses) expectWithin(primary.length, [least, steps * asked(`p${index}`)], where);
    expectWithin(asked(`p${index}`), expected.asked, where);
    expectWithin(fallback.length, expected.fallbackAsked, where);
    switch (expected.caller) {
      case 'whole':
        expect(isWhole(call, observed), where).toBe(true);
        break;
      case 'whole or broken':
        expect(isWhole(call, observed) || isHonestFailure(call, observed), where).toBe(true);
        break;
      case 'broken':
        expect(isHonestFailure(call, observed), where).toBe(true);
        break;
      default:
        expect(expected.caller, where).toContain(status);
        // An error in the format of another API is passed on unchanged.
        if (!fault.includes('Google')) expectErrorShape(observed, where);
    }
  });
});

function expectWithin(value: number, [least, most]: readonly [number, number], where: string): void {
  expect(value, where).toBeGreaterThanOrEqual(least);
  expect(value, where).toBeLessThanOrEqual(most);
}
