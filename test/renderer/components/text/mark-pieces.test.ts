import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import Markdown from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { expect, test } from 'vitest';
import { markPieces } from '../../../../renderer/components/text/mark-pieces.ts';

/** What is between `[[` and `]]` is marked. */
function rendered(markdown: string): string {
  const pieces = markdown
    .split(/\[\[|\]\]/)
    .map((text, index) => ({ text, mark: index % 2 === 1 ? ('ins' as const) : null }));
  const text = pieces.map((piece) => piece.text).join('');
  const props = { remarkPlugins: [remarkGfm], rehypePlugins: [[markPieces, pieces] as never] };
  return renderToStaticMarkup(createElement(Markdown, props, text)).replaceAll('\n', '⏎');
}

test.each([
  ['words', 'It [[snows]] today.', '<p>It <ins>snows</ins> today.</p>'],
  ['what is emphasized', 'It **[[snows]]** today.', '<p>It <strong><ins>snows</ins></strong> today.</p>'],
  ['no syntax', 'It [[**]]snows[[**]] today.', '<p>It <strong>snows</strong> today.</p>'],
  [
    'across syntax',
    'It [[is **very** c]]old.',
    '<p>It <ins>is </ins><strong><ins>very</ins></strong><ins> c</ins>old.</p>',
  ],
  ['after escapes and entities', '2 \\* 3 &lt; [[7]] &amp; 9', '<p>2 * 3 &lt; <ins>7</ins> &amp; 9</p>'],
  ['code in a line', 'Use `a [[b]] a`.', '<p>Use <code>a <ins>b</ins> a</code>.</p>'],
  ['a block of code', '```js\njs [[1]]\n```', '<pre><code class="language-js">js <ins>1</ins>⏎</code></pre>'],
  ['an open block of code', '```js\njs\n[[js]]', '<pre><code class="language-js">js⏎<ins>js⏎</ins></code></pre>'],
  [
    'items, and no blanks between them',
    '[[- one\n- two]]',
    '<ul>⏎<li><ins>one</ins></li>⏎<li><ins>two</ins></li>⏎</ul>',
  ],
  ['a quotation', '> one\n> [[two]]', '<blockquote>⏎<p>one⏎<ins>two</ins></p>⏎</blockquote>'],
  ['links', '[one](https://a.test) [[two]]', '<p><a href="https://a.test">one</a> <ins>two</ins></p>'],
  ['cells', '|a|b|\n|-|-|\n|[[1]]|2|', /<td><ins>1<\/ins><\/td>⏎?<td>2<\/td>/],
])('marks %s', (_what, markdown, html) => {
  if (typeof html === 'string') expect(rendered(markdown)).toBe(html);
  else expect(rendered(markdown)).toMatch(html);
});
