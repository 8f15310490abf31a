import { describe, expect, it } from 'vitest';
import { apiOfUrl } from '../../../../../renderer/state/chat/read-sent.ts';
import { lanesOf, longestGapOf, phasesOf, ticksOf } from '../../../../../renderer/views/requests/facts/timeline.ts';
import type { RequestView } from '../../../../../server/contract/request-views.ts';
import { attemptRecord } from '../../../../support/stand-ins.ts';
import { finished } from '../../../events.ts';

const attempt = attemptRecord({ credential: null, startedAt: 1_001, connectMs: 4, firstByteMs: 50, totalMs: 90 });

function view(more: Partial<RequestView> = {}): RequestView {
  return { ...finished('r1'), seq: 1, startedAt: 1_000, ...more };
}

it.each([0.001, 3, 99, 100, 101, 850, 1_000, 59_999, 3_600_000])(
  'the axis of %d ms has few round moments',
  (wholeMs) => {
    const ticks = ticksOf(wholeMs);
    expect(ticks[0]).toBe(0);
    expect(ticks.length).toBeGreaterThanOrEqual(2);
    expect(ticks.length).toBeLessThanOrEqual(6);
    expect(Math.max(...ticks)).toBeLessThanOrEqual(wholeMs * 1.000_001);
    const [, step = 0] = ticks;
    expect(String(step / 10 ** Math.floor(Math.log10(step)))).toMatch(/^[125](?:\.0000|$)/);
  },
);

describe('the timeline of a request', () => {
  it('has the queue, the connection, the wait and the transfer one after the other', () => {
    expect(phasesOf(view({ queueMs: 1, totalMs: 91, attempts: [attempt] }))).toEqual([
      { name: 'queue', attempt: null, fromMs: 0, toMs: 1 },
      { name: 'connect', attempt: null, fromMs: 1, toMs: 5 },
      { name: 'wait', attempt: null, fromMs: 5, toMs: 51 },
      { name: 'transfer', attempt: null, fromMs: 51, toMs: 91 },
    ]);
  });

  it('has the first content where a stream told it, and the longest of the gaps', () => {
    const streamed = { ...attempt, firstContentMs: 70, longestGapMs: 12 };
    const phases = phasesOf(view({ queueMs: 1, totalMs: 91, attempts: [streamed] }));
    expect(phases.slice(-2)).toEqual([
      { name: 'content', attempt: null, fromMs: 51, toMs: 71 },
      { name: 'transfer', attempt: null, fromMs: 71, toMs: 91 },
    ]);
    expect(longestGapOf({ attempts: [{ ...streamed, longestGapMs: 3 }, attempt, streamed] })).toBe(12);
    expect(longestGapOf({ attempts: [attempt] })).toBeNull();
  });

  it('has the pause before an attempt that was waited for, and none before one that runs beside another', () => {
    const first = attemptRecord({ startedAt: 1_000, totalMs: 5 });
    const later = { ...attempt, startedAt: 1_255, connectMs: null };
    const pauseOf = (cause: 'retry' | 'hedge') =>
      phasesOf(view({ queueMs: null, totalMs: 345, attempts: [first, { ...later, cause }] })).filter(
        ({ name }) => name === 'pause',
      );
    expect(pauseOf('retry')).toEqual([{ name: 'pause', attempt: 2, fromMs: 5, toMs: 255 }]);
    expect(pauseOf('hedge')).toEqual([]);
  });

  it('has only a wait for an attempt that was never answered', () => {
    const silent = { ...attempt, connectMs: null, firstByteMs: null, totalMs: 30 };
    expect(phasesOf(view({ attempts: [silent] }))).toEqual([{ name: 'wait', attempt: null, fromMs: 1, toMs: 31 }]);
  });

  it('tells the attempts apart where there was more than one', () => {
    const attempts = [attemptRecord({ startedAt: 1_000, totalMs: 5 }), { ...attempt, startedAt: 1_005 }];
    const names = phasesOf(view({ queueMs: null, totalMs: 95, attempts })).map((phase) => [phase.attempt, phase.name]);
    expect(names).toEqual([
      [1, 'wait'],
      [2, 'connect'],
      [2, 'wait'],
      [2, 'transfer'],
    ]);
  });

  it('leaves out what took less than half a millisecond', () => {
    const fast = { ...attempt, connectMs: 0.2, firstByteMs: 0.4, totalMs: 90 };
    const names = phasesOf(view({ queueMs: 0.1, totalMs: 91, attempts: [fast] })).map(({ name }) => name);
    expect(names).toEqual(['transfer']);
  });
});

describe('the API of an attempt', () => {
  it.each([
    ['https://api.openai.com/v1/chat/completions', 'OpenAI Chat Completions'],
    ['https://x.openai.azure.com/openai/responses?api-version=1', 'OpenAI Responses'],
    ['https://api.anthropic.com/v1/messages', 'Anthropic Messages'],
    ['https://x/models/claude:streamRawPredict', 'Anthropic Messages'],
    ['https://x/v1beta/models/g:streamGenerateContent?alt=sse', 'Gemini generateContent'],
    ['https://x/model/m/converse-stream', 'Bedrock Converse'],
    ['https://x/v1/embeddings', null],
  ])('of %s is %s', (url, api) => {
    expect(apiOfUrl(url)).toBe(api);
  });

  it('is drawn as a lane for each attempt, with its first content, its events and the gaps between them', () => {
    const first = attemptRecord({ startedAt: 1_000, totalMs: 5 });
    const second = { ...attempt, startedAt: 1_010, firstByteMs: 50, firstContentMs: 70, totalMs: 1_500 };
    const request = view({ queueMs: 2, totalMs: 1_510, attempts: [first, second] });
    const message = { headers: null, body: null, bytes: 0, gap: null };
    const exchange = (flow?: { stepMs: number; events: number[] }) => ({
      request: { method: 'POST', url: null, ...message },
      response: { status: 200, ...message, ...(flow && { flow }) },
    });
    const flow = { stepMs: 100, events: [4, 0, 0, 0, 0, 0, 2, 0, 1] };
    const capture = { ...exchange(), attempts: [exchange(), exchange(flow)] };
    const lanes = lanesOf(request, capture);
    expect(lanes.map(({ attempt, phases }) => [attempt, phases.map(({ name }) => name)])).toEqual([
      [null, ['queue']],
      [1, ['wait']],
      [2, ['connect', 'wait', 'content', 'transfer']],
    ]);
    expect(lanes[2]).toMatchObject({ firstContentMs: 80, flow: { stepMs: 100, gaps: [{ fromMs: 160, toMs: 660 }] } });
    expect(lanes[2]?.flow?.steps.map(({ fromMs }) => fromMs)).toEqual([60, 160, 260, 360, 460, 560, 660, 760, 860]);
    expect(lanes[1]).toMatchObject({ firstContentMs: null, flow: null });
    expect(lanesOf(view({ queueMs: 2, attempts: [attempt] }), null)).toMatchObject([{ attempt: null, flow: null }]);
  });
});
