/** fast-check arbitraries for JSON text: unusual spacing, escapes, repeated keys, all forms of numbers. */
import fc from 'fast-check';

type Tree = string | { raw: string } | { list: Tree[] } | { members: [string, Tree][] };

const numbers = ['0', '-0', '7', '-12.50', '1e5', '1E+400', '12345678901234567890', '0.1e-7', '-9007199254740993'];
const raws = [...numbers, 'true', 'false', 'null'].map((raw) => ({ raw }));
const awkward = [
  '"',
  '\\',
  '\\"',
  '","model":"x"',
  '}{][',
  'é',
  '漢字',
  '😀',
  '\u2028',
  '\n\t',
  'a/b',
  'x'.repeat(40),
  '\\'.repeat(33),
];
const text = fc.oneof(
  fc.constantFrom(...awkward),
  fc.string({ maxLength: 8 }),
  fc.array(fc.constantFrom(...awkward), { maxLength: 3 }).map((parts) => parts.join('')),
);

/** The names that the tests look for, and a near miss of each kind. */
export const wanted = ['model', 'stream', 'stream_options', '__proto__'];
const commonKeys = [...wanted, 'mode', 'models', 'Model', '', 'include_usage'];

/**
 * Keys contain no backslash (values do), because V8 13.6 parses `"\\n"` as a key named `\` once it has seen one in that
 * place, so JSON.parse could not be used for comparison. After `JSON.parse('{"x":1,"\\\\":1}')`, the result for
 * `{"x":1,"\\n":1}` is wrong.
 */
const rareKey = text.map((value) => value.replaceAll('\\', '/'));
const key = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...commonKeys) }, { weight: 1, arbitrary: rareKey });

const { members } = fc.letrec<{ members: Tree; value: Tree }>((tie) => ({
  members: fc.array(fc.tuple(key, tie('value')), { maxLength: 5 }).map((list) => ({ members: list })),
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.oneof(text, fc.constantFrom(...raws)),
    tie('members'),
    fc.array(tie('value'), { maxLength: 3 }).map((list) => ({ list })),
  ),
}));

/** Any JSON object in any notation that the grammar allows. */
export const jsonObjectText = fc.tuple(members, fc.nat()).map(([tree, seed]) => write(tree, pseudoRandom(seed)));

/** A small generator for the notation: one number per case instead of an arbitrary per character. */
function pseudoRandom(seed: number): (bound: number) => number {
  let state = seed | 1;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 8) % bound;
  };
}

function write(tree: Tree, random: (bound: number) => number): string {
  const space = () => ['', '', '', '', ' ', '\n', '\r\n\t', '  '][random(8)] ?? '';
  const around = (inner: string) => `${space()}${inner}${space()}`;
  const quoted = (value: string) => `"${[...value].map((character) => spell(character, random)).join('')}"`;
  const visit = (node: Tree): string => {
    if (typeof node === 'string') return around(quoted(node));
    if ('raw' in node) return around(node.raw);
    if ('list' in node) return around(`[${node.list.map(visit).join(',') || space()}]`);
    return around(
      `{${node.members.map(([name, value]) => `${around(quoted(name))}:${visit(value)}`).join(',') || space()}}`,
    );
  };
  return visit(tree);
}

/** One character of a string: plain if that is allowed, or as an escape. */
function spell(character: string, random: (bound: number) => number): string {
  const plain = JSON.stringify(character).slice(1, -1);
  if (random(6) > 0) return plain;
  return [...Array(character.length).keys()]
    .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
    .join('');
}
