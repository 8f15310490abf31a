type Texts = Record<string, unknown>;

/** All texts by path, with `count` for every number, name and measure in them. */
export function textsFor(count: number, messages: Texts): Map<string, string> {
  const numberNames = new Set<string>();
  walk(messages, '', (_path, text) => {
    for (const [, name] of String(text).matchAll(/(\w+) === [01]\b/g)) if (name) numberNames.add(name);
  });
  const texts = new Map<string, string>();
  walk(messages, '', (path, text) => {
    texts.set(path, typeof text === 'function' ? say(text as Say, count, numberNames) : String(text));
  });
  return texts;
}

type Say = (...values: unknown[]) => unknown;

/** A text chooses between singular and plural by the count itself or by the formatted count. */
function say(text: Say, count: number, numberNames: ReadonlySet<string>): string {
  const valueFor = (name: string) => (numberNames.has(name) ? count : String(count));
  const fields: object = new Proxy({}, { get: (_, name) => fieldOf(String(name)) });
  const fieldOf = (name: string): unknown => {
    if (name === 'join') return () => String(count);
    return name === 'map' ? (sayEach: (each: object) => unknown) => [sayEach(fields)] : valueFor(name);
  };
  const values = parametersOf(text).map((name) => (isObject(name, text) ? fields : valueFor(name)));
  return String(text(...values));
}

/** Stands for a parameter that is destructured in the parameter list. */
const takenApart = '{}';

function parametersOf(text: Say): string[] {
  const source = String(text);
  const list = source
    .slice(0, source.indexOf('=>'))
    .trim()
    .replace(/^\(|\)$/g, '');
  const names = list.replace(/\{[^}]*\}/g, takenApart).split(',');
  return names.map((name) => name.trim()).filter((name) => name !== '');
}

/** These are passed to a function that destructures them, or each of them. */
const takenApartLater = new Set(['unpriced', 'settings', 'stronger']);

function isObject(name: string, text: Say): boolean {
  return name === takenApart || takenApartLater.has(name) || new RegExp(`\\b${name}\\.\\w`).test(String(text));
}

function walk(messages: Texts, prefix: string, visit: (path: string, text: unknown) => void): void {
  for (const [name, value] of Object.entries(messages)) {
    if (typeof value === 'object' && value !== null) walk(value as Texts, `${prefix}${name}.`, visit);
    else visit(prefix + name, value);
  }
}
