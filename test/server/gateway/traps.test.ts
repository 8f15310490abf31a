/** Defects of other gateways, each with a public report: `owner/repository#number`. */
import { expect, test } from 'vitest';
import { mainProvider, startGateway } from '../../support/gateway.ts';
import { startUpstream } from '../../support/upstream.ts';

test('Trap 56: a built-in model of Cursor, all of which its base URL sends here, is refused by its name at once (deepseek-lane#6)', async () => {
  const upstream = await startUpstream();
  const gateway = await startGateway({
    config: { groups: [{ id: 'default' }], providers: [mainProvider(upstream.baseUrl, { models: ['deepseek-v4'] })] },
  });
  const failing = gateway.client.chat.completions.create({
    model: 'cursor-small',
    messages: [{ role: 'user', content: 'Hi' }],
  });
  await expect(failing).rejects.toMatchObject({ status: 404, code: 'model_not_found', message: /cursor-small/ });
  expect(upstream.seen).toEqual([]);
  await gateway.stop();
  await upstream.stop();
});
