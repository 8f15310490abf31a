import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { labelOf, logOf, messages, openDesktopsInSuite, startHeldStream } from './desktop-suite.ts';
import { type DesktopOptions, startMain } from './open-desktop.ts';

const open = openDesktopsInSuite();

/** The desktop waits for its stream, however long the test takes. */
const env = { DOUBLE_PATIENT: '1' };

describe('the end of the desktop', () => {
  /** A desktop with a stream that runs until the test ends it. */
  async function openWithStream(options: DesktopOptions = {}) {
    const { upstream, providers, finish } = await startHeldStream();
    const desktop = await open({ config: { providers }, env, ...options });
    const client = await desktop.client();
    const stream = await client.chat.completions.create({ model: 'gpt-x', messages, stream: true });
    const pieces = stream[Symbol.asyncIterator]();
    await pieces.next();
    const restOfStream = async () => {
      finish();
      for (let piece = await pieces.next(); !piece.done; piece = await pieces.next());
      await upstream.stop();
    };
    return { desktop, upstream, restOfStream };
  }

  it('ends only when a running stream has, and leaves nothing behind', async () => {
    const { upstream, providers, finish } = await startHeldStream();
    const desktop = await open({ config: { providers }, env, args: ['--hidden'] });
    const client = await desktop.client();
    const stream = await client.chat.completions.create({ model: 'gpt-x', messages, stream: true });
    let text = '';
    for await (const { choices } of stream) {
      text += choices[0]?.delta.content ?? '';
      if (text !== 'Hel') continue;
      await desktop.order('quit');
      expect(desktop.child.exitCode).toBeNull();
      finish();
    }
    expect(text).toBe('Hello');
    expect(await desktop.ended).toBe(0);
    expect(() => readFileSync(join(desktop.folder, 'data/instance.json'))).toThrow('ENOENT');
    expect(logOf(desktop).trim().split('\n').at(-1)).toContain('"msg":"stopped"');
    await upstream.stop();
  });

  it('does not delay a logout, which would cancel it', async () => {
    const { desktop, upstream } = await openWithStream({ args: ['--hidden'] });
    // A prevented quit would have answered the order.
    await expect(desktop.order('logOut')).rejects.toThrow('the desktop has ended');
    expect(await desktop.ended).toBe(0);
    await upstream.stop();
  });

  it('begins to end when Windows tells its window that the session does', async () => {
    const { desktop, restOfStream } = await openWithStream();
    await desktop.page();
    await desktop.order('endSession');
    await expect.poll(async () => labelOf(desktop, 'state')).toBe('Sluice stops when running requests have ended…');
    await restOfStream();
    expect(await desktop.ended).toBe(0);
  });

  it('starts again if a person starts it while it is ending', async () => {
    const { desktop, restOfStream } = await openWithStream({ args: ['--hidden'] });
    await desktop.order('quit');
    const second = startMain(desktop.folder, { args: ['sluice://preset#x'] });
    expect(await second.ended).toBe(0);
    await restOfStream();
    expect(await desktop.ended).toBe(0);
    const relaunch = JSON.parse(readFileSync(join(desktop.folder, 'data/desktop/double-relaunch'), 'utf8'));
    expect(relaunch.args.slice(1)).toEqual(['sluice://preset#x']);
  });
});
