import { afterEach, beforeEach, expect, it, vi } from 'vitest';

const frameMs = 16;
const second = 1_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  vi.stubGlobal('requestAnimationFrame', (draw: (now: number) => void) =>
    setTimeout(() => draw(performance.now()), frameMs),
  );
  vi.resetModules();
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

it('a change after a quiet time is drawn with the next frame', async () => {
  const { onNextFrame } = await import('../../../../renderer/state/control/control-store.ts');
  let isDrawn = false;
  onNextFrame(() => {
    isDrawn = true;
  });
  vi.advanceTimersByTime(frameMs);
  expect(isDrawn).toBe(true);
});

it('a flood of changes is drawn some times a second, and its last one too', async () => {
  const { onNextFrame } = await import('../../../../renderer/state/control/control-store.ts');
  let drawn = 0;
  const drawAgain = () => {
    drawn += 1;
    onNextFrame(drawAgain);
  };
  onNextFrame(drawAgain);
  vi.advanceTimersByTime(second);
  expect(drawn).toBeGreaterThan(4);
  expect(drawn).toBeLessThan(9);
});
