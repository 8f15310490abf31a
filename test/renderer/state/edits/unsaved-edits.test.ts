import { expect, it } from 'vitest';
import { createUnsavedEdits } from '../../../../renderer/state/edits/unsaved-edits.ts';

it('acts at once where nothing was typed, and asks first where something was', () => {
  const edits = createUnsavedEdits();
  const done: string[] = [];
  let isDirty = false;
  const end = edits.watch(() => isDirty, null);
  edits.confirmThen(() => done.push('clean'));
  isDirty = true;
  edits.confirmThen(() => done.push('kept'));
  expect([edits.isAsking(), done]).toEqual([true, ['clean']]);
  edits.keep();
  edits.discard();
  expect([edits.isAsking(), done]).toEqual([false, ['clean']]);
  edits.confirmThen(() => done.push('discarded'));
  edits.discard();
  end();
  edits.confirmThen(() => done.push('gone'));
  expect(done).toEqual(['clean', 'discarded', 'gone']);
});

it('does not ask on closing a dialog about what was typed on the screen behind it', () => {
  const edits = createUnsavedEdits();
  const dialog = Symbol('dialog');
  edits.watch(() => true, null);
  expect([edits.has(), edits.has(dialog)]).toEqual([true, false]);
});
