/** Marks pieces of a text in its rendered Markdown. Pure. */

type Mark = 'ins' | 'del';

/** A piece of a text. All pieces, one after another, are the whole text. */
export interface MarkedPiece {
  text: string;
  /** Null if it is not marked. */
  mark: Mark | null;
}

/** A node of rehype's tree; `position` is where it stands in the Markdown. */
interface Node {
  type: string;
  tagName?: string;
  properties?: Record<string, never>;
  value?: string;
  children?: Node[];
  position?: { start: { offset?: number }; end: { offset?: number } };
}

/** A plugin of rehype. What has no text of its own once rendered, such as `**`, is not marked. */
export function markPieces(pieces: readonly MarkedPiece[]) {
  const source = pieces.map(({ text }) => text).join('');
  const marks = pieces.flatMap(({ text, mark }) => Array<Mark | null>(text.length).fill(mark));
  const walk = (parent: Node, around: string, from: number) => {
    if (!parent.children) return;
    parent.children = parent.children.flatMap((child) => {
      const [start, end] = [child.position?.start.offset, child.position?.end.offset];
      const hasPlace = start !== undefined && end !== undefined;
      const [own, ownFrom] = hasPlace ? ([source.slice(start, end), start] as const) : ([around, from] as const);
      if (child.type !== 'text') walk(child, own, ownFrom);
      // Blanks also stand where nothing but rows or items may.
      if (!child.value?.trim()) return [child];
      return markText(
        child.value,
        offsetsIn(own, child.value).map((offset) => marks[ownFrom + offset] ?? null),
      );
    });
  };
  return (tree: Node) => walk(tree, '', 0);
}

/**
 * Where each character of a rendered text stands in its Markdown, found from the end, where less can be mistaken for it
 * than among the names of languages, bullets and numbers before it.
 */
function offsetsIn(markdown: string, text: string): number[] {
  const offsets: number[] = [];
  let at = markdown.length;
  for (let index = text.length - 1; index >= 0; index--) {
    // The line break that ends a block of code may not be there.
    const isEnd = text[index] === '\n' && index === text.length - 1;
    const found = at > 0 && !isEnd ? markdown.lastIndexOf(text.charAt(index), at - 1) : -1;
    if (found !== -1) at = found;
    offsets.push(Math.min(at, markdown.length - 1));
  }
  return offsets.reverse();
}

function markText(text: string, marks: readonly (Mark | null)[]): Node[] {
  const nodes: Node[] = [];
  for (let start = 0; start < text.length; ) {
    const mark = marks[start] ?? null;
    let end = start + 1;
    while (end < text.length && (marks[end] ?? null) === mark) end++;
    const node: Node = { type: 'text', value: text.slice(start, end) };
    nodes.push(mark === null ? node : { type: 'element', tagName: mark, properties: {}, children: [node] });
    start = end;
  }
  return nodes;
}
