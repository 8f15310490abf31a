/** Formats the output of `sluice faults judge`. */
import { judgeCases, noFault, type Result } from '../faults/judge-cases.ts';
import { followed, number, type Shown, styled } from './shown.ts';

/** How the program handled one fault. */
export interface Judgement {
  fault: string;
  rules: readonly string[];
  result: Result;
  exitCode: number;
  requests: number;
  /** Whether it received a whole answer. */
  answered: boolean;
  seconds: number;
}

/** The meaning of each result, as the beginning of a list of faults. */
const meanings: Readonly<Record<Exclude<Result, 'ok'>, string>> = {
  'gave up': 'Gave up, although another request would have been answered',
  'not noticed': 'Not noticed: ended with 0 without a whole answer',
  'too early': 'Too early: asked again before the wait that it was told',
  hung: 'Hung, and was killed',
};

const columns = ['fault', 'result', number('exit code'), number('requests'), number('seconds')];
const results = ['ok', ...Object.keys(meanings)];

/** Computed before the first run, so that each line can be printed as soon as its run has ended. */
const usual = [longest([noFault, ...judgeCases].map(({ name }) => name)), longest(results)];

export const judgeHead = (): Shown => followed(columns, [], { usual, hasHead: true });

export function judgeLine({ fault, result, exitCode, requests, seconds }: Judgement): Shown {
  const shownResult = styled(result === 'ok' ? 'good' : 'bad', result);
  const cells = [fault, shownResult, String(exitCode), String(requests), seconds.toFixed(1)];
  return followed(columns, [cells], { usual, hasHead: false });
}

function longest(texts: readonly string[]): string {
  return texts.reduce((best, each) => (each.length > best.length ? each : best), '');
}

/** How many faults the program handled, and what it did with the others. */
export function judgeSummary(judgements: readonly Judgement[]): string {
  const passed = judgements.filter(({ result }) => result === 'ok').length;
  const others = Object.entries(meanings).flatMap(([result, meaning]) => {
    const names = judgements.filter((each) => each.result === result).map(({ fault }) => fault);
    return names.length === 0 ? [] : [`${meaning}: ${names.join('; ')}.`];
  });
  return [`The program coped with ${passed} of ${judgements.length} faults.`, ...others].join('\n');
}
