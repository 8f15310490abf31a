import { startUpstream } from '../support/upstream.ts';
import { chunk } from './look-at-desktop.ts';

/** A provider whose stream begins with `Hel` and continues when the test says so. */
export async function startHeldStream() {
  let finish = () => {};
  const upstream = await startUpstream((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk('Hel'));
    finish = () => response.end(`${chunk('lo')}data: [DONE]\n\n`);
  });
  const providers = [{ id: 'main', baseUrl: upstream.baseUrl, models: ['gpt-x'] }];
  return { upstream, providers, finish: () => finish() };
}
