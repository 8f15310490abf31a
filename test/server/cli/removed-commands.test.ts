/** Commands of earlier versions. */
import { expect, test } from 'vitest';
import { removedFeatures } from '../../../server/contract/removed-features.ts';
import { endProgramsAfterEach, runVerb } from './run-cli.ts';

endProgramsAfterEach();

const commands = removedFeatures.flatMap(({ name, instead, words = [] }) =>
  words.map((line) => ({ line, answer: `sluice: Sluice has no ${name} any more: ${instead}.\n` })),
);

test.each(commands)('"sluice $line" is answered with what to use instead', async ({ line, answer }) => {
  expect(await runVerb(line.split(' '))).toEqual({ code: 2, stdout: '', stderr: answer });
});
