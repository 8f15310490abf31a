/**
 * Fault × route × stream: the primary plays the fault, and the fallback is healthy. The results at the caller and at
 * the upstreams are compared with the failure table (`docs/responses.md`, "Failures").
 *
 * @suite long
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { healthy } from '../../support/fault-upstream.ts';
import { isHonestFailure, isWhole } from '../../support/judge-answer.ts';
import { calls, type OpenAiCall } from '../../support/openai-calls.ts';
import { type Cell, CellRun, isSlow, refuses } from './cells.ts';
import { expectErrorShape } from './expect-error-shape.ts';
import { type Expected, faultCases } from './fault-cases.ts';

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
