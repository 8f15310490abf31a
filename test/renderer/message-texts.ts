type Texts = Record<string, unknown>;

/** Every text by its path, as it reads where everything that is counted, named or measured is `count`. */
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

/** Texts tell from the count itself, or from the count as it is written, which of two forms they need. */
function say(text: Say, count: number, numberNames: ReadonlySet<string>): string {
  const valueFor = (name: string) => (numberNames.has(name) ? count : String(count));
  const fields = new Proxy(
    { join: () => String(count) },
    { get: (own, name) => (name === 'join' ? own.join : valueFor(String(name))) },
  );
  const values = parametersOf(text).map((name) => (isObject(name, text) ? fields : valueFor(name)));
  return String(text(...values));
}

/** Stands for a parameter that is taken apart where it is named. */
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

/** `unpriced` is handed on to a function that takes it apart. */
function isObject(name: string, text: Say): boolean {
  return name === takenApart || name === 'unpriced' || new RegExp(`\\b${name}\\.\\w`).test(String(text));
}

function walk(messages: Texts, prefix: string, visit: (path: string, text: unknown) => void): void {
  for (const [name, value] of Object.entries(messages)) {
    if (typeof value === 'object' && value !== null) walk(value as Texts, `${prefix}${name}.`, visit);
    else visit(prefix + name, value);
  }
}
