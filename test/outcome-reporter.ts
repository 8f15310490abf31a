import { writeFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** The summary of a test run, which `npm test` repeats at the very end of its output. */
export interface TestOutcome {
  passed: number;
  failed: number;
  /** Each failed test, file that does not load, or error outside of both, with the beginning of its message. */
  failures: string[];
  /** Tests that passed on the second attempt, with the reason for the first failure. */
  retried: string[];
}

/** The environment variable with the path of the output file. */
export const outcomeVariable = 'SLUICE_TEST_OUTCOME';

export default class OutcomeReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly { message?: string; stack?: string }[]): void {
    const file = process.env[outcomeVariable];
    if (!file) throw new Error(`${outcomeVariable} does not say where the outcome is to be written.`);
    const cases = modules.flatMap((each) => [...each.children.allTests()]);
    const failed = cases.filter((each) => each.result().state === 'failed');
    const brokenModules = modules.flatMap((each) => each.errors().map((error) => told(each.relativeModuleId, [error])));
    const unhandled = unhandledErrors.map((error) => told('outside of all tests', [error]));
    const outcome: TestOutcome = {
      passed: cases.filter((each) => each.result().state === 'passed').length,
      failed: failed.length + brokenModules.length + unhandled.length,
      failures: [...failed.map(toldCase), ...brokenModules, ...unhandled],
      retried: cases.filter((each) => each.diagnostic()?.flaky).map(toldCase),
    };
    writeFileSync(file, JSON.stringify(outcome));
  }
}

function toldCase(test: TestCase): string {
  return told(`${test.module.relativeModuleId} > ${test.fullName}`, test.result().errors ?? []);
}

const toldLines = 4;
/** The helper that failed, and the line of the test that called it. */
const toldPlaces = 2;

function told(where: string, errors: readonly { message?: string; stack?: string }[]): string {
  const reasons = errors.map(({ message = '', stack = '' }) => {
    const places = stack.split('\n').filter((line) => line.includes('/test/'));
    const said = message.split('\n').slice(0, toldLines);
    return [...said, ...places.slice(0, toldPlaces).map((each) => each.trim())].join('\n    ');
  });
  return [where, ...reasons].join('\n    ');
}
