/** Refusals by proxies and frameworks instead of the service: the next target is called. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as plays from '../../support/fault-plays.ts';
import { isWhole, type Play } from '../../support/fault-upstream.ts';
import { callNamed, type Pair, startPair } from './cells.ts';

let pair: Pair;
beforeAll(async () => {
  pair = await startPair({ retries: 2, fallbacks: 1 });
});
afterAll(() => pair.stop());

const page: Play = {
  name: '404 as a web page',
  act: ({ response }) => void response.writeHead(404, { 'content-type': 'text/html' }).end('<html>Not Found</html>'),
};
const redirect = (status: number): Play => ({
  name: `${status}, to elsewhere`,
  act: ({ response }) => void response.writeHead(status, { location: 'https://elsewhere.example/v1' }).end(),
});
const refusals: Play[] = [
  page,
  plays.status(404, { body: { detail: 'Not Found' }, name: '404 as FastAPI writes it' }),
  redirect(301),
  redirect(307),
];
const names = ['chat/completions', 'chat/completions (stream)', 'embeddings'];

test.each(refusals.flatMap((play) => names.map((name) => [play.name, name, play] as const)))(
  '%s to %s',
  async (_play, name, play) => {
    const { primary, fallback, gateway, ask } = pair;
    await gateway.gateway.execute({ type: 'provider.reset-health', id: 'primary' });
    primary.plays(play);
    primary.forget();
    fallback.forget();
    const call = callNamed(name);
    const received = await ask(call);
    expect(isWhole(call, received), `${received.status} ${received.body}`).toBe(true);
    expect([primary.seen.length, fallback.seen.length, received.provider]).toEqual([1, 1, 'fallback']);
  },
);
