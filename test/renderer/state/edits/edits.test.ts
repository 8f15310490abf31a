import { describe, expect, it } from 'vitest';
import { rebaseEdits, settleEdits, startEdits } from '../../../../renderer/state/edits/edits.ts';

interface Optional {
  name: string;
  limit?: number;
}

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

  it('stays if it is in a field that had no value, whatever else changes', () => {
    const withLimit: Optional = { name: 'one', limit: 5 };
    const typed = { ...startEdits<Optional>({ name: 'one' }), draft: withLimit };
    expect(rebaseEdits(typed, { name: 'theirs' })).toEqual({
      base: { name: 'theirs' },
      draft: { name: 'theirs', limit: 5 },
      hasConflict: false,
    });
  });

  it('is not overtaken by the same change, such as its own once it is saved', () => {
    expect(rebaseEdits(edited, { ...base, name: 'mine' }).hasConflict).toBe(false);
  });
});

describe('what is typed while a save is in flight', () => {
  const saved = { ...base, name: 'mine' };
  const typedOn = { ...edited, draft: { ...saved, name: 'mine too' } };
  const kept = { base: saved, draft: { ...saved, name: 'mine too' }, hasConflict: false };

  it('stays, unsaved, if the save is reported before its answer', () => {
    expect(settleEdits(rebaseEdits(typedOn, saved), edited)).toEqual(kept);
  });

  it('stays, unsaved, if the save is reported after its answer', () => {
    const settled = settleEdits(typedOn, edited);
    expect(settled).toEqual(kept);
    expect(rebaseEdits(settled, saved)).toEqual(kept);
  });

  it('is nothing if only a field without a value was set, which the engine may write differently', () => {
    const before = startEdits<Optional>({ name: 'one' });
    const sent = { ...before, draft: { name: 'one', limit: 5 } };
    const inForce = { name: 'one', limit: 5.0001 };
    expect(settleEdits(sent, sent)).toEqual(startEdits(sent.draft));
    expect(rebaseEdits(settleEdits(sent, sent), inForce)).toEqual(startEdits(inForce));
    expect(settleEdits(rebaseEdits(sent, inForce), sent)).toEqual(startEdits(inForce));
  });

  it('is nothing if nothing was typed: the form then follows the engine, which may write the value differently', () => {
    const inForce = { ...base, name: 'Mine' };
    expect(settleEdits(rebaseEdits(edited, inForce), edited)).toEqual(startEdits(inForce));
    expect(rebaseEdits(settleEdits(edited, edited), inForce)).toEqual(startEdits(inForce));
  });
});
