import { expect, test } from 'vitest';
import { report } from './report.ts';
import { Samples } from './samples.ts';

function samplesOf(figure: string, values: Readonly<Record<string, number[]>>): Samples {
  const samples = new Samples();
  samples.values[figure] = values;
  return samples;
}

test('only a gateway that was measured has a column', () => {
  const measured = { pipe: [20], sluice: [30], nginx: [10] };
  const [, , head] = report(samplesOf('upload.cpuMs', measured)).split('\n');
  expect(head).toBe('|  | pipe | nginx | sluice | sluice ÷ pipe | target |  |');
});

test('targets compare Sluice with the pipe, whatever else was measured', () => {
  const table = report(samplesOf('upload.cpuMs', { pipe: [20], nginx: [10], portkey: [90], sluice: [30] }));
  expect(table).toContain('| 20.0 | 10.0 | 90.0 | 30.0 | 1.50 | ≤ 1.4 × pipe | missed by 0.10 × |');
});

test('the first event of streams that open at once may be 12 ms later than the pipe’s', () => {
  const figure = 'paced.burstFirstMs';
  expect(report(samplesOf(figure, { pipe: [8], sluice: [20] }))).toContain('| ≤ pipe + 12 | met |');
  expect(report(samplesOf(figure, { pipe: [8], sluice: [21] }))).toContain('| ≤ pipe + 12 | missed by 1.00 |');
});
