/**
 * The primary breaks at every possible byte of its answer. The caller still receives all of it, from the fallback or
 * combined from both.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as plays from '../../support/fault-plays.ts';
import { healthy, isHonestFailure, isWhole } from '../../support/fault-upstream.ts';
import { isPurchase } from '../../support/openai-calls.ts';
import { every } from '../../support/sweep.ts';
import { CellRun, callNamed } from './cells.ts';

const whole = ['chat/completions', 'chat/completions (stream)', 'completions (stream)', 'responses (stream)'].map(
  callNamed,
);
/**
 * Part of the answer has been sent and no other target can continue it, or what it tells of may have been paid for, so the caller
 * must get an error.
 */
const told = ['images/edits', 'images/generations (stream)', 'audio/speech', 'audio/transcriptions (stream)'].map(
  callNamed,
);
const breaks = [plays.cutAt, plays.endAt];
/** A prime, so that the positions fall differently in each event. */
const stepBytes = 53;

const cells = [...whole, ...told].flatMap((call) =>
  breaks.flatMap((breakAt) => {
    const { length } = call.answer.bytes;
    const step = Math.max(stepBytes, Math.floor(length / 60));
    const places = every(
      4,
      Array.from({ length: Math.ceil(length / step) }, (_, index) => index * step),
    );
    const list = call.kind === 'binary' && breakAt === plays.endAt ? [] : [...places, length - 1];
    return list.map((bytes) => ({
      call,
      breakAt,
      bytes,
      primary: [breakAt({ bytes })] as const,
      fallback: [healthy] as const,
    }));
  }),
);
const numbered = cells.map((cell, index) => ({ ...cell, index }));

let run: CellRun;
beforeAll(async () => {
  run = await CellRun.start(numbered);
});
afterAll(() => run.stop());

describe.each([...whole, ...told])('$name', (call) => {
  test.each([
    ['the connection breaks', plays.cutAt],
    ['the answer just ends', plays.endAt],
  ])('where %s', async (_how, breakAt) => {
    for (const cell of numbered.filter((each) => each.call === call && each.breakAt === breakAt)) {
      const observed = await run.observed(cell.index);
      const where = `at byte ${cell.bytes}: ${observed.status} ${observed.body.toString('latin1', 0, 2_000)}`;
      const isRight = isWhole(call, observed) || (told.includes(call) && isHonestFailure(call, observed));
      expect(isRight, where).toBe(true);
      const asked = observed.primary.length + observed.fallback.length;
      expect(asked, where).toBeLessThanOrEqual(isPurchase(call) ? 1 : 4);
    }
  });
});
