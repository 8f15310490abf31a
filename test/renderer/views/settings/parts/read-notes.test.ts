import { expect, it } from 'vitest';
import { readNotes } from '../../../../../renderer/views/settings/parts/read-notes.ts';

/** Removes the keys, which only have to be distinct. */
function plain(notes: string) {
  return readNotes(notes).map((block) =>
    block.type === 'list' ? block.items.map(({ text }) => text) : `${block.type}: ${block.text}`,
  );
}

it('the notes of a release are read as headings, lists and paragraphs', () => {
  const notes =
    'A first\nrelease.\n\n### Added\n- One that\n  goes on.\n- Two.\n\n### Fixed\n\n* Three.\nIt is four lines.\n';
  expect(plain(notes)).toEqual([
    'paragraph: A first release.',
    'heading: Added',
    ['One that goes on.', 'Two.'],
    'heading: Fixed',
    ['Three. It is four lines.'],
  ]);
});

it('what else there is in them stays text', () => {
  expect(plain('<b>bold</b> and [a link](https://example.com)')).toEqual([
    'paragraph: <b>bold</b> and [a link](https://example.com)',
  ]);
  expect(plain('')).toEqual([]);
});

it('each part of them has a key of its own', () => {
  const keys = readNotes('- a\n- a\n\na\n\n- a').flatMap((block) => (block.type === 'list' ? block.items : [block]));
  expect(new Set(keys.map(({ key }) => key)).size).toBe(4);
});
