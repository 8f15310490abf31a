import { expect, it } from 'vitest';
import { fixOf } from '../../../../../renderer/views/providers/probe/probe-fix.ts';
import type { ProbeFinding, ProbeRemedy, ProbeStep } from '../../../../../server/contract/probe.ts';

function failedWith(remedy: ProbeRemedy, finding: ProbeFinding = { code: 'not-reached' }) {
  const step: ProbeStep = { name: 'base-url', status: 'failed', finding, remedy, message: '', advice: null };
  return { steps: [step], certificate: null };
}

it('a failed test offers the fix that it knows', () => {
  const baseUrl = 'http://127.0.0.1:1234/v1';
  expect(fixOf(failedWith({ code: 'set-base-url', baseUrl }))).toEqual({ kind: 'base-url', baseUrl });
  const refused = { code: 'credential-refused', status: 401, credential: 'c2' } as const;
  expect(fixOf(failedWith({ code: 'check-credential' }, refused))).toEqual({ kind: 'credential', credential: 'c2' });
  expect(fixOf(failedWith({ code: 'add-credential' }))).toEqual({ kind: 'credential', credential: null });
  expect(fixOf(failedWith({ code: 'try-later' }))).toBeNull();
  expect(fixOf({ steps: [], certificate: null })).toBeNull();
  const shown = { ...failedWith({ code: 'add-authority' }), certificate: { issuer: null, fingerprint: 'AB:CD' } };
  expect(fixOf(shown)).toEqual({ kind: 'certificate', fingerprint: 'AB:CD' });
});
