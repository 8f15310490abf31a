/** Formats the test of a provider for the terminal. */
import type { ProbeReport } from '../contract/probe.ts';

/** One line for each step, without skipped ones. */
export function describeTest({ provider, ok, steps, lacksResponses }: ProbeReport): string {
  const lines = steps
    .filter(({ status }) => status !== 'skipped')
    .map(({ name, status, message, advice }) =>
      [`  ${status === 'ok' ? 'ok    ' : 'FAILED'}  ${name}: ${message}`, advice].filter(Boolean).join('. '),
    );
  const hint = '  It has no Responses API: set "serves": ["chat"] to translate requests of that API.';
  const heading = `Provider "${provider}" ${ok ? 'answers' : 'does not work'}:`;
  return [heading, ...lines, ...(lacksResponses ? [hint] : [])].join('\n');
}
