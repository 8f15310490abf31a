import type { IncomingMessage } from 'node:http';
import { expect, test, vi } from 'vitest';
import { Registry, servedApis } from '../../../server/apis/registry.ts';
import type { RequestRecord } from '../../../server/contract/ledger.ts';
import { RequestTrace } from '../../../server/exchange/record/exchange-trace.ts';
import { ShadowRequest } from '../../../server/exchange/shadow/shadow-request.ts';
import { emptyBody } from '../../../server/http/body/incoming-body.ts';

type Options = ConstructorParameters<typeof ShadowRequest>;

test('the body of a shadow that cannot be recorded is freed, and the error reported', async () => {
  const registry = new Registry(servedApis);
  const match = registry.find('POST', registry.locate('/v1/chat/completions', {}));
  const fault = new Error('no ledger');
  const [dispose, reportError] = [vi.fn(), vi.fn()];
  const ports = {
    limiter: { admitAtOnce() {}, finished() {} },
    readBody: () => ({ ...emptyBody, dispose }),
    started() {},
    finished() {
      throw fault;
    },
    reportError,
  };
  const prepared = {
    request: { method: 'POST', headers: {} } as IncomingMessage,
    trace: new RequestTrace('POST', []),
    group: { id: 'default' },
    shadow: { limited: {} },
    settings: { capture: { maxBytes: 0 } },
    call: { match, body: emptyBody },
    plan: { model: 'm', targets: [], credentialId: null },
    bytes: Buffer.from('{}'),
    reserved: { usage: { inputTokens: 0, outputTokens: 0 }, costUsd: 0 },
  };
  // Only what the constructor, and a shadow that is stopped before it is sent, use.
  const shadow = new ShadowRequest(ports as unknown as Options[0], prepared as unknown as Options[1]);
  shadow.begin({ id: 'original' } as RequestRecord, null);
  shadow.stop();
  await shadow.ended;
  expect(reportError.mock.calls).toEqual([[fault]]);
  expect(dispose).toHaveBeenCalledOnce();
});
