/** `window`: an address that signs in once, and the end of all sessions. */
import { expect, test } from 'vitest';
import { endProgramsAfterEach, runCli, runJson, type Serving, serve, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();

test('window prints an address that opens the window once, and says so if there is none', async () => {
  const folder = temporaryFolder();
  const refused = await runCli(['window', '--data-dir', folder]);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  const serving = await serve(folder);
  const { url } = (await runJson(['window', '--data-dir', folder])) as { url: string };
  expect(url).toMatch(new RegExp(`^${serving.ready.baseUrl.replace('/v1', '')}/control/session`));
  const visit = () => fetch(url, { redirect: 'manual' });
  expect((await visit()).headers.get('set-cookie')).toContain('HttpOnly');
  expect((await visit()).status).toBe(403);
});

test('window --sign-out-everywhere ends the sessions of browsers, whether Sluice runs or not', async () => {
  const folder = temporaryFolder();
  const serving = await serve(folder);
  const signIn = async (url: string) => (await fetch(url, { redirect: 'manual' })).headers.get('set-cookie') ?? '';
  const [cookie = ''] = (await signIn(serving.ready.windowUrl)).split(';');
  const isIn = async ({ ready }: Serving) => {
    const headers = { cookie, 'sec-fetch-site': 'same-origin' };
    const response = await fetch(`${ready.baseUrl.replace('/v1', '')}/control/events`, { headers });
    await response.body?.cancel();
    return response.status === 200;
  };
  expect(await isIn(serving)).toBe(true);
  await serving.end();
  const again = await serve(folder);
  expect(await isIn(again)).toBe(true);
  await again.end();
  const { stdout } = await runCli(['window', '--sign-out-everywhere', '--data-dir', folder]);
  expect(stdout).toBe('Signed out: 1 browser.\n');
  expect(await isIn(await serve(folder))).toBe(false);
  expect(await runJson(['window', '--sign-out-everywhere', '--data-dir', folder])).toEqual({ ended: 0 });
});
