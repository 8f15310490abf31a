/** Formats the result of a provider test for the terminal. */
import type { ProbeReport } from '../contract/probe.ts';
import { line, type Shown, styled, verdict } from './shown.ts';

/**
 * One line per step. Skipped steps are omitted, except the model call of a successful test, which shows that no model
 * was called.
 */
export function describeTest(report: ProbeReport): Shown {
  const lines = report.steps
    .filter(({ name, status }) => status !== 'skipped' || (name === 'call' && report.ok))
    .map(({ status, name, message, advice }) =>
      line('  ', marks[status], `  ${[`${name}: ${message}`, advice].filter(Boolean).join('. ')}`),
    );
  const quoted = report.said === null ? [] : [`  It said: ${report.said}`];
  const hint = '  It has no Responses API: set "serves": ["chat"] to translate requests of that API.';
  return [headingOf(report), ...lines, ...quoted, ...(report.lacksResponses ? [hint] : [])];
}

const marks = { ok: verdict(true), failed: verdict(false), skipped: styled('off', 'not   ') };

function headingOf({ provider, ok, call, modelCount }: ProbeReport): string {
  if (!ok) return `Provider "${provider}" does not work:`;
  if (call) return `Provider "${provider}" answered in ${call.elapsedMs} ms with ${call.model}:`;
  return modelCount === null
    ? `Provider "${provider}" can be reached, but no model was called:`
    : `Provider "${provider}" lists ${modelCount} ${modelCount === 1 ? 'model' : 'models'}, but none was called:`;
}
