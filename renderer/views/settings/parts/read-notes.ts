/** A block of release notes. `key` is unique among the blocks. */
export type NotesBlock =
  | { key: number; type: 'heading' | 'paragraph'; text: string }
  | { key: number; type: 'list'; items: readonly NotesItem[] };

interface NotesItem {
  key: number;
  text: string;
}

const heading = /^#{1,6}\s+/;
const bullet = /^[-*]\s+/;

/** Parses the Markdown headings, lists and paragraphs that a changelog uses. Any other syntax is left as it is. */
export function readNotes(notes: string): NotesBlock[] {
  const blocks: NotesBlock[] = [];
  for (const [key, line] of joinLines(notes).entries()) {
    const last = blocks.at(-1);
    if (heading.test(line)) blocks.push({ key, type: 'heading', text: line.replace(heading, '') });
    else if (!bullet.test(line)) blocks.push({ key, type: 'paragraph', text: line });
    else {
      const item = { key, text: line.replace(bullet, '') };
      if (last?.type === 'list') blocks[blocks.length - 1] = { ...last, items: [...last.items, item] };
      else blocks.push({ key, type: 'list', items: [item] });
    }
  }
  return blocks;
}

/** Joins a line without a marker to the block that the previous line started. */
function joinLines(notes: string): string[] {
  const joined: string[] = [];
  let isBegun = false;
  for (const line of notes.split('\n').map((each) => each.trim())) {
    if (line === '') {
      isBegun = false;
      continue;
    }
    if (isBegun && !heading.test(line) && !bullet.test(line)) joined.push(`${joined.pop()} ${line}`);
    else joined.push(line);
    isBegun = !heading.test(line);
  }
  return joined;
}
