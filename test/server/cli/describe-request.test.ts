import { expect, test } from 'vitest';
import { describeRequest } from '../../../server/cli/describe-request.ts';
import { renderShown } from '../../../server/cli/shown.ts';
import { plainLook } from '../../../server/cli/terminal.ts';
import type { RequestView } from '../../../server/contract/request-views.ts';
import { finishedRow } from '../store/sqlite/records.ts';

const described = (request: RequestView) => renderShown(describeRequest(request), plainLook);

test('one request is told with its attempts, and what its translation lost in plain words', () => {
  const row = finishedRow('req_1', {
    dropped: [{ code: 'no-equal', field: 'top_k', times: 1 }],
    emulated: [{ code: 'moved-media', field: 'messages[].content[]', times: 3 }],
  });
  const text = described({ ...row, seq: 1 });
  expect(text).toMatch(/^model: +fast -> gpt-x$/m);
  expect(text).toMatch(/^first +main +gpt-x +200 +20$/m);
  expect(text).toContain("Dropped by the translation:\n  top_k: the provider's API has no equivalent");
  expect(text).toContain('  messages[].content[] (3 times): media of a tool result, moved into a message');
});

test('one request is told with its speed, its cached tokens, and what was asked where that was captured', () => {
  const row = finishedRow('req_1', {
    firstByteMs: 180,
    totalMs: 1_180,
    usage: { inputTokens: 8_000, outputTokens: 142, cachedInputTokens: 5_600, reasoningTokens: 20 },
  });
  const text = renderShown(
    describeRequest({ ...row, seq: 1 }, { asked: 'Find the bug', answered: 'In line 7.' }),
    plainLook,
  );
  expect(text).toMatch(
    /^usage: +8000 \+ 142 tokens, 5600 of the input from a cache, 20 of the output for reasoning, \$/m,
  );
  expect(text).toMatch(/^speed: +first byte after 180 ms, then 142 tokens\/s$/m);
  expect(text).toMatch(/^asked: +Find the bug$/m);
  expect(text).toMatch(/^answered: +In line 7\.$/m);
});

test('a request without losses says nothing of a translation', () => {
  expect(described({ ...finishedRow('req_1'), seq: 1 })).not.toMatch(/translation|another way/);
});

test('a request that was charged as reserved says why', () => {
  const row = finishedRow('req_1', {
    usageCertainty: 'reserved',
    usage: { inputTokens: 20, outputTokens: 6_000 },
    costUsd: 6.02,
  });
  expect(described({ ...row, seq: 1 })).toMatch(
    /^usage: +20 \+ 6000 tokens, \$6\.020000, as reserved: the provider did not report it, and a hard budget applies$/m,
  );
});
