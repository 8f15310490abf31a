import { describe, expect, it } from 'vitest';
import { rebaseEdits, startEdits } from '../../../renderer/state/edits.ts';

const base = { name: 'one', models: ['a'], capture: false };
const edited = { ...startEdits(base), draft: { ...base, name: 'mine' } };

describe('what is typed over what is in force', () => {
  it('follows what is in force while nothing is typed', () => {
    const inForce = { ...base, name: 'two' };
    expect(rebaseEdits(startEdits(base), inForce)).toEqual(startEdits(inForce));
  });

  it('stays, and the rest follows', () => {
    expect(rebaseEdits(edited, { ...base, models: ['a', 'b'] })).toEqual({
      base: { ...base, models: ['a', 'b'] },
      draft: { name: 'mine', models: ['a', 'b'], capture: false },
      hasConflict: false,
    });
  });

  it('is overtaken where the same was changed elsewhere, until the person has said which is to hold', () => {
    const overtaken = rebaseEdits(edited, { ...base, name: 'theirs' });
    expect(overtaken).toMatchObject({ draft: { name: 'mine' }, hasConflict: true });
    expect(rebaseEdits(overtaken, { ...base, name: 'theirs', capture: true })).toMatchObject({
      draft: { name: 'mine', capture: true },
      hasConflict: true,
    });
  });

  it('is not overtaken by the same change, such as its own once it is saved', () => {
    expect(rebaseEdits(edited, { ...base, name: 'mine' }).hasConflict).toBe(false);
  });
});
