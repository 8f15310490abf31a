import { expect, test } from 'vitest';
import { runWithModule } from './run-with-module.ts';

/** Optimises a function that calls twenty others, of about 200 bytes of bytecode each. */
const optimize = `
const numbers = Array.from({ length: 20 }, (_, index) => index);
const body = numbers.map((n) => 'x = (x * ' + (n + 3) + ' + ' + n + ') | 0;').join('');
const calls = numbers.map((n) => 'x = f' + n + '(x);').join('');
const functions = numbers.map((n) => 'function f' + n + '(x) { ' + body + ' return x; }').join('');
const all = (0, eval)(functions + ' function all(x) { ' + calls + ' return x; } all');
%PrepareFunctionForOptimization(all);
for (let n = 0; n < 2000; n++) all(n);
%OptimizeFunctionOnNextCall(all);
all(1);`;

async function countInlined(before: string): Promise<number> {
  const options = ['--allow-natives-syntax', '--trace-turbo-inlining'];
  const printed = await runWithModule('v8-settings.ts', `${before} ${optimize}`, options);
  return printed.match(/Inlining .*SharedFunctionInfo f\d/g)?.length ?? 0;
}

test('V8 inlines at least twice as much', async () => {
  const byDefault = await countInlined('');
  expect(byDefault).toBeGreaterThan(0);
  expect(await countInlined('exported.raiseInliningLimit();')).toBeGreaterThanOrEqual(2 * byDefault);
});
