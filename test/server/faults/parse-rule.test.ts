import { describe, expect, test } from 'vitest';
import { faultProfileNames } from '../../../server/contract/faults.ts';
import { faultNames, faultSchemas } from '../../../server/faults/fault-kinds.ts';
import { faultProfiles } from '../../../server/faults/fault-profiles.ts';
import { findUnmetRule, parseFault, parseRule } from '../../../server/faults/parse-rule.ts';

test('a rule has a fault, its parameters and its conditions', () => {
  expect(parseRule('stall; after=40 ;share=0.25;model=gpt-*;route=/chat/completions')).toEqual({
    fault: { name: 'stall', after: 40, seconds: 600 },
    when: { share: 0.25, model: 'gpt-*', route: '/chat/completions' },
  });
  expect(parseRule('quota')).toEqual({ fault: { name: 'quota' }, when: {} });
});

test('every fault but two can be named without parameters', () => {
  const fixed: Record<string, string> = { status: 'status;code=500', pace: 'pace;events-per-second=5' };
  for (const name of faultNames) expect(parseFault(fixed[name] ?? name)).toMatchObject({ name });
  expect(faultNames.sort()).toEqual(Object.keys(faultSchemas).sort());
});

test('the rules of every built-in profile can be read and met', () => {
  for (const name of faultProfileNames) expect(findUnmetRule(faultProfiles[name].rules.map(parseRule))).toBeNull();
});

describe('a wrong rule is refused with the name of what is wrong in it', () => {
  test.each([
    ['stal', 'There is no fault "stal".'],
    ['', 'There is no fault "".'],
    ['__proto__', 'There is no fault "__proto__".'],
    ['stall;after=-1', '"after" of "stall"'],
    ['stall;after=many', '"after" of "stall"'],
    ['stall;after=', '"after=" of "stall" is no parameter'],
    ['late-head,stall', 'A rule has one fault'],
    ['stall;40', '"40" of "stall" is no parameter'],
    ['stall;later=4', '"stall" has no "later"'],
    ['stall;after=4;after=5', '"after" of "stall" is given twice'],
    ['stall;after=4;bytes=5', 'after or bytes'],
    ['status', '"code" of "status"'],
    ['status;code=418', '"code" of "status"'],
    ['pace', 'tokens-per-second or events-per-second'],
    ['cut;inside=word', '"inside" of "cut"'],
    ['reset;share=2', '"share" of "reset"'],
    ['reset;nth=0', '"nth" of "reset"'],
    [`stall;model=${'x'.repeat(300)}`, 'at most 300 characters'],
  ])('%s', (text, told) => {
    expect(() => parseRule(text)).toThrow(told);
  });

  test('and so is a condition where one request asks for a fault', () => {
    expect(() => parseFault('stall;every=2')).toThrow('"every" belongs to rules');
  });
});
