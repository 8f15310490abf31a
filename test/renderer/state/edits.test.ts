import { describe, expect, it } from 'vitest';
import { beginEdits, followEdits } from '../../../renderer/state/edits.ts';

const base = { name: 'one', models: ['a'], capture: false };
const edited = { ...beginEdits(base), draft: { ...base, name: 'mine' } };

describe('what is typed over what is in force', () => {
  it('follows what is in force while nothing is typed', () => {
    const inForce = { ...base, name: 'two' };
    expect(followEdits(beginEdits(base), inForce)).toEqual(beginEdits(inForce));
  });

  it('stays, and the rest follows', () => {
    expect(followEdits(edited, { ...base, models: ['a', 'b'] })).toEqual({
      base: { ...base, models: ['a', 'b'] },
      draft: { name: 'mine', models: ['a', 'b'], capture: false },
      isOvertaken: false,
    });
  });

  it('is overtaken where the same was changed elsewhere, until the person has said which is to hold', () => {
    const overtaken = followEdits(edited, { ...base, name: 'theirs' });
    expect(overtaken).toMatchObject({ draft: { name: 'mine' }, isOvertaken: true });
    expect(followEdits(overtaken, { ...base, name: 'theirs', capture: true })).toMatchObject({
      draft: { name: 'mine', capture: true },
      isOvertaken: true,
    });
  });

  it('is not overtaken by the same change, such as its own once it is saved', () => {
    expect(followEdits(edited, { ...base, name: 'mine' }).isOvertaken).toBe(false);
  });
});
