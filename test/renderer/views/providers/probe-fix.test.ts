import { expect, it } from 'vitest';
import { fixOf } from '../../../../renderer/views/providers/probe-fix.ts';
import type { ProbeRemedy, ProbeStep } from '../../../../server/contract/probe.ts';

function failedWith(remedy: ProbeRemedy): { steps: ProbeStep[] } {
  const step: ProbeStep = {
    ...{ name: 'base-url', status: 'failed', finding: { code: 'not-reached' }, remedy, message: '', advice: null },
  };
  return { steps: [step] };
}

it('a failed test offers the fix that it knows', () => {
  const baseUrl = 'http://127.0.0.1:1234/v1';
  expect(fixOf(failedWith({ code: 'set-base-url', baseUrl }))).toEqual({ kind: 'base-url', baseUrl });
  expect(fixOf(failedWith({ code: 'check-credential' }))).toEqual({ kind: 'credential', isNew: false });
  expect(fixOf(failedWith({ code: 'add-credential' }))).toEqual({ kind: 'credential', isNew: true });
  expect(fixOf(failedWith({ code: 'try-later' }))).toBeNull();
  expect(fixOf({ steps: [] })).toBeNull();
});
