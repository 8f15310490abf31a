/** An upstream whose JSON no reader expects: its answer fails, and the gateway goes on. */
import { expect, test } from 'vitest';
import { mainProvider, startGateway } from '../../support/gateway.ts';
import { anthropicKey, sendStream, streamOf, text } from '../../support/strict-anthropic.ts';
import { eventStream, startUpstream } from '../../support/upstream.ts';

/** `String()` and `Number()` throw for the type. */
const odd =
  'event: content_block_start\ndata: {"type":"content_block_start","index":1,"content_block":{"type":{"toString":1,"valueOf":1}}}\n\n';

test('a member that is neither text nor number ends only its own answer', async () => {
  const upstream = await startUpstream();
  const gateway = await startGateway({
    config: {
      groups: [{ id: 'default', policy: { retries: 0, rescue: 'off' } }],
      providers: [mainProvider(upstream.origin, { dialect: 'anthropic', models: ['*'] })],
    },
    secrets: { 'provider/main/c1': anthropicKey },
  });
  const ask = () =>
    gateway.client.chat.completions.create({
      model: 'claude-opus-5-5',
      stream: true,
      messages: [{ role: 'user', content: 'Hi' }],
    });
  const whole = streamOf([text('Hello')]);
  const read = Promise.withResolvers<void>();
  upstream.answer(async (_request, response) => {
    eventStream(response);
    response.write(whole.slice(0, whole.indexOf('event: message_delta')));
    await read.promise;
    response.write(odd);
  });
  let told = '';
  const reading = async () => {
    for await (const { choices } of await ask()) {
      told += choices[0]?.delta.content ?? '';
      if (told === 'Hello') read.resolve();
    }
  };
  await expect(reading()).rejects.toMatchObject({ code: 'upstream_malformed' });
  upstream.answer((_request, response) => sendStream(response, whole));
  let next = '';
  for await (const { choices } of await ask()) next += choices[0]?.delta.content ?? '';
  expect([told, next]).toEqual(['Hello', 'Hello']);
  await gateway.stop();
  await upstream.stop();
});
