import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../support/program.ts';
import { type DesktopOptions, type OpenedDesktop, openDesktop } from './open-desktop.ts';

let opened: OpenedDesktop | undefined;

beforeAll(ensureBuilt, 120_000);
afterEach(async () => {
  await opened?.close();
  opened = undefined;
});

async function open(options: DesktopOptions = {}): Promise<OpenedDesktop> {
  opened = await openDesktop(options);
  return opened;
}

describe('the desktop', () => {
  it('serves, and shows its window through its own scheme and IPC', async () => {
    const desktop = await open();
    const client = await desktop.client();
    expect((await client.models.list()).data.map(({ id }) => id)).toContain('demo-chat');
    const page = await desktop.page();
    await page.getByRole('status').getByText('Serving').waitFor();
    expect((await desktop.state()).windows).toMatchObject([{ url: 'sluice-window://app/', isShown: true }]);
    expect(desktop.complaints).toEqual([]);
  });
});
